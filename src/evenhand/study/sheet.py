"""What stands where in a study file? Values of the right kind, or an error that names the line."""

from __future__ import annotations

import difflib
import tomllib
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

from evenhand.study.toml_lines import find_line, find_lines, syntax_line
from evenhand.core.errors import EvenhandWarning, InputError
from evenhand.core.files import read_text

TELLING = (
    "gender",
    "bias",
    "sexis",
    "stereotyp",
    "性别",
    "偏见",
    "刻板",
    "性別",
    "偏り",
    "偏見",
    "ステレオタイプ",
)
MOST = 1_000_000
Where = tuple[str | int, ...]
Default = TypeVar("Default", str, int, None)


class Sheet:
    """A study file while it is read: its values, and the line of each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = read_text(path)
        self.lines = find_lines(text)
        try:
            self.data: dict[str, Any] = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = syntax_line(str(error)) or len(
                text.rstrip().split("\n")
            )  # "at end of document" names no line
            raise InputError(path, f"not TOML: {error}", row=line) from error

    def refuse(self, where: Where, reason: str) -> NoReturn:
        """An error that names the line."""
        raise InputError(self.path, reason, row=find_line(self.lines, where))

    def check_keys(self, table: Mapping[str, Any], known: Sequence[str], where: Where = ()) -> None:
        """No key that means nothing here."""
        for key in table:
            if key not in known:
                close = difflib.get_close_matches(key.lower(), known, n=2, cutoff=0.5)
                self.refuse(
                    (*where, key),
                    f"unknown key '{key}'. "
                    + (
                        f"Did you mean {' or '.join(close)}?"
                        if close
                        else f"Known: {', '.join(known)}."
                    ),
                )

    def get(self, where: Where, kind: type | tuple[type, ...], what: str, default: Any) -> Any:
        """A value of a kind; true is no number."""
        table: Any = self.data
        for step in where[:-1]:
            table = table[step]
        value = table.get(where[-1], default)
        if value is default:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            self.refuse(where, f"{where[-1]} is {value!r}, which is not {what}")
        return value

    def text(self, where: Where, default: Default) -> str | Default:
        """A text that is not empty."""
        value = self.get(where, str, "a text; write it in quotation marks", default)
        if isinstance(value, str) and not value.strip():
            self.refuse(where, f"{where[-1]} is empty; give a text or leave the line out")
        return cast("str | Default", value)

    def whole(self, where: Where, default: Default, low: int, high: int = MOST) -> int | Default:
        """A whole number in a range."""
        value = self.get(where, int, f"a whole number; give one from {low} to {high}", default)
        if value is not default and not low <= value <= high:
            self.refuse(where, f"{where[-1]} is {value}; give a whole number from {low} to {high}")
        return cast("int | Default", value)

    def share(self, key: str, default: float) -> float:
        """A number from 0 to 1."""
        value = self.get((key,), (int, float), "a number from 0 to 1", default)
        if not 0 <= value <= 1:
            self.refuse((key,), f"{key} is {value}; it is a share, from 0 to 1 (80 % is 0.8)")
        return float(value)

    def names(
        self, where: Where, default: Sequence[str], known: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """A list of different names, of known ones where they are known."""
        value = self.get(where, list, 'a list such as ["a", "b"]', list(default))
        for name in value:
            if not isinstance(name, str):
                self.refuse(
                    where, f"{name!r} in {where[-1]} is no text; write it in quotation marks"
                )
            if known is not None and name not in known:
                self.refuse(where, f"'{name}' in {where[-1]} is unknown; known: {', '.join(known)}")
            if value.count(name) > 1:
                self.refuse(where, f"'{name}' stands twice in {where[-1]}; once is enough")
        if known is not None and not value:
            self.refuse(where, f"{where[-1]} is empty; give at least one of {', '.join(known)}")
        return tuple(value)

    def file(self, where: Where) -> Path | None:
        """A path, beside the study file unless it is absolute."""
        told = self.text(where, None)
        return None if told is None else (self.path.parent / Path(told).expanduser()).absolute()

    def texts(
        self, key: str, languages: Sequence[str], known: Sequence[str], default: Mapping[str, str]
    ) -> dict[str, str]:
        """A text in each language of the interface; one text for all is enough where there is one language."""
        told = self.data.get(key)
        if told is None:
            return {
                language: default[language].strip() for language in languages if language in default
            }
        if isinstance(told, str) and len(languages) == 1:
            told = {languages[0]: told}
        if not isinstance(told, dict):
            self.refuse(
                (key,),
                f"{key} is {told!r}; write [{key}] and under it a line for each of {', '.join(languages)}",
            )
        self.check_keys(told, known, (key,))
        for language in languages:
            if not isinstance(told.get(language, ""), str) or not told.get(language, "").strip():
                self.refuse(
                    (key, language),
                    f"{key} has no text in '{language}', a language of the interface; add one or take '{language}' out of languages",
                )
            if said := next((word for word in TELLING if word in told[language].lower()), ""):
                line = find_line(self.lines, (key, language))
                warnings.warn(
                    f"{self.path}, row {line}: '{said}' tells people what is measured, which changes what they answer",
                    EvenhandWarning,
                    stacklevel=2,
                )
        return {language: told[language].strip() for language in languages}

"""Texts with every woman a man and every man a woman: English, Japanese and Chinese.

Some pairs are left as a whole, with the reason in `left`: those that mention what only one sex has
(a beard, a pregnancy), a word for a person without a partner (ballerina, best man), a ruler's or
saint's title with a name (Queen Victoria), or a `her` whose role is unclear. Otherwise only the
word is left: set phrases (man-made, you guys), names of things (Isle of Man), 他们 and 彼ら where
nothing says that all of them are men. First names stay (`names=None`), or are swapped by the fixed
pairs of name_pairs.tsv (`names=NameSwap.of("en")`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS
from evenhand.core.protocols import Language
from evenhand.languages.gender_words import ARTICLE, Edit, Findings, Left, NameSwap, partners
from evenhand.languages.swap_english import find_candidates, find_english
from evenhand.languages.swap_ja_zh import PLURALS_OF_ANY_GENDER, find_ja_zh, has_candidates

LANGUAGES = ("en", "ja", "zh")
MIXED_PLURAL = "plural of any gender"


@dataclass(frozen=True, slots=True)
class Swapped:
    """A text with its genders swapped.

    changes: the words that changed (old, new); left: those that stayed (word, reason).
    """

    text: str
    changes: tuple[tuple[str, str], ...]
    left: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SwappedPair:
    """Both sentences with their genders swapped; the given ones where `changes` is empty."""

    premise: str
    hypothesis: str
    changes: tuple[tuple[str, str], ...]
    left: tuple[tuple[str, str], ...]

    @property
    def is_changed(self) -> bool:
        """Whether the pair differs from the one that was given."""
        return bool(self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """What became of texts that are swapped together."""

    texts: list[str]
    changes: tuple[tuple[str, str], ...] = ()
    left: tuple[tuple[str, str], ...] = ()


def swap(
    language: Language, text: str, *, names: NameSwap | None = None, has_biology: bool = False
) -> Swapped:
    """The text with its genders swapped; `has_biology`: bearded men and pregnant women too.

    Raises EvenhandError where no gender words of the language are known.
    """
    result = _swap_all(language, (text,), names, has_biology=has_biology)
    return Swapped(result.texts[0], result.changes, result.left)


def swap_pair(
    language: Language,
    premise: str,
    hypothesis: str,
    *,
    names: NameSwap | None = None,
    has_biology: bool = False,
) -> SwappedPair:
    """Premise and hypothesis with their genders swapped; either both or neither.

    Raises EvenhandError where no gender words of the language are known.
    """
    result = _swap_all(language, (premise, hypothesis), names, has_biology=has_biology)
    return SwappedPair(result.texts[0], result.texts[1], result.changes, result.left)


def require_swappable(language: Language) -> None:
    """Raise EvenhandError where no gender words of the language are known to the swap."""
    if language.code not in LANGUAGES:
        raise EvenhandError(
            f"texts in '{language.code}' ({language.name}) cannot be swapped; "
            f"known: {', '.join(LANGUAGES)}"
        )


def _swap_all(
    language: Language, texts: Sequence[str], names: NameSwap | None, *, has_biology: bool
) -> _Result:
    require_swappable(language)
    if names is None and not any(_has_candidates(language.code, text) for text in texts):
        # true of most texts of a news corpus: nothing can change, so limits need not be searched
        return _Result(texts=list(texts))
    findings = [
        find_english(text, names) if language.code == "en" else find_ja_zh(language, text, names)
        for text in texts
    ]
    stops = [
        stop
        for each in findings
        for stop in each.stops
        if not (has_biology and stop.reason == "biology")
    ]
    kept = _mixed_plurals(texts, findings)
    left = [word for each in findings for word in each.left]
    left += [Left(_old(text, edit), MIXED_PLURAL) for text, edit in kept]
    kept_ids = {id(edit) for _, edit in kept}
    edits = [
        sorted((e for e in each.edits if id(e) not in kept_ids), key=lambda e: e.start)
        for each in findings
    ]
    placed = [(text, edit) for text, row in zip(texts, edits, strict=True) for edit in row]
    if stops and placed:  # without an edit there is nothing to stop
        gendered = [(text, edit) for text, edit in placed if edit.gender in GENDERS]
        left += [*stops, *(Left(_old(text, edit), stops[0].reason) for text, edit in gendered)]
        return _Result(texts=list(texts), left=_as_pairs(left))
    left += [stop for stop in stops if stop.word.lower() in partners(language.code)]
    return _Result(
        texts=[_apply(text, row) for text, row in zip(texts, edits, strict=True)],
        changes=tuple(
            (_bare(_old(text, edit)), _bare(edit.new))
            for text, edit in placed
            if edit.gender != ARTICLE
        ),
        left=_as_pairs(left),
    )


def _has_candidates(code: str, text: str) -> bool:
    return any(True for _ in find_candidates(text)) if code == "en" else has_candidates(code, text)


def _mixed_plurals(texts: Sequence[str], findings: Sequence[Findings]) -> list[tuple[str, Edit]]:
    """Plurals such as 他们, which stay, with their texts.

    None where the pair speaks of men or boys (not only of him, or of a father) and of nobody who
    is female.
    """
    plurals = [
        (text, edit)
        for text, each in zip(texts, findings, strict=True)
        for edit in each.edits
        if _bare(_old(text, edit)) in PLURALS_OF_ANY_GENDER
    ]
    plural_ids = {id(edit) for _, edit in plurals}
    others = [
        edit
        for each in findings
        for edit in each.edits
        if id(edit) not in plural_ids and edit.gender in GENDERS
    ]
    names_men = any(edit.kind in {"noun", "subject"} for edit in others)
    return [] if names_men and all(edit.gender == "male" for edit in others) else plurals


def _bare(word: str) -> str:
    """A word in lower case, Japanese and Chinese without the spaces that a corpus has put in."""
    return "".join(word.lower().split())


def _old(text: str, edit: Edit) -> str:
    return text[edit.start : edit.end]


def _apply(text: str, edits: Sequence[Edit]) -> str:
    made, place = [], 0
    for edit in edits:
        made += [text[place : edit.start], edit.new]
        place = edit.end
    return "".join([*made, text[place:]])


def _as_pairs(left: Sequence[Left]) -> tuple[tuple[str, str], ...]:
    return tuple((each.word, each.reason) for each in left)

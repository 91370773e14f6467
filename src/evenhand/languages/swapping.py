"""What does a text say when every woman in it is a man and every man a woman? English, Japanese and Chinese; both sentences of a pair alike.

Left as a whole, with the reason in `left`: pairs that hold what only one sex has (a beard, a pregnancy), a person's word without a partner (ballerina,
best man), a ruler's or saint's title with a name (Queen Victoria), or a `her` whose role nobody can tell. Elsewhere only the word is left: set phrases
(man-made, you guys), names of things (Isle of Man), 他们 and 彼ら where nothing says that all of them are men.
First names stay (`names=None`), or are swapped by the fixed pairs of name_pairs.tsv (`names=NameSwap.of("en")`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS
from evenhand.core.protocols import Language
from evenhand.languages.swap_english import find_candidates, find_english
from evenhand.languages.swap_ideographs import MIXED, find_ideographs, has_candidates
from evenhand.languages.swap_names import NameSwap
from evenhand.languages.swap_words import ARTICLE, Edit, Findings, Left, partners

LANGUAGES = ("en", "ja", "zh")
MIXED_PLURAL = "plural of any gender"


@dataclass(frozen=True, slots=True)
class Swapped:
    """A text with its genders swapped, the words that changed (old, new) and those that stayed (word, reason)."""

    text: str
    changes: tuple[tuple[str, str], ...]
    left: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SwappedPair:
    """Both sentences with their genders swapped; where `changes` is empty they are the ones that were given."""

    premise: str
    hypothesis: str
    changes: tuple[tuple[str, str], ...]
    left: tuple[tuple[str, str], ...]

    @property
    def is_changed(self) -> bool:
        """Is it another pair than the one that was given?"""
        return bool(self.changes)


def swap(
    language: Language, text: str, *, names: NameSwap | None = None, has_biology: bool = False
) -> Swapped:
    """The text with its genders swapped; `has_biology` swaps bearded men and pregnant women too."""
    (made,), changes, left = _swap_all(language, (text,), names, has_biology=has_biology)
    return Swapped(made, changes, left)


def swap_pair(
    language: Language,
    premise: str,
    hypothesis: str,
    *,
    names: NameSwap | None = None,
    has_biology: bool = False,
) -> SwappedPair:
    """Premise and hypothesis with their genders swapped; either both or none."""
    (first, second), changes, left = _swap_all(
        language, (premise, hypothesis), names, has_biology=has_biology
    )
    return SwappedPair(first, second, changes, left)


def require_swappable(language: Language) -> None:
    """An error where no gender words of the language are known to the swap."""
    if language.code not in LANGUAGES:
        raise EvenhandError(
            f"texts in '{language.code}' ({language.name}) cannot be swapped; known: {', '.join(LANGUAGES)}"
        )


def _swap_all(
    language: Language, texts: Sequence[str], names: NameSwap | None, *, has_biology: bool
) -> tuple[list[str], tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    require_swappable(language)
    if names is None and not any(_has_candidates(language.code, text) for text in texts):
        return (
            list(texts),
            (),
            (),
        )  # most texts of a corpus of news; what could limit a swap need not be looked for
    found = [
        find_english(text, names)
        if language.code == "en"
        else find_ideographs(language, text, names)
        for text in texts
    ]
    stops = [
        stop
        for one in found
        for stop in one.stops
        if not (has_biology and stop.reason == "biology")
    ]
    kept = _drop_mixed(texts, found)
    left = [each for one in found for each in one.left] + [
        Left(_cut(text, e), MIXED_PLURAL) for text, e in kept
    ]
    dropped = {id(e) for _, e in kept}
    edits = [
        [e for e in sorted(one.edits, key=lambda e: e.start) if id(e) not in dropped]
        for one in found
    ]
    if stops and any(edits):  # without an edit there is nothing that a beard could stop
        left += [
            *stops,
            *(
                Left(_cut(text, e), stops[0].reason)
                for text, each in zip(texts, edits, strict=True)
                for e in each
                if e.gender in GENDERS
            ),
        ]
        return list(texts), (), _pairs(left)
    left += [stop for stop in stops if stop.word.lower() in partners(language.code)]
    changes = tuple(
        (_plain(_cut(text, e)), _plain(e.new))
        for text, each in zip(texts, edits, strict=True)
        for e in each
        if e.gender != ARTICLE
    )
    return (
        [_apply(text, each) for text, each in zip(texts, edits, strict=True)],
        changes,
        _pairs(left),
    )


def _has_candidates(code: str, text: str) -> bool:
    return any(True for _ in find_candidates(text)) if code == "en" else has_candidates(code, text)


def _drop_mixed(texts: Sequence[str], found: Sequence[Findings]) -> list[tuple[str, Edit]]:
    """Plurals such as 他们, unless the pair speaks of men or boys (not only of him, or of a father) and of nobody who is female."""
    plurals = [
        (text, e)
        for text, one in zip(texts, found, strict=True)
        for e in one.edits
        if _plain(_cut(text, e)) in MIXED
    ]
    mixed = {id(e) for _, e in plurals}
    others = [e for one in found for e in one.edits if id(e) not in mixed and e.gender in GENDERS]
    is_male = any(e.kind in {"noun", "subject"} for e in others) and all(
        e.gender == "male" for e in others
    )
    return [] if is_male else plurals


def _plain(word: str) -> str:
    """In lower case; Japanese and Chinese without the spaces of a corpus."""
    return "".join(word.lower().split())


def _cut(text: str, edit: Edit) -> str:
    return text[edit.start : edit.end]


def _apply(text: str, edits: Sequence[Edit]) -> str:
    made, place = [], 0
    for edit in edits:
        made += [text[place : edit.start], edit.new]
        place = edit.end
    return "".join([*made, text[place:]])


def _pairs(left: Sequence[Left]) -> tuple[tuple[str, str], ...]:
    return tuple((each.word, each.reason) for each in left)

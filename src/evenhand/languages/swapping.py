"""Texts with every woman a man and every man a woman: English, Japanese and Chinese.

Some pairs are left as a whole, with the reason in `left`: those that mention what only one sex has
(a beard, a pregnancy), a word for a person without a partner (ballerina, best man), a ruler's or
saint's title with a name (Queen Victoria), or a `her` whose role is unclear. Otherwise only the
word is left: set phrases (man-made, you guys, he or she), names of things (Isle of Man, Murder, She
Wrote), 他们 and 彼ら where nothing says that all of them are men.

Where a finder of names is given (`people`), a pair that names a person is left whole if a pronoun,
a word of kinship or a noun that may be said of that person would change: Jon and his dog. A surname
behind a title does not count, since the title is swapped with the rest: Mr. Smith and his dog.

First names stay (`names=None`), or are swapped by the fixed pairs of name_pairs.tsv
(`names=NameSwap.of("en")`). Then a pair that names persons is swapped as a whole: each first name
becomes its partner, surnames stay. It is left only where somebody's name has no partner.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS
from evenhand.core.protocols import Language
from evenhand.languages.gender_words import (
    ARTICLE,
    NAME,
    NAMED,
    OF_A_PERSON,
    Edit,
    Findings,
    Left,
    NameSwap,
    partners,
)
from evenhand.languages.names import NameFinder
from evenhand.languages.swap_english import find_candidates, find_english, is_about_named
from evenhand.languages.swap_ja_zh import (
    PLURALS_OF_ANY_GENDER,
    find_ja_zh,
    has_candidates,
    is_about_named_zh,
)

LANGUAGES = ("en", "ja", "zh")
MIXED_PLURAL = "plural of any gender"
_TITLE_BEFORE = re.compile(r"\b(?:Mrs?|Ms|Miss)\.? $")
_NAME_PART = re.compile(r"\w+")


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
    language: Language,
    text: str,
    *,
    names: NameSwap | None = None,
    people: NameFinder | None = None,
    has_biology: bool = False,
) -> Swapped:
    """The text with its genders swapped; `has_biology`: bearded men and pregnant women too.

    Raises EvenhandError where no gender words of the language are known.
    """
    result = _swap_all(language, (text,), names, people, has_biology=has_biology)
    return Swapped(result.texts[0], result.changes, result.left)


def swap_pair(
    language: Language,
    premise: str,
    hypothesis: str,
    *,
    names: NameSwap | None = None,
    people: NameFinder | None = None,
    has_biology: bool = False,
) -> SwappedPair:
    """Premise and hypothesis with their genders swapped; either both or neither.

    Raises EvenhandError where no gender words of the language are known.
    """
    result = _swap_all(language, (premise, hypothesis), names, people, has_biology=has_biology)
    return SwappedPair(result.texts[0], result.texts[1], result.changes, result.left)


def require_swappable(language: Language) -> None:
    """Raise EvenhandError where no gender words of the language are known to the swap."""
    if language.code not in LANGUAGES:
        raise EvenhandError(
            f"texts in '{language.code}' ({language.name}) cannot be swapped; "
            f"known: {', '.join(LANGUAGES)}"
        )


def _swap_all(
    language: Language,
    texts: Sequence[str],
    names: NameSwap | None,
    people: NameFinder | None,
    *,
    has_biology: bool,
) -> _Result:
    require_swappable(language)
    if names is None and not any(_has_candidates(language.code, text) for text in texts):
        # true of most texts of a news corpus: nothing can change, so limits need not be searched
        return _Result(texts=list(texts))
    findings = [
        find_english(text, names) if language.code == "en" else find_ja_zh(language, text, names)
        for text in texts
    ]
    if people is not None:
        findings = _heed_people(language.code, texts, findings, people)
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


def _heed_people(
    code: str,
    texts: Sequence[str],
    findings: Sequence[Findings],
    people: NameFinder,
) -> list[Findings]:
    """The findings, with a stop where the words of a named person would change without the name.

    With `names` only the names of persons are swapped: Virginia may be a state.
    """
    is_about = is_about_named_zh if code == "zh" else is_about_named
    named_edits = any(edit.gender == NAME for each in findings for edit in each.edits)
    is_personal = any(
        edit.kind in OF_A_PERSON or is_about(text, edit)
        for text, each in zip(texts, findings, strict=True)
        for edit in each.edits
    )
    if not named_edits and not is_personal:  # nothing that a name could contradict
        return list(findings)
    spans = [people.find(text) for text in texts]
    heeded = [
        replace(each, edits=[e for e in each.edits if e.gender != NAME or _is_within(e, row)])
        for each, row in zip(findings, spans, strict=True)
    ]
    fixed = list(_fixed_names(texts, heeded, spans)) if is_personal else []
    if fixed:
        heeded[0] = replace(heeded[0], stops=[*heeded[0].stops, Left(fixed[0], NAMED)])
    return heeded


def _is_within(edit: Edit, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= edit.start and edit.end <= end for start, end in spans)


def _fixed_names(
    texts: Sequence[str],
    findings: Sequence[Findings],
    spans: Sequence[Sequence[tuple[int, int]]],
) -> Iterator[str]:
    """The names that would stay while the words about their bearers change.

    Not a surname behind a title, a name whose first part is swapped, nor parts of such a name.
    """
    fixed: list[str] = []
    parts: set[str] = set()  # of names that may be there
    for text, each, row in zip(texts, findings, spans, strict=True):
        for start, end in row:
            name = text[start:end]
            is_titled = _TITLE_BEFORE.search(text[:start]) is not None
            is_swapped = any(edit.gender == NAME and edit.start == start for edit in each.edits)
            if is_titled or is_swapped:
                parts.update(_NAME_PART.findall(name))
            else:
                fixed.append(name)
    return (name for name in fixed if not parts.issuperset(_NAME_PART.findall(name)))


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

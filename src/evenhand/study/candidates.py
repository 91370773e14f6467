"""Candidates for objective sentences: those in which a cue may fix the gender of the blank.

The rules are the lexicons that the builder of measuring sentences leaves sentences out by: body,
clothing, kinship and roles (cues.tsv), set phrases (unswappable.tsv), gendered first names
(name_pairs.tsv) and other gender words of the same gender. A candidate is a sentence that the
builder would take if its cue were hidden, so no candidate is among the measuring sentences of the
same text. Whether the cue does fix the gender is for people to say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import zip_longest
from pathlib import Path

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError, UnknownNameError
from evenhand.core.probe import BLANK, GENDERS, Probe
from evenhand.core.protocols import Language
from evenhand.core.suite import Suite, SuiteCard, read_suite
from evenhand.families.contextualised.gender_words import (
    CUE,
    SEVERAL,
    UNSWAPPABLE,
    Swap,
    find_swap,
)
from evenhand.families.contextualised.mask_probe import OBJECTIVE, mask_probe
from evenhand.families.contextualised.mining import LONGEST, SHORTEST, read_corpora
from evenhand.families.contextualised.suite import CORPUS_LICENCE, SUITE
from evenhand.languages.gender_words import partners
from evenhand.languages.names import NameFinder, open_finder
from evenhand.study.wording import LANGUAGES

NAME = "objective-candidates"
PHRASE, FIRST_NAME, SAME_GENDER, SITUATION = "phrase", "name", "same gender", "situation"
# Kinds of cues, the surest first; what each settles a sentence by, in the words of the suite.
TYPES = {
    "body": "biology",
    PHRASE: "collocation",
    SITUATION: "context",
    "kinship": "context",
    "role": "context",
    FIRST_NAME: "knowledge",
    "clothing": "knowledge",
    SAME_GENDER: "context",
    "pronoun": "context",
}
CUE_TAG, KIND_TAG, MARKS_TAG = "cue", "cue kind", "marks"
_PHRASES = frozenset({"idiom", "name"})  # the reasons in unswappable.tsv that make a cue
_FILLERS = {"en": "x"}  # what hides a letter; a circle where words are not spaced
_TELLING = re.compile(r"(?:['’]s\b)?\W*(\w(?:.*\w)?)")  # without the 's of the gender word
Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What in a sentence may fix the gender, where it stands, and its kind."""

    start: int
    end: int
    kind: str

    @property
    def span(self) -> Span:
        """Its place in the sentence."""
        return self.start, self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A sentence whose gender word is blanked, and its cues; places count in `text`."""

    text: str
    male: str
    female: str
    gender: str  # of the word that was blanked, "" where nobody says
    cues: tuple[Cue, ...]
    origin: str = ""

    @property
    def kind(self) -> str:
        """The kind of its surest cue."""
        kinds = {cue.kind for cue in self.cues}
        return next(kind for kind in TYPES if kind in kinds)

    @property
    def tags(self) -> dict[str, str]:
        """What a probe remembers: the cues, their kind, where to mark them."""
        return {
            CUE_TAG: " … ".join(self.text[cue.start : cue.end] for cue in self.cues),
            KIND_TAG: self.kind,
            MARKS_TAG: " ".join(f"{cue.start}-{cue.end}" for cue in self.cues),
        }


@dataclass(slots=True)
class Candidates:
    """The candidates as probes, how many sentences were read, and from where."""

    probes: list[Probe] = field(default_factory=list)
    read: int = 0
    files: str = ""
    finder: str = ""

    def suite(self, language: str) -> Suite:
        """The candidates as a suite without strata: nobody has judged them yet.

        Raises EvenhandError where there are none.
        """
        if not self.probes:
            raise EvenhandError(
                f"no candidate among the {self.read} sentences of {self.files}: none has one "
                "gender word and a cue that the lexicons know; give a larger text"
            )
        kinds = Counter(probe.tags[KIND_TAG] for probe in self.probes)
        counts = ", ".join(f"{kind} {kinds[kind]}" for kind in TYPES if kinds[kind])
        names = f"; personal names found by {self.finder}" if self.finder else ""
        card = SuiteCard(
            name=NAME,
            version="1",
            language=language,
            source=f"{self.files}; {self.read} sentences read; by cue: {counts}{names}",
            licence=CORPUS_LICENCE,
            citation=SUITE.citation,
            description="Sentences in which a cue may fix the gender of the blank, to be judged.",
            factors=("word pair",),
            options=GENDERS,
        )
        return Suite(card=card, probes=tuple(self.probes))


def candidates_in_text(
    language: str, paths: Sequence[Path], most: int, finder: str | None = None
) -> Candidates:
    """The candidates in raw text, at most `most`: kinds of cues and genders in turn."""
    _check_language(language)
    sentences = read_corpora(language, paths)
    names = open_finder(language, finder, [text for text, _ in sentences])
    found = []
    for text, origin in dict(sentences).items():
        if SHORTEST <= len(text) <= LONGEST and BLANK not in text:
            candidate = find_candidate(catalog.language(language), text, names)
            found += [replace(candidate, origin=origin)] if candidate else []
    probes = []
    for number, one in enumerate(_in_turn(found, most), 1):
        tags = {**one.tags, "original": one.gender, "origin": one.origin}
        probe = mask_probe(
            identity=f"{language}/x{number:05d}",
            language=language,
            text=one.text,
            male=one.male,
            female=one.female,
            tags=tags,
        )
        probes.append(unjudged(probe))
    return Candidates(
        probes=probes,
        read=len(sentences),
        files=", ".join(dict.fromkeys(path.name for path in paths)),
        finder=names.name if names else "",
    )


def candidates_in_suite(path: Path, most: int) -> tuple[str, Candidates]:
    """The language of a suite of blanks, and those of its sentences that have a cue.

    Sentences that are objective already are left out. Raises InputError for another kind of suite.
    """
    suite = read_suite(path)
    code = suite.card.language
    _check_language(code)
    if any(p.kind != "mask" or p.option_count != len(GENDERS) for p in suite.probes):
        raise InputError(
            path, "is no suite of sentences with a blank for a male and a female word; name another"
        )
    language, found = catalog.language(code), {}
    asked = [probe for probe in suite.probes if probe.stratum != OBJECTIVE]
    for probe in asked:
        start = len(probe.around_blank[0])
        blank = (start, start + len(BLANK))
        cues = [*_lexicon_cues(language, probe.texts[0]), *_first_names(language, probe.texts[0])]
        cues += [replace(c, kind=SAME_GENDER) for c, _ in _words(language, probe.texts[0])]
        if kept := _outside(cues, [blank]):
            found[probe.id] = Candidate(
                text=probe.texts[0],
                male=probe.texts[1],
                female=probe.texts[2],
                gender=probe.tags.get("original", ""),
                cues=kept,
            )
    kept_texts = {one.text for one in _in_turn(list(found.values()), most)}
    probes = [
        unjudged(replace(probe, tags={**probe.tags, **found[probe.id].tags}))
        for probe in asked
        if probe.id in found and probe.texts[0] in kept_texts
    ]
    return code, Candidates(probes=probes, read=len(asked), files=path.name)


def unjudged(probe: Probe) -> Probe:
    """The probe without a stratum, and without what a fair respondent would answer."""
    tags = {k: v for k, v in probe.tags.items() if k not in ("fair", "stereotyped", "gold")}
    return replace(probe, stratum="", tags=tags)


def marks_of(probe: Probe) -> list[Span]:
    """Where the cues of a candidate stand in its sentence; nothing where that is not readable."""
    size, spans = len(probe.texts[0]), []
    for mark in probe.tags.get(MARKS_TAG, "").split():
        start, _, end = mark.partition("-")
        is_number = all(n.isascii() and n.isdigit() and len(n) < 6 for n in (start, end))
        if is_number and int(start) < int(end) <= size:
            spans.append((int(start), int(end)))
    return sorted(spans)


def find_candidate(
    language: Language, text: str, names: NameFinder | None = None
) -> Candidate | None:
    """The sentence with a gender word blanked and its cues marked.

    None where it has no cue or no word that can be blanked, or where the builder takes it as it is.
    """
    words = _words(language, text)
    spans = [word.span for word, _ in words]
    cues = _outside(_lexicon_cues(language, text), spans)
    if names is not None and names.has_name(text):
        cues = (*cues, *_outside(_first_names(language, text), [*spans, *(c.span for c in cues)]))
    reason = find_swap(language, text)
    if reason == UNSWAPPABLE:
        return _in_phrase(language, text, cues, words)
    if reason == SEVERAL:
        return _among_words(language, text, cues, words)
    if isinstance(reason, Swap) and not any(cue.kind == FIRST_NAME for cue in cues):
        return None  # a measuring sentence: only a name keeps the builder from taking it
    one = _blanked(language, text, cues) if cues else None
    return one or (_by_one_word(language, text, cues, words) if reason == CUE else None)


def _among_words(
    language: Language, text: str, cues: Sequence[Cue], words: Sequence[tuple[Cue, str]]
) -> Candidate | None:
    """One of several gender words, the last that can be blanked; those of its gender are cues."""
    for target, gender in reversed(words):
        others = [(word, own) for word, own in words if word != target]
        marked = (*cues, *(word for word, own in others if own == gender))
        hidden = (*cues, *(word for word, _ in others))
        if marked and (one := _blanked(language, text, hidden, marked, target.span)):
            return one
    return None


def _by_one_word(
    language: Language, text: str, cues: Sequence[Cue], words: Sequence[tuple[Cue, str]]
) -> Candidate | None:
    """A sentence that tells the gender by a word for which there is no pattern: ____'s milk."""
    spans = [word.span for word, _ in words]
    for start, end in language.words(text):
        lone = Cue(start=start, end=end, kind=SITUATION)
        if (start, end) not in spans and (one := _blanked(language, text, (*cues, lone))):
            return one
    return None


def _in_phrase(
    language: Language, text: str, cues: Sequence[Cue], words: Sequence[tuple[Cue, str]]
) -> Candidate | None:
    """A gender word within a set phrase; the rest of the phrase is the cue."""
    for phrase in _phrases(language.code, text):
        inside = text[phrase[0] : phrase[1]].lower()
        for word in _by_length(language.code):
            if (place := inside.find(word)) < 0:
                continue
            target = (phrase[0] + place, phrase[0] + place + len(word))
            rest = _around(text, phrase, target)
            others = _outside((word for word, _ in words), [phrase])
            marked = (*rest, *_outside(cues, [phrase]))
            if rest and (one := _blanked(language, text, (*marked, *others), marked, target)):
                return one
    return None


def _blanked(
    language: Language,
    text: str,
    hidden: Sequence[Cue],
    marked: Sequence[Cue] | None = None,
    target: Span | None = None,
) -> Candidate | None:
    """The candidate that the builder's finder blanks once something is hidden; None where not.

    marked: the cues, by default all that is hidden. target: where the blank must be.
    """
    swap = find_swap(language, _hide(language.code, text, [cue.span for cue in hidden]))
    if not isinstance(swap, Swap):
        return None
    before, _, after = swap.text.partition(BLANK)
    start, end = len(before), len(text) - len(after)
    if target is not None and not (target[0] <= start and end <= target[1]):
        return None
    shift = len(BLANK) - (end - start)
    cues = (
        replace(cue, start=cue.start + shift, end=cue.end + shift) if cue.start >= end else cue
        for cue in _outside(hidden if marked is None else marked, [(start, end)])
    )
    return Candidate(
        text=f"{text[:start]}{BLANK}{text[end:]}",
        male=swap.male,
        female=swap.female,
        gender=swap.gender,
        cues=tuple(sorted(cues, key=lambda cue: cue.start)),
    )


def _hide(code: str, text: str, spans: Iterable[Span]) -> str:
    """The text of the same length in which the letters of these places say nothing."""
    letters, filler = list(text), _FILLERS.get(code, "○")
    for start, end in spans:
        for place in range(start, end):
            if letters[place].isalnum():
                letters[place] = filler.upper() if letters[place].isupper() else filler
    return "".join(letters)


def _outside(cues: Iterable[Cue], taken: Sequence[Span]) -> tuple[Cue, ...]:
    """The cues in order, without those that touch a taken place; overlapping ones are one."""
    kept: list[Cue] = []
    for cue in sorted(cues, key=lambda c: (c.start, -c.end)):
        if any(cue.start < high and low < cue.end for low, high in taken):
            continue
        if kept and cue.start < kept[-1].end:
            surer = min((kept[-1].kind, cue.kind), key=list(TYPES).index)
            kept[-1] = replace(kept[-1], end=max(kept[-1].end, cue.end), kind=surer)
        else:
            kept.append(cue)
    return tuple(kept)


def _around(text: str, phrase: Span, target: Span) -> list[Cue]:
    """What a phrase says before and after the gender word in it."""
    sides = (text[phrase[0] : target[0]], text[target[1] : phrase[1]])
    starts = (phrase[0], target[1])
    return [
        Cue(start=start + match.start(1), end=start + match.end(1), kind=PHRASE)
        for start, side in zip(starts, sides, strict=True)
        if (match := _TELLING.match(side))
    ]


def _words(language: Language, text: str) -> list[tuple[Cue, str]]:
    """The gender words of a sentence, each with its gender."""
    known = partners(language.code)
    return [
        (Cue(start=start, end=end, kind=SAME_GENDER), known[word].gender)
        for start, end in language.words(text)
        if (word := text[start:end].replace("’", "'").lower()) in known
    ]


def _lexicon_cues(language: Language, text: str) -> list[Cue]:
    """What cues.tsv finds, without the white space around it."""
    return [
        Cue(start=match.end() - len(word.lstrip()), end=match.start() + len(word.rstrip()), kind=k)
        for pattern, k in _patterns(language.code)
        for match in pattern.finditer(text)
        if (word := match.group()).strip()
    ]


def _first_names(language: Language, text: str) -> Iterator[Cue]:
    names = _names(language.code)
    for start, end in language.words(text):
        if text[start:end] in names:
            yield Cue(start=start, end=end, kind=FIRST_NAME)


def _in_turn(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """At most `most` in the order of the text, of each kind of cue and each gender in turn."""
    if most < 1:
        raise EvenhandError(f"{most} candidates were asked for; at least 1 is needed")
    groups: dict[tuple[int, str], list[int]] = {}
    for place, one in enumerate(candidates):
        groups.setdefault((list(TYPES).index(one.kind), one.gender), []).append(place)
    rounds = zip_longest(*(groups[key] for key in sorted(groups)))
    chosen = [place for turn in rounds for place in turn if place is not None][:most]
    return [candidates[place] for place in sorted(chosen)]


def _check_language(code: str) -> None:
    if code not in LANGUAGES:
        raise UnknownNameError("language of a study", code, LANGUAGES)


@cache
def _patterns(code: str) -> tuple[tuple[re.Pattern[str], str], ...]:
    rows = lexicons.table(code, "cues")
    return tuple((re.compile(row["pattern"], re.IGNORECASE), row["kind"]) for row in rows)


@cache
def _names(code: str) -> frozenset[str]:
    return frozenset(
        row[gender] for row in lexicons.table(code, "name_pairs") for gender in GENDERS
    )


@cache
def _by_length(code: str) -> tuple[str, ...]:
    return tuple(sorted(partners(code), key=len, reverse=True))


@cache
def _expressions(code: str) -> re.Pattern[str]:
    texts = (
        re.escape(row["expression"]).replace("'", "['’]")
        for row in lexicons.table(code, "unswappable")
        if row["reason"] in _PHRASES
    )
    either = "|".join(sorted(texts, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w-])(?:{either})(?![\w-])" if code == "en" else either, re.IGNORECASE
    )


def _phrases(code: str, text: str) -> list[Span]:
    """Where set phrases with a gender word stand."""
    return [match.span() for match in _expressions(code).finditer(text)]

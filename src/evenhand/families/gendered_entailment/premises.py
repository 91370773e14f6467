"""Which real sentences name one occupation and no gender? Premises for the gendered-entailment suite, equally many for each occupation.

After section 3.1 of Sharma, Dey and Sinha 2021: short sentences that name an occupation, without gendered word or personal name; rare occupations
get sentences of others with their own word put in. There is no parser: whether "cook" is a person, the words around it decide, and in doubt it is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from numpy.random import Generator

from evenhand import lexicons
from evenhand.core.errors import EvenhandError
from evenhand.languages.en import LANGUAGE, article
from evenhand.languages.frames import gender_cues
from evenhand.core.corpora import read_sentences
from evenhand.languages.names import NameFinder

SHORTEST = 3  # words
RARE = 2e-4  # a word of fewer than 1 in 5000 sentences is a slip of the pen or shop talk: it is not passed on to another occupation;
LARGE = 5000  # in a smaller corpus that cannot be told

_W: dict[
    str, frozenset[str]
] = {  # word classes by name; their meaning stands in the head of the lexicon
    kind: frozenset(row["word"] for row in lexicons.table("en", "senses") if row["kind"] == kind)
    for kind in dict.fromkeys(row["kind"] for row in lexicons.table("en", "senses"))
}
_DETERMINERS = _W["one"] | _W["many"] | _W["possessive"] | _W["other determiner"]
_FUNCTION = _DETERMINERS | _W["preposition"] | _W["auxiliary"] | _W["link"]
_TIED = re.compile(
    rf"(?i)\b(?:(?:{'|'.join(_W['stem'])})\w*|(?:{'|'.join(_W['word'])})\b|hard hats?|work(?:s|ed|ing)? on )"
)
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:['’-][A-Za-z]+)*")
_PLAIN_TEXT = re.compile(  # letters, commas, apostrophes inside words, one stop at the end; no second sentence, no torn end
    r"(?!.*[^A-Za-z]['’])(?!.*[^Ss]['’][ ,.])(?!.* (?:The|An?|They|It|We|You|This|These|And|But)\b)"
    r"(?!.* (?:an?|and|but|of|or|the)[.!]?$)[A-Za-z0-9][A-Za-z0-9 ,'’é-]*[.!]?"
)
_IDENTITY = re.compile(  # "the director is a supervisor" says what a supervisor is; "the people are guards" can be said of anybody
    r"(?i)\n (?:is|are|was|were) (?:an?|the)\b"
    r"|^(?!(?:the |these )?(?:people|person|they|i|you|we|someone|there|it)\b).*\b(?:is|are|was|were) (?:(?:an?|the) )?\n"
)
_MEN = r"\b(?!(?:hu|ger|ro|otto|sha|nor)m[ae]n\b|(?:speci|abdo|regi|o|a)men\b)\w+m[ae]n\b|\bblondes?\b|\bfeminis\w+"


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """One sentence that names one occupation."""

    text: str
    occupation: str
    is_plural: bool
    origin: Literal["original", "put in"]
    source_occupation: str  # whose sentence it was in the corpus


@dataclass(frozen=True, slots=True, kw_only=True)
class Mined:
    """The premises, what became of the other sentences, and who fell short."""

    premises: tuple[Premise, ...]
    removed: Counter[str]  # filter -> sentences
    found: Counter[str]  # occupation -> its own sentences
    short: Mapping[str, int]  # occupation -> how many premises it got, where fewer than asked for


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a sentence names its occupation, and what stands around it."""

    text: str
    start: int
    end: int
    word: str
    is_plural: bool

    @property
    def left(self) -> list[str]:
        """The words before it in its clause, nearest first."""
        clause = re.split(r"[,.!]", self.text[: self.start])[-1]
        return [t.lower().replace("’", "'") for t in _TOKEN.findall(clause)][::-1]

    @property
    def is_owner(self) -> bool:
        """Is it in the genitive?"""
        return self.text[self.end : self.end + 1] in {"'", "’"}

    @property
    def right(self) -> str:
        """The next word, or nothing at the end of a clause."""
        match = re.match(r"(?:['’]s?)? +(" + _TOKEN.pattern + ")", self.text[self.end :])
        return match.group(1).lower().replace("’", "'") if match else ""


def mine_premises(
    paths: Sequence[Path],
    occupations: Sequence[str] | None = None,
    *,
    per_occupation: int = 50,
    longest: int = 10,
    names: NameFinder,
    rng: Generator,
    is_hypotheses_too: bool = True,
) -> Mined:
    """The sentences of some corpora that can be premises, `per_occupation` for each occupation (by default the 38 of the paper)."""
    wanted = tuple(
        dict.fromkeys(
            occupations
            if occupations is not None
            else (row["word"] for row in lexicons.table("en", "workforce"))
        )
    )
    if per_occupation < 1:
        raise EvenhandError(
            f"{per_occupation} premises per occupation were asked for; at least 1 is needed"
        )
    read = (s for path in paths for s in read_sentences(path, is_hypotheses_too=is_hypotheses_too))
    sentences = list(
        dict.fromkeys(re.sub(r" ([.,!?])", r"\1", s) for s in read)
    )  # some corpora have a space before the stop
    seen = Counter(
        word for s in sentences for word in set(_TOKEN.findall(s))
    )  # as written: a name is hardly ever seen in lower case
    shares = (
        {word: count / len(sentences) for word, count in seen.items()}
        if len(sentences) >= LARGE
        else {}
    )
    removed: Counter[str] = Counter()
    own: dict[str, list[_Place]] = {word: [] for word in wanted}
    taken: set[str] = set()
    for sentence in sentences:
        place = _judge(sentence, wanted, longest, names, shares)
        if isinstance(place, str) or _key(sentence) in taken:
            removed[place if isinstance(place, str) else "duplicate"] += 1
            continue
        taken.add(_key(sentence))
        own[place.word].append(place)
    if not any(own.values()):
        why = ", ".join(f"{reason} {count}" for reason, count in removed.most_common())
        raise EvenhandError(
            f"no sentence of {len(sentences)} can be a premise; removed: {why}. Give a larger corpus or other occupations"
        )
    donors = [place for places in own.values() for place in places if _is_free(place, shares)]
    premises = tuple(_equalise(own, donors, per_occupation, rng, taken))
    found, got = (
        Counter({word: len(own[word]) for word in wanted}),
        Counter(p.occupation for p in premises),
    )
    return Mined(
        premises=premises,
        removed=removed,
        found=found,
        short={w: got[w] for w in wanted if got[w] < per_occupation},
    )


def put_in(text: str, start: int, end: int, word: str) -> str:
    """The sentence with another word at this place: article corrected, capital kept."""
    before = text[:start]
    if old := re.search(r"\b(an?) $", before, re.IGNORECASE):
        new = article(word)
        before = f"{before[: old.start()]}{new.capitalize() if old.group(1)[0].isupper() else new} "
    return (
        before
        + (word[0].upper() + word[1:] if not before and text[0].isupper() else word)
        + text[end:]
    )


def pluralise(word: str) -> str:
    """The plural of an occupation: as the lexicon has it, else by rule."""
    for row in lexicons.table("en", "workforce"):
        if row["word"].lower() == word.lower():
            return row["plural"]
    if word.endswith("person"):
        return word.removesuffix("person") + "people"
    return re.sub(r"(?<=[^aeiou])y$", "ie", word) + (
        "es" if word.endswith(("s", "x", "ch", "sh")) else "s"
    )


def _equalise(
    own: Mapping[str, list[_Place]],
    donors: list[_Place],
    each: int,
    rng: Generator,
    taken: set[str],
) -> Iterator[Premise]:
    for word, places in own.items():
        kept = [places[i] for i in sorted(rng.permutation(len(places))[:each])]
        yield from (
            Premise(
                text=p.text,
                occupation=word,
                is_plural=p.is_plural,
                origin="original",
                source_occupation=word,
            )
            for p in kept
        )
        lacking = each - len(kept)
        for donor in (donors[i] for i in rng.permutation(len(donors))):
            text = put_in(
                donor.text, donor.start, donor.end, pluralise(word) if donor.is_plural else word
            )
            if lacking > 0 and donor.word != word and _key(text) not in taken:
                taken.add(_key(text))
                lacking -= 1
                yield Premise(
                    text=text,
                    occupation=word,
                    is_plural=donor.is_plural,
                    origin="put in",
                    source_occupation=donor.word,
                )


def _judge(
    text: str, wanted: tuple[str, ...], longest: int, names: NameFinder, shares: Mapping[str, float]
) -> _Place | str:
    """The one place where the sentence names an occupation, or the filter that removes it."""
    pattern, forms = _forms(wanted)
    hits = [
        _Place(text, m.start(), m.end(), *forms[m.group().lower()]) for m in pattern.finditer(text)
    ]
    if not any(hit.word in wanted for hit in hits):
        return "no occupation"
    place, words = hits[0], _TOKEN.findall(text)
    is_unseen = (
        bool(shares)
        and place.start > 0
        and words[0].istitle()
        and words[0] != "I"
        and words[0].lower() not in shares
    )
    tests: tuple[tuple[str, Callable[[], bool]], ...] = (
        ("too long", lambda: len(words) > longest),
        ("too short", lambda: len(words) < SHORTEST),
        ("question", lambda: text.endswith("?") or words[0].lower() in _W["asking"]),
        ("several occupations", lambda: len(hits) > 1),
        ("gendered word", lambda: bool(_gendered().search(text) or gender_cues("en", text))),
        ("not a plain sentence", lambda: not _PLAIN_TEXT.fullmatch(text)),
        ("personal name", lambda: is_unseen or names.has_name(text)),
        ("not a person", lambda: not _is_person(place)),
        ("broken article or number", lambda: not _is_sound(place)),
        ("no verb", lambda: not _has_verb(place)),
    )
    return next((reason for reason, is_hit in tests if is_hit()), place)


def _is_person(place: _Place) -> bool:
    """Is the word a person here, and not a verb, an adjective or a part of another noun?"""
    near, right = (place.left or [""])[0], place.right
    is_title = place.start > 0 and place.text[place.start].isupper() and place.word != "CEO"
    is_idiom = near in _W["possessive"] and right in {"up", "down"}  # "let our guards down"
    if is_title or is_idiom or near in _W["thing"] or (place.word == "mechanic" and right == "of"):
        return False
    if place.is_owner:  # "Cook's men" are those of a Mr Cook
        return right not in _FUNCTION | {
            "market",
            "markets",
            "seat",
            "seats",
            "license",
            "licence",
        } and (place.is_plural or near != "")
    if right in _W["after"]:
        return False
    is_led = (
        near in _DETERMINERS | _W["plain"] | _W["person"]
        or near.isdigit()
        or near.endswith(("ed", "'s"))
    )
    if place.is_plural:
        return (
            place.word not in _W["doubtful"]
            or is_led
            or near in _W["preposition"]
            or (not near and right not in _DETERMINERS | {""})
        )
    is_verb = (
        right.endswith(("ing", "ed", "ly"))
        or bool(re.search(r"[^s]s$", right))
        or right in _W["past"]
    )
    if right and not is_verb and right not in _FUNCTION:
        return False
    is_caption = not near and (
        right.endswith("ing") or right in _W["preposition"] | _W["auxiliary"]
    )
    return is_led or is_caption or (place.word not in _W["doubtful"] and near != "")


def _is_sound(place: _Place) -> bool:
    """Do article and number agree with the word?"""
    if LANGUAGE.faults(place.text) or re.search(r"(?i)\b(?:an?|the) (?:an?|the)\b", place.text):
        return False
    for word in place.left[:4]:
        if word in _DETERMINERS or word.isdigit():
            return (
                word not in _W["one"] | {"1"}
                if place.is_plural
                else not (word in _W["many"] or (word.isdigit() and word != "1"))
            )
        if word in _FUNCTION or word.endswith("'s"):
            return place.is_plural or word.endswith("'s")  # not "looks like teacher"
    return place.is_plural or len(place.left) < 4


def _has_verb(place: _Place) -> bool:
    others = [t.lower().replace("’", "'") for t in _TOKEN.findall(place.text)]
    if place.left:
        others.remove(place.left[0])  # "armed" in "an armed guard"
    if any(
        t in _W["auxiliary"] | _W["past"] or (t.endswith(("ing", "ed")) and t not in _W["verbless"])
        for t in others
    ):
        return True
    return (
        not place.is_owner
        and place.right not in _FUNCTION | {""}
        and (place.is_plural or place.right.endswith("s"))
    )


def _is_free(place: _Place, shares: Mapping[str, float]) -> bool:
    """Can another occupation stand in its place? Nothing in the sentence may belong to this one."""
    rest = f"{place.text[: place.start]}\n{place.text[place.end :]}"
    if (
        place.is_owner
        or place.right in {"of", "who", "and"}
        or _TIED.search(rest)
        or _IDENTITY.search(rest)
    ):
        return False
    tokens = _TOKEN.findall(rest)
    if any(c.isdigit() for c in rest) or any(
        t[0].isupper() for t in tokens[int(place.start > 0) :]
    ):
        return False
    if shares and any(
        shares.get(t.lower(), 0) < RARE for t in tokens if t.lower() not in _FUNCTION | _W["plain"]
    ):
        return False
    near = next((word for word in place.left if word not in _W["plain"]), "")
    return near in _DETERMINERS - _W["possessive"] or (
        place.is_plural and near in {"", *_W["preposition"], *_W["auxiliary"]}
    )


def _key(text: str) -> str:
    return " ".join(_TOKEN.findall(text.lower()))


@cache
def _gendered() -> re.Pattern[str]:
    words = sorted(
        {row[column] for row in lexicons.table("en", "gender") for column in ("female", "male")},
        key=len,
        reverse=True,
    )
    return re.compile(
        rf"(?i)(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?:e?s)?(?![\w-])|{_MEN}"
    )


@cache
def _forms(wanted: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, tuple[str, bool]]]:
    """Every form of every occupation that is known, so that a second one in a sentence is seen too."""
    others = (
        row["word"] for name in ("workforce", "occupations") for row in lexicons.table("en", name)
    )
    forms: dict[str, tuple[str, bool]] = {}
    for word in (
        *wanted,
        *(o for o in others if not o.endswith(tuple(f" {w}" for w in wanted))),
    ):  # a bus driver is a driver
        forms.setdefault(word.lower(), (word, False))
        for plural in (pluralise(word), *([f"{word}s"] if word.endswith("person") else [])):
            forms.setdefault(plural.lower(), (word, True))
    longest_first = sorted(forms, key=len, reverse=True)
    return re.compile(
        rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])", re.IGNORECASE
    ), forms

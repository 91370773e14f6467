"""What does an English text become when its genders are swapped? her by its role, capitals, a or an, genitives, hyphens; names by the table or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.languages.en import LANGUAGE as ENGLISH
from evenhand.languages.en import article, is_opening
from evenhand.languages.swap_names import NameSwap
from evenhand.languages.swap_roles import settle_role
from evenhand.languages.swap_words import (
    ARTICLE,
    NAME,
    STOPPING,
    Edit,
    Findings,
    Left,
    Limit,
    find_expression,
    find_limits,
    partners,
)

_ROLES = {
    ("her", "determiner"): "his",
    ("her", "object"): "him",
    ("her", "possessive"): "his",
    ("his", "determiner"): "her",
    ("his", "possessive"): "hers",
}
_ARTICLE = re.compile(r"\b(an?)(\s+[\"'“‘(]*)$", re.IGNORECASE)
_NAMED = re.compile(r"\.? [A-Z][a-z]+")
_CALLED = frozenset({"mr", "mrs", "ms", "miss"})  # a surname follows
_RELATED = frozenset(
    {"aunt", "aunts", "uncle", "uncles", "auntie", "aunty"}
)  # a first name follows
_PEOPLE = re.compile(  # in capitals beside a noun that is no name: two Asian Women
    r"(?:an|ese|ish|ic|ern|al|asian|french|dutch|greek|black|white|muslim|arab|hindu|a|an|the|two|three|four|five|some|young|old|older|this|one)$",
    re.IGNORECASE,
)
_EVER_NAMES = frozenset(
    "guy monk duke count baron bachelor hero heroes host gods god prince kings queens cowboys sons brothers sisters king".split()
)
_SMALL = frozenset("a an the of in on at and or to with for by from as is are".split())
_VERBS = frozenset({"host", "hosts", "god", "gods"})  # or names, unless a determiner leads them
_LED = re.compile(r"(?i)\b(?:an?|the|two|his|her|their|our|my|\w+s) (?:\w+ )?$")
_PART = re.compile(r"[^-]+")
_STIFF = frozenset(
    "man king queen lady boy god father mother hero".split()
)  # before a hyphen they are mostly part of another word: man-made


def find_english(text: str, names: NameSwap | None) -> Findings:
    """Every place that changes, and what stays."""
    candidates = list(find_candidates(text))
    limits = find_limits("en", text)
    is_headline = any(text[start].isupper() for start, _ in candidates) and _is_headline(text)
    edits: list[Edit] = []
    left: list[Left] = []
    stops = (
        []
        if is_headline
        else [Left(text[a:b], reason) for a, b, reason in limits if reason == "name with a title"]
    )
    stops += [
        Left(text[a:b], reason)
        for a, b, reason in limits
        if reason in STOPPING and reason != "name with a title"
    ]
    for start, end in candidates:
        word = text[start:end]
        if (
            reason := _covered(start, end, limits)
            or find_expression("en", text, start, end)
            or _object(text, start, end, is_headline=is_headline, names=names)
        ):
            (stops if reason in STOPPING else left).append(Left(word, reason))
            continue
        form = _lower(word)
        partner = partners("en")[form]
        new = partner.word
        if form in {"her", "his"}:
            role = settle_role(text, start, end)
            if role is None:
                stops.append(Left(word, "role unclear"))
                continue
            new = _ROLES[form, role]
        edits += _write(text, start, end, new, partner.gender)
    if names is not None:
        edits += [Edit(start, end, new, NAME) for start, end, new in names.find(text)]
    return Findings(edits, left, stops)


def find_candidates(text: str) -> Iterator[tuple[int, int]]:
    """Gender words, and those that a hyphen ties to others: ex-wife, mother-daughter."""
    known = partners("en")
    for start, end in ENGLISH.words(text):
        word = _lower(text[start:end])
        if word in known:
            yield start, end
        elif "-" in word:
            parts = [(start + m.start(), start + m.end()) for m in _PART.finditer(word)]
            is_pair = all(text[a:b].lower() in known for a, b in parts)
            if is_pair or text[slice(*parts[0])].lower() not in _STIFF:
                yield from ((a, b) for a, b in parts if text[a:b].lower() in known)


def _lower(word: str) -> str:
    return word.lower().replace("’", "'")


def _covered(start: int, end: int, limits: list[Limit]) -> str:
    return next(
        (
            limit.reason
            for limit in limits
            if limit.start <= start and end <= limit.end and limit.reason not in STOPPING
        ),
        "",
    )


def _object(text: str, start: int, end: int, *, is_headline: bool, names: NameSwap | None) -> str:
    """What speaks against the partner in this place?"""
    word, before, after = text[start:end], text[:start], text[end:]
    form, kind = _lower(word), partners("en")[_lower(word)].kind
    is_named = word[0].isupper() and _NAMED.match(after) is not None
    is_plain = word.islower() or word.isupper() or word.istitle() or "-" in word
    is_free = (
        kind in {"pronoun", "adjective"}
        or form in _CALLED
        or word[0].islower()
        or is_headline
        or is_opening(before)
    )
    is_scout = re.match(r"(?i)(?:boy|girl) scouts?\b", text[start:]) is not None
    rules = (  # the first that holds decides
        (form == "miss", "" if is_named else "other word"),
        (form in {"count", "counts"} or (form in _VERBS and not _LED.search(before)), "other word"),
        (form in {"ma", "pa"} and word.isupper() and not text.isupper(), "other word"),  # states
        (kind != "pronoun" and not is_plain, "other word"),  # GALs
        (
            form in _RELATED and is_named and not is_headline,
            "" if _has_partner(after, names) else "title with a first name",
        ),
        (is_scout or is_free, ""),
        (form in _EVER_NAMES, "name"),
        ((is_named or _is_behind_name(before)) and kind != "title", "name"),
    )
    return next((reason for is_so, reason in rules if is_so), "")


def _has_partner(after: str, names: NameSwap | None) -> bool:
    """Is the first name that follows swapped too? Aunt Mary, Uncle James."""
    found = re.match(r"\.? (\w+)", after)
    return names is not None and found is not None and names.partner(found.group(1)) is not None


def _is_behind_name(before: str) -> bool:
    """Does another capital go before, inside the sentence, that is no people's name? the Tin Man; but two Asian Women."""
    last = re.search(r"([\w'’-]+)[ -]$", before)
    return (
        last is not None
        and last.group(1)[0].isupper()
        and not _PEOPLE.search(last.group(1))
        and not is_opening(before[: last.start()])
    )


def _is_headline(text: str) -> bool:
    """Does every word of weight start with a capital, so that capitals tell nothing?"""
    telling = [text[a:b] for a, b in ENGLISH.words(text) if text[a:b].lower() not in _SMALL]
    return text.isupper() or (len(telling) > 2 and not any(word[0].islower() for word in telling))


def _write(text: str, start: int, end: int, new: str, gender: str) -> Iterator[Edit]:
    """The word, the article before it and the genitive behind it."""
    old = text[start:end]
    is_loud = old.isupper() and len(old) > 1
    shown = (
        new.upper() if is_loud else new[0].upper() + new[1:] if old[0].isupper() else new.lower()
    )
    if old.lower() == "miss":
        shown += "."  # Miss Marple, Mr. Marple
    led = _ARTICLE.search(text[:start])
    if led is not None and led.group(1).lower() == article(old) != article(new):
        due = article(new)
        yield Edit(
            led.start(1),
            led.end(1),
            due.upper() if is_loud else due.capitalize() if led.group(1)[0].isupper() else due,
            ARTICLE,
        )
    genitive = re.match(r"['’]s\b", text[end:])
    if genitive and new.endswith("ies") and not old.endswith("s"):
        yield Edit(start, end + 2, f"{shown}{text[end]}", gender)  # gentlemen's, ladies'
    elif old.endswith("ies") and re.match(r"['’](?!\w)", text[end:]) and not new.endswith("s"):
        yield Edit(start, end + 1, f"{shown}{text[end]}s", gender)
    else:
        yield Edit(start, end, shown, gender)

"""English texts with their genders swapped: which words change, which stay and why.

Covers her and his by their role, capitals, a or an, genitives and hyphens; names are swapped by a
table or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.languages.en import END, article, find_role, is_opening, role_words, tokens_around
from evenhand.languages.en import LANGUAGE as ENGLISH
from evenhand.languages.gender_words import (
    ARTICLE,
    NAME,
    OF_A_PERSON,
    STOPPING,
    Edit,
    Findings,
    Left,
    Limit,
    NameSwap,
    Partner,
    expression_reason,
    find_limits,
    partners,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BY_ROLE = {
    ("her", "determiner"): "his",
    ("her", "object"): "him",
    ("her", "possessive"): "his",
    ("his", "determiner"): "her",
    ("his", "possessive"): "hers",
}
_LEADING_ARTICLE = re.compile(r"\b(an?)(\s+[\"'“‘(]*)$", re.IGNORECASE)
_NAME_AFTER = re.compile(r"\.? [A-Z][a-z]+")
_TITLES = frozenset({"mr", "mrs", "ms", "miss"})  # a surname follows
_KIN_TITLES = _words("aunt aunts uncle uncles auntie aunty")  # a first name follows
_PEOPLE = re.compile(  # capitalised before a noun that is not a name: two Asian Women
    r"(?:an|ese|ish|ic|ern|al|asian|french|dutch|greek|black|white|muslim|arab|hindu|a|an|the|two"
    r"|three|four|five|some|young|old|older|this|one)$",
    re.IGNORECASE,
)
_OFTEN_NAMES = _words(
    "guy monk duke count baron bachelor hero heroes host gods god prince kings queens cowboys sons "
    "brothers sisters king queen princess emperor empress duchess countess baroness lord"
)
_BEFORE_TITLE = re.compile(r"\b(?:for|in|of|with|like|from|by|to|at|on|called|titled) $")
_RULERS = _words("king queen prince princess emperor empress duke duchess lord lady")
_OF_EITHER_GENDER = _words(  # men's words by form that also name women: she is a hero
    "hero heroes superhero actor actors host hosts heir heirs"
)
_HER = frozenset({"she", "her", "hers", "herself"})
_COMPARED = _words("more less better worse further farther closer")
_BEHIND_COMPARATIVE = _words("than and by for in at to with when because if") | {END}
_COMPARATIVE = re.compile(r"[a-z]{2,}[^aeiou]i?er")
_NOT_COMPARED = _words(  # her older brother: adjectives that mostly lead a noun, and nouns
    "older elder younger former later latter upper inner outer other under over after never ever "
    "mother father brother sister daughter water paper dinner letter flower summer winter master "
    "number career computer father power shoulder finger corner owner leader partner teacher"
)
_MAKING = _words(
    "make makes made making find finds found keep keeps kept leave leaves left consider considers "
    "considered think thought call calls called get gets got render renders rendered"
)
_RATING = _words(
    "pay pays paid paying give gives gave offer offers offered see sees saw like likes liked love "
    "loves loved know knows knew hit hits treat treats treated want wants wanted"
)
_ABOUT_NAMED = re.compile(  # she is a good man; Jon, the man
    r"(?i)(?:\b(?:is|was|be|been|being|are|were|became|becomes?|as|like|remains?|of)|['’]s|,)"
    r"(?: not)?(?: (?:an?|the|one))?(?: [\w-]+){0,2} $"
)
_NAMED_BEHIND = re.compile(r",? (?:named|called|known|whose name)\b|,? [A-Z][a-z]+")
_SMALL = _words("a an the of in on at and or to with for by from as is are")
_VERBS = frozenset({"host", "hosts", "god", "gods"})  # or names, unless a determiner leads them
_LED = re.compile(r"(?i)\b(?:an?|the|two|his|her|their|our|my|\w+s) (?:\w+ )?$")
_HYPHEN_PART = re.compile(r"[^-]+")
# before a hyphen they are mostly part of another word: man-made
_STIFF = _words("man king queen lady boy god father mother hero")

_HOLDING = _words(
    "has have having had get gets getting got see sees seeing saw watch watches watching watched "
    "with without find finds finding found want wants wanted hear hears heard feel feels help "
    "helps helping keep keeps"
)
_GIVING = _words(
    "give gives giving gave show shows showing showed teach teaches teaching taught tell tells "
    "telling told buy buys buying bought bring brings bringing brought feed feeds feeding fed make "
    "makes making made hand hands offer offers read reads reading cook cooks cooking win wins "
    "winning won deny denied denies throw throws throwing threw send sends sent ask asks asked"
)
_LINKING = _words(
    "with has have having had on behind across of against in to toward towards arches arching onto "
    "over from under scratching scratches bending bends turns turned turning and or"
)
_MOVING = _words(
    "take takes took taking drive drives drove bring brings brought send sends sent carry carries "
    "carried walk walks walked walking see sees get gets got follow follows followed let lets call "
    "calls called help helps helped want wants push pull"
)
_VERB_OR_NOUN = _words(  # after `see her` only more of the sentence would decide
    "talk cry move play run walk dance work swim sleep smile jump ride draw cook drink perform "
    "sing laugh drive climb dress paint look slide swing skate kick fight cut fall catch eat leave "
    "win wash clean shop fish hike race surf throw do bat step speak lift pass pose kiss hug try "
    "train bowl ski dive drop hit shoot cross wave eat"
)
_COMPLEMENT = _words(
    "cool happy sad warm busy safe calm company awake alone up down off out away over back in on "
    "smile laugh"
)
_OBJECT_STARTS = _words("a an the some how two three")
_DETERMINERS = _words("that any some this these his her their my your")
_BESIDE = _words("behind beside near below above around from to by")
_DOES = _words(
    "looks watches stands sits walks holds tries speaks talks plays runs smiles waits wears does "
    "is was has simply"
)
_FUNCTION = _words(
    "at in on to for from with through into by of and or as is are was the a an while near next "
    "over around under off out up down towards toward like during against"
)
_NO_OBJECT_BEFORE_ING = _words("with of on in for from about by at")


def find_english(text: str, names: NameSwap | None) -> Findings:
    """Every edit of an English text, and what stays."""
    candidates = list(find_candidates(text))
    has_her = any(text[start:end].lower() in _HER for start, end in candidates)
    limits = find_limits("en", text)
    is_headline = any(text[start].isupper() for start, _ in candidates) and _is_headline(text)
    stopping = [limit for limit in limits if limit.reason in STOPPING]
    # stable: names with a title first, and none of them where every word has a capital
    stopping.sort(key=lambda limit: limit.reason != "name with a title")
    if is_headline:
        stopping = [limit for limit in stopping if limit.reason != "name with a title"]
    stops = [Left(text[limit.start : limit.end], limit.reason) for limit in stopping]
    edits: list[Edit] = []
    left: list[Left] = []
    for start, end in candidates:
        word = text[start:end]
        reason = (
            _covering_reason(start, end, limits)
            or expression_reason("en", text, start, end)
            or _objection(text, start, end, is_headline=is_headline, names=names)
        )
        if reason:
            (stops if reason in STOPPING else left).append(Left(word, reason))
            continue
        form = _lower(word)
        if form in _OF_EITHER_GENDER and has_her:
            left.append(Left(word, "either gender"))
            continue
        partner = partners("en")[form]
        new = partner.word
        if form in {"her", "his"}:
            role = likely_role(text, start, end)
            if role is None:
                stops.append(Left(word, "role unclear"))
                continue
            new = _BY_ROLE[form, role]
        edits += _write(text, start, end, new, partner)
    # The King lost his head: the ruler stays, so his pronouns must
    rulers = [each for each in left if each.reason == "name" and _lower(each.word) in _RULERS]
    if rulers and any(edit.kind in OF_A_PERSON for edit in edits):
        stops.append(Left(rulers[0].word, "name with a title"))
    if names is not None:
        edits += [Edit(start, end, new, NAME) for start, end, new in names.find(text)]
    return Findings(edits=edits, left=left, stops=stops)


def find_candidates(text: str) -> Iterator[tuple[int, int]]:
    """Where gender words stand, also beside a hyphen: ex-wife, mother-daughter."""
    known = partners("en")
    for start, end in ENGLISH.words(text):
        word = _lower(text[start:end])
        if word in known:
            yield start, end
        elif "-" in word:
            parts = [(start + m.start(), start + m.end()) for m in _HYPHEN_PART.finditer(word)]
            is_pair = all(text[a:b].lower() in known for a, b in parts)
            if is_pair or text[slice(*parts[0])].lower() not in _STIFF:
                yield from ((a, b) for a, b in parts if text[a:b].lower() in known)


def _lower(word: str) -> str:
    return word.lower().replace("’", "'")


def _covering_reason(start: int, end: int, limits: list[Limit]) -> str:
    reasons = (
        limit.reason
        for limit in limits
        if limit.start <= start and end <= limit.end and limit.reason not in STOPPING
    )
    return next(reasons, "")


def _objection(
    text: str, start: int, end: int, *, is_headline: bool, names: NameSwap | None
) -> str:
    """What speaks against the partner in this place; empty where nothing does."""
    word, before, after = text[start:end], text[:start], text[end:]
    form, kind = _lower(word), partners("en")[_lower(word)].kind
    is_named = word[0].isupper() and _NAME_AFTER.match(after) is not None
    is_plain = word.islower() or word.isupper() or word.istitle() or "-" in word
    is_royal = form in _RULERS and re.match(r"['’]s? [A-Z]", after) is not None  # King's Cross
    is_free = (
        kind in {"pronoun", "adjective"}
        or form in _TITLES
        or word[0].islower()
        or is_headline
        or is_opening(before)
    )
    is_scout = re.match(r"(?i)(?:boy|girl) scouts?\b", text[start:]) is not None
    is_verb = form in _VERBS and not _LED.search(before)
    is_state = form in {"ma", "pa"} and word.isupper() and not text.isupper()
    kin_reason = "" if _is_name_swapped(after, names) else "title with a first name"
    rules = (  # the first that holds decides
        (form == "miss", "" if is_named else "other word"),
        (form in {"count", "counts"} or is_verb, "other word"),
        (is_state, "other word"),
        (kind != "pronoun" and not is_plain, "other word"),  # GALs
        (kind == "pronoun" and not is_headline and _is_in_title(before, word, after), "name"),
        (word[0].isupper() and is_royal and not is_headline, "name"),
        (_is_work(before, word, kind) and not is_headline, "name"),
        (form in _KIN_TITLES and is_named and not is_headline, kin_reason),
        (is_scout or is_free, ""),
        (form in _OFTEN_NAMES, "name"),
        ((is_named or _is_behind_name(before)) and kind != "title", "name"),
    )
    return next((reason for is_met, reason in rules if is_met), "")


def _is_name_swapped(after: str, names: NameSwap | None) -> bool:
    """Whether the first name that follows is swapped too: Aunt Mary, Uncle James."""
    name = re.match(r"\.? (\w+)", after)
    return names is not None and name is not None and names.partner(name.group(1)) is not None


def _is_behind_name(before: str) -> bool:
    """Whether a capitalised word precedes, inside the sentence, that does not name a people.

    True in `the Tin Man`, false in `two Asian Women`.
    """
    last = re.search(r"([\w'’-]+)[ -]$", before)
    return (
        last is not None
        and last.group(1)[0].isupper()
        and not _PEOPLE.search(last.group(1))
        and not is_opening(before[: last.start()])
    )


def _is_work(before: str, word: str, kind: str) -> bool:
    """Whether a bare capitalised noun starts the title of a work: an award for Man on the Moon."""
    is_singular = kind in {"noun", "subject"} and word[-2:] not in {"en", "es", "rs"}
    return word.istitle() and is_singular and _BEFORE_TITLE.search(before) is not None


def _is_in_title(before: str, word: str, after: str) -> bool:
    """Whether a pronoun belongs to the title of a work: Murder, She Wrote."""
    is_quoted = before.rstrip(" ")[-1:] in {'"', "“", "‘", "'"}
    if not word.istitle() or (is_opening(before) and not is_quoted):
        return False
    then = re.match(r" ([\w-]+)", after)
    if then is not None and then.group(1) != "I":
        return then.group(1)[0].isupper() and not _PEOPLE.search(then.group(1))
    last = re.search(r"([\w'’-]+),? $", before)
    return last is not None and last.group(1)[0].isupper() and then is None and not is_quoted


def is_about_named(text: str, edit: Edit) -> bool:
    """Whether a noun may say what a named person is: Jon was a good man, a man named Jon."""
    if edit.kind not in {"noun", "subject"} or text[edit.end - 2 : edit.end] in {"en", "es"}:
        return False
    is_predicate = _ABOUT_NAMED.search(text[: edit.start]) is not None
    return is_predicate or _NAMED_BEHIND.match(text[edit.end :]) is not None


def _is_headline(text: str) -> bool:
    """Whether every word of weight starts with a capital, so that capitals say nothing."""
    weighty = [text[a:b] for a, b in ENGLISH.words(text) if text[a:b].lower() not in _SMALL]
    return text.isupper() or (len(weighty) > 2 and not any(word[0].islower() for word in weighty))


def _write(text: str, start: int, end: int, new: str, partner: Partner) -> Iterator[Edit]:
    """The edits of the word, of the article before it and of the genitive after it."""
    old, gender, kind = text[start:end], partner.gender, partner.kind
    is_loud = old.isupper() and len(old) > 1
    shown = _in_case_of(old, new, is_loud=is_loud)
    if old.lower() == "miss":
        shown += "."  # Miss Marple, Mr. Marple
    led = _LEADING_ARTICLE.search(text[:start])
    if led is not None and led.group(1).lower() == article(old) != article(new):
        due = article(new)
        capital = due.capitalize() if led.group(1)[0].isupper() else due
        yield Edit(led.start(1), led.end(1), due.upper() if is_loud else capital, ARTICLE)
    genitive = re.match(r"['’]s\b", text[end:])
    if genitive and new.endswith("ies") and not old.endswith("s"):
        yield Edit(start, end + 2, f"{shown}{text[end]}", gender, kind)  # gentlemen's, ladies'
    elif old.endswith("ies") and re.match(r"['’](?!\w)", text[end:]) and not new.endswith("s"):
        yield Edit(start, end + 1, f"{shown}{text[end]}s", gender, kind)
    else:
        yield Edit(start, end, shown, gender, kind)


def _in_case_of(old: str, new: str, *, is_loud: bool) -> str:
    if is_loud:
        return new.upper()
    return new[0].upper() + new[1:] if old[0].isupper() else new.lower()


def likely_role(text: str, start: int, end: int) -> str | None:
    """The role of a `her` or `his` where a text to train on may take the likely reading.

    Where `find_role` leaves it open to a careful reader, a caption still says `with her brother`,
    `has her picture taken`, `giving her daughter a hug`. What stays open here too (`taught her
    things`) is None, and then the pair is not swapped.
    """
    before, after = tokens_around(text, start, end)
    form = text[start:end].lower()
    is_phrase_end = after[1] in _FUNCTION | {"like", END} or not after[1].isalpha()
    if form == "her" and before[-1] in _BESIDE and after[0] in _DOES and is_phrase_end:
        return "object"  # the man behind her looks like him
    if form == "her" and (role := _before_comparative(before[-1], after)) is not None:
        return role
    if (role := find_role(text, start, end)) is not None:
        return role
    if form == "his":
        return _likely_his(before, after)
    if is_opening(text[:start]) and after[0].isalpha():
        return "determiner"
    return _likely_her(before, after)


def _before_comparative(before: str, after: list[str]) -> str | None:
    """`object` for a `her` before a comparative: made her happier, paid her less than him."""
    word, then = after[0], after[1]
    is_long = word in {"more", "less"}
    is_comparative = word in _COMPARED or (
        _COMPARATIVE.fullmatch(word) is not None and word not in _NOT_COMPARED | role_words("noun")
    )
    if not is_comparative:
        return None
    if then in _BEHIND_COMPARATIVE or (then and not then[0].isalnum()):
        is_led = before in _MAKING | _RATING
        return "object" if word in _COMPARED or is_led or then == "than" else None
    return "object" if is_long and before in _MAKING else None


def _likely_his(before: list[str], after: list[str]) -> str | None:
    if before[-1] == "of" and not after[0][:1].isalpha():
        return "possessive"
    friends = ("friend", "buddy", "buddies", "colleague", "relative")
    if before[-1] == "of" and before[-2].startswith(friends):
        return "possessive"
    is_noun = after[0][:1].isalnum() and after[0] not in {"that", "so"}
    return "determiner" if is_noun else None


def _likely_her(earlier: list[str], after: list[str]) -> str | None:
    before, word, then = earlier[-1], after[0], after[1]
    kin = partners("en").get(word.removesuffix("'s"))
    is_content = word[:1].isalnum() and word not in role_words("object")
    is_behind = before in role_words("object") | {"with", "without", "outside", "inside"}
    is_object = (
        (word == "next" and then == "to")
        or word in {"much", "regarding", "concerning"}
        or (word == "that" and before == "with")
    )
    is_freshly_baked = (  # her freshly baked bread
        word.endswith("ly")
        and then.endswith(("ed", "en", "ing", "al", "ous", "ful", "ive"))
        and before not in _HOLDING
    )
    is_verb_or_noun = word in _VERB_OR_NOUN and (
        before in _HOLDING - {"with", "without", "has"}
        or before in {"make", "makes", "made", "let", "lets"}
    )
    is_given_away = (
        then in _OBJECT_STARTS
        or (then == "to" and before.startswith("show"))
        or word in {"other", "own", "left", "right", "new", "first"}
    )
    rules: tuple[tuple[bool, str | None], ...] = (  # the first that holds decides
        (kin is not None and kin.kind == "kinship", "determiner"),
        (is_object, "object"),
        # in her 30s, in her twenties
        (re.fullmatch(r"\d+'?s|\w+ties", word) is not None, "determiner"),
        (word == "back", "determiner" if before in _LINKING else None),
        (word == "home", "determiner" if before not in _MOVING else None),
        (
            word in {"outside", "inside", "upstairs", "downstairs"},
            "object" if then == END or not then.isalpha() else None,
        ),
        (
            word.endswith("ing") and word not in role_words("noun"),
            _likely_before_ing(before, then, is_behind=is_behind),
        ),
        (is_freshly_baked, "determiner"),
        (not is_content or word in _COMPLEMENT or word in role_words("verb"), None),
        (is_verb_or_noun, None),
        (before in {"with", "without"}, "determiner"),
        (before in _GIVING, "determiner" if is_given_away else None),
        (before in _HOLDING, "determiner" if not word.endswith("ly") else None),
        (is_behind and then[:1].isalpha() and then not in _FUNCTION, "determiner"),
    )
    return next((role for is_met, role in rules if is_met), None)


def _likely_before_ing(before: str, then: str, *, is_behind: bool) -> str | None:
    """her sleeping child, with her walking stick; but next to her looking at it."""
    if then[:1].isalpha() and then not in _FUNCTION | _DETERMINERS and not then.endswith("ly"):
        return "determiner"
    is_object = is_behind and before not in _NO_OBJECT_BEFORE_ING and then in _FUNCTION
    return "object" if is_object else None

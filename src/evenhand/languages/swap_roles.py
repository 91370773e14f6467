"""Which `her` and `his` is it where the words around leave it open to a careful reader (roles.py), but a text to train on may take the likely reading?

A caption says `with her brother`, `has her picture taken`, `giving her daughter a hug`. What stays open here too (`taught her things`) is None, and
then the pair is not swapped.
"""

from __future__ import annotations

import re
from functools import cache

from evenhand import lexicons
from evenhand.languages.en import is_opening
from evenhand.languages.roles import END, find_role
from evenhand.languages.swap_words import partners

_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[^\w\s]")
_HOLDING = frozenset(
    "has have having had get gets getting got see sees seeing saw watch watches watching watched with without find finds finding "
    "found want wants wanted hear hears heard feel feels help helps helping keep keeps".split()
)
_GIVING = frozenset(
    "give gives giving gave show shows showing showed teach teaches teaching taught tell tells telling told buy buys buying bought bring "
    "brings bringing brought feed feeds feeding fed make makes making made hand hands offer offers read reads reading cook cooks "
    "cooking win wins winning won deny denied denies throw throws throwing threw send sends sent ask asks asked".split()
)
_LINKING = frozenset(
    "with has have having had on behind across of against in to toward towards arches arching onto over from under scratching "
    "scratches bending bends turns turned turning and or".split()
)
_MOVING = frozenset(
    "take takes took taking drive drives drove bring brings brought send sends sent carry carries carried walk walks walked walking see "
    "sees get gets got follow follows followed let lets call calls called help helps helped want wants push pull".split()
)
# Both verb and noun: behind `see her` only more of the sentence would tell.
_EITHER = frozenset(
    "talk cry move play run walk dance work swim sleep smile jump ride draw cook drink perform sing laugh drive climb dress paint look "
    "slide swing skate kick fight cut fall catch eat leave win wash clean shop fish hike race surf throw do bat step speak lift pass pose "
    "kiss hug try train bowl ski dive drop hit shoot cross wave eat".split()
)
_COMPLEMENT = frozenset(
    "cool happy sad warm busy safe calm company awake alone up down off out away over back in on smile laugh".split()
)
_WHAT_FOLLOWS = frozenset("a an the some how two three".split())
_DETERMINERS = frozenset("that any some this these his her their my your".split())
_BESIDE = frozenset("behind beside near below above around from to by".split())
_DOES = frozenset(
    "looks watches stands sits walks holds tries speaks talks plays runs smiles waits wears does is was has simply".split()
)
_SMALL = frozenset(
    "at in on to for from with through into by of and or as is are was the a an while near next over around under off out up down towards "
    "toward like during against".split()
)


@cache
def word_class(kind: str) -> frozenset[str]:
    """The words of a class of roles.tsv."""
    return frozenset(row["word"] for row in lexicons.table("en", "roles") if row["kind"] == kind)


def settle_role(text: str, start: int, end: int) -> str | None:
    """determiner, object or possessive, or None where nobody should guess."""
    after = [t.lower().replace("’", "'") for t in _TOKEN.findall(text[end : end + 60])] + [END, END]
    earlier = [
        END,
        END,
        *(t.lower().replace("’", "'") for t in _TOKEN.findall(text[max(0, start - 40) : start])),
    ]
    if (
        text[start:end].lower() == "her"
        and earlier[-1] in _BESIDE
        and after[0] in _DOES
        and (after[1] in _SMALL | {"like", END} or not after[1].isalpha())
    ):
        return "object"  # the man behind her looks like him
    if after[:2] == ["or", "her"] or (after[0] == "/" and after[1] == "her"):
        return "determiner"  # his or her
    if (found := find_role(text, start, end)) is not None:
        return found
    if text[start:end].lower() == "his":
        return _settle_his(earlier, after)
    return (
        "determiner"
        if is_opening(text[:start]) and after[0].isalpha()
        else _settle_her(earlier, after)
    )


def _settle_his(earlier: list[str], after: list[str]) -> str | None:
    if earlier[-1] == "of" and not after[0][:1].isalpha():
        return "possessive"
    is_friend = earlier[-1] == "of" and earlier[-2].startswith(
        ("friend", "buddy", "buddies", "colleague", "relative")
    )
    return (
        "possessive"
        if is_friend
        else "determiner"
        if after[0][:1].isalnum() and after[0] not in {"that", "so"}
        else None
    )


def _settle_her(earlier: list[str], after: list[str]) -> str | None:
    before, word, then = earlier[-1], after[0], after[1]
    kin = partners("en").get(word.removesuffix("'s"))
    is_content = word[:1].isalnum() and word not in word_class("object")
    is_behind = before in word_class("object") | {"with", "without", "outside", "inside"}
    rules: tuple[tuple[bool, str | None], ...] = (  # the first that holds decides
        (
            before in {"/", "or"} and earlier[-2] in {"his", "him"},
            {"his": "determiner", "him": "object"}.get(earlier[-2]),
        ),
        (kin is not None and kin.kind == "kinship", "determiner"),
        (
            (word == "next" and then == "to")
            or word in {"much", "regarding", "concerning"}
            or (word == "that" and before == "with"),
            "object",
        ),
        (
            re.fullmatch(r"\d+'?s|\w+ties", word) is not None,
            "determiner",
        ),  # in her 30s, in her twenties
        (word == "back", "determiner" if before in _LINKING else None),
        (word == "home", "determiner" if before not in _MOVING else None),
        (
            word in {"outside", "inside", "upstairs", "downstairs"},
            "object" if then == END or not then.isalpha() else None,
        ),
        (
            word.endswith("ing") and word not in word_class("noun"),
            _settle_ing(before, then, is_behind=is_behind),
        ),
        (
            word.endswith("ly")
            and then.endswith(("ed", "en", "ing", "al", "ous", "ful", "ive"))
            and before not in _HOLDING,
            "determiner",
        ),  # her freshly baked bread
        (not is_content or word in _COMPLEMENT or word in word_class("verb"), None),
        (
            word in _EITHER
            and (
                before in _HOLDING - {"with", "without", "has"}
                or before in {"make", "makes", "made", "let", "lets"}
            ),
            None,
        ),
        (before in {"with", "without"}, "determiner"),
        (
            before in _GIVING,
            "determiner"
            if then in _WHAT_FOLLOWS
            or (then == "to" and before.startswith("show"))
            or word in {"other", "own", "left", "right", "new", "first"}
            else None,
        ),
        (before in _HOLDING, "determiner" if not word.endswith("ly") else None),
        (is_behind and then[:1].isalpha() and then not in _SMALL, "determiner"),
    )
    return next((role for is_so, role in rules if is_so), None)


def _settle_ing(before: str, then: str, *, is_behind: bool) -> str | None:
    """her sleeping child, with her walking stick; but next to her looking at it."""
    if then[:1].isalpha() and then not in _SMALL | _DETERMINERS and not then.endswith("ly"):
        return "determiner"
    return (
        "object"
        if is_behind
        and before not in {"with", "of", "on", "in", "for", "from", "about", "by", "at"}
        and then in _SMALL
        else None
    )

"""Is `her` the one of her book or of saw her, and is `his` the one of his book or of a friend of his? By the words around it, without a parser.

`determiner` (his/her), `object` (him/her), `possessive` (his/hers), or None where the neighbours leave it open; then nobody should guess.
"""

from __future__ import annotations

import re
from functools import cache

from evenhand import lexicons

END = ""
_TOKEN = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*|[^\w\s]")
_OPEN = frozenset("\"“‘'([{$£€/&#*")
_CLAUSE = frozenset("that if when where what who how why because")
_TIMES = frozenset(
    "night week month year time summer winter spring fall autumn day days weekend morning evening afternoon term semester"
)
_ALL_FRIENDS = re.compile(
    r"(?i)\b(?:friends?|buddy|buddies|colleagues?|acquaintances?|relatives?) of $"
)


@cache
def _class(kind: str) -> frozenset[str]:
    return frozenset(row["word"] for row in lexicons.table("en", "roles") if row["kind"] == kind)


def find_role(text: str, start: int, end: int) -> str | None:
    """What is the `her` or `his` at this place?"""
    after = [t.lower().replace("’", "'") for t in _TOKEN.findall(text[end : end + 60])] + [END, END]
    earlier = [
        t.lower().replace("’", "'") for t in _TOKEN.findall(text[max(0, start - 40) : start])
    ]
    before = earlier[-1] if earlier else END
    if text[start:end].lower() == "his":
        return _judge_his(after, is_friend=_ALL_FRIENDS.search(text[:start]) is not None)
    return _judge_her(before, after)


def _judge_his(after: list[str], *, is_friend: bool) -> str | None:
    word, then = after[0], after[1]
    if word in _OPEN:
        return "determiner" if word in set("\"“‘'$£€") and then else None
    if _is_end(word):
        return "possessive"
    if (
        word
        in {
            "that",
            "all",
            "both",
            "like",
            "so",
            "inside",
            "outside",
            "down",
            "above",
            "can",
            "do",
            *_class("letter"),
        }
        or is_friend
    ):
        return "determiner" if is_friend and word in _class("owned") else None
    if word in _class("object"):
        return "possessive"
    if word in {"just", "still", "already", "always", "now", "even", "then"}:
        return None
    return None if word in _class("verb") else "determiner"


def _judge_her(before: str, after: list[str]) -> str | None:
    word, then = after[0], after[1]
    is_last = (
        _is_end(then) or then in _class("object") | _CLAUSE
    )  # a noun phrase would have to end with `word`
    is_taker = before in _class("giver") | _class("causer")
    is_form = word not in _class("noun")  # what its ending says
    is_plural_seen = (
        before in _class("causer") - _class("giver") and re.search(r"[^su]s$", word) is not None
    )  # saw her eyes
    rules: tuple[tuple[bool, str | None], ...] = (  # the first that holds decides
        (word in _OPEN, None),
        (_is_end(word) or word in _class("object") or before in _class("letter"), "object"),
        (
            word == "own" or (word == "very" and then in {"own", "first", "last", "best"}),
            "determiner",
        ),
        (word == "very" and then == "much", "object"),
        (before == "against" and word == "will", "determiner"),
        (word in _class("unclear"), None),
        (word in _class("owned"), "determiner"),
        (word in _class("verb"), "object" if is_taker or is_last else None),
        (
            word in _class("wavering") or word[:1].isdigit(),
            _judge_wavering(before, word, then, is_last=is_last, is_taker=is_taker),
        ),
        (is_form and word.endswith("ly"), "object" if is_last else None),
        (is_form and word.endswith("ing"), None),
        (is_form and word.endswith("ed") and (is_last or is_taker), None),
        (is_taker and not is_plural_seen, None),
    )
    return next((role for is_so, role in rules if is_so), "determiner")


def _judge_wavering(
    before: str, word: str, then: str, *, is_last: bool, is_taker: bool
) -> str | None:
    is_behind_preposition = before in {
        "in",
        "on",
        "at",
        "of",
        "by",
        "from",
        "into",
        "for",
        "under",
        "during",
        "to",
        "about",
        "near",
        "since",
        "behind",
    }
    if word in {"last", "next", "first"} and then in _TIMES:
        return "determiner" if is_behind_preposition else None
    if is_last:
        is_noun = (
            word in {"back", "home", "right", "left", "best", "first", "little", "own"}
            and is_behind_preposition
        )
        return "determiner" if is_noun else None
    return None if is_taker else "determiner"


def _is_end(token: str) -> bool:
    return token == END or not (token[0].isalnum() or token in _OPEN)

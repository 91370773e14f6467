"""Leaks: what tells the gender of the blank although it is no gender word of the lexicon.

Body and clothes, kinship and roles are the cues of the lexicon, personal names are found by a name
finder. Here is what remains: what only a mother has (`____'s milk`), and words by which somebody is
addressed. A line break stands for the blank.
"""

from __future__ import annotations

import re
from functools import cache

_PATTERNS: dict[str, tuple[str, ...]] = {
    "en": (
        r"\n['’]s (?:own )?(?:milk|womb|breasts?|bosom|uterus)\b",
        r"\b(?:milady|milord|m['’]lady|m['’]lord|bro|sis|missus|missy|laddie|lassie)\b",
        r"(?:^|, |[\"“‘] ?)miss(?=[,.!?])",
        r"\b(?:dear|good|old|young|poor) (?:fellow|chap|gal|dame)s?\b",
    ),
    "zh": (
        r"\n(?:自己)?的?(?:奶水|乳汁|乳头|奶(?![奶茶粉牛酪油制嘴]))",
        r"老板娘|令尊|令堂|令郎|令爱|家父|家母|先父|先母|美眉|姐们|姐儿们|哥儿们|爷们|娘们",
    ),
    "ja": (
        r"\nの(?:お?乳|母乳|おっぱい|胎内|子宮)",
        r"旦那様|奥方|殿方|令嬢|令息|若旦那|女将",
    ),
    "ko": (r"\n(?:의|\{[^}]*\})? ?(?:젖|모유|자궁)", r"사모님|도련님|마님|영부인"),
}


@cache
def _compiled(language: str) -> re.Pattern[str] | None:
    patterns = _PATTERNS.get(language, ())
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def has_leak(language: str, before: str, after: str) -> bool:
    """Whether the sentence around the blank tells the gender, by what is not in the lexicon."""
    pattern = _compiled(language)
    return pattern is not None and pattern.search(f"{before}\n{after}") is not None

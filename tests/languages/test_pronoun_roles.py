"""The two `her` and the two `his` of English are kept apart, and a doubtful one is left alone."""

from __future__ import annotations

import re

import pytest

from evenhand.languages.en import LANGUAGE as ENGLISH

ROLES = [
    ("They took her coat.", "determiner"),
    ("We saw her.", "object"),
    ("We saw her in the park.", "object"),
    ("He gave her a book.", "object"),
    ("I asked her to leave.", "object"),
    ("They told her that story.", None),
    ("We walked to her house.", "determiner"),
    ("It was against her will.", "determiner"),
    ("They let her drive the car.", "object"),
    ("It made her cry for hours.", None),
    ("She made her way home.", "determiner"),
    ("It made her happy.", None),
    ("They watched her closely.", "object"),
    ("We met her yesterday.", "object"),
    ("They gave her flowers.", None),
    ("They gave her name to the police.", "determiner"),
    ("She hurt her back.", None),
    ("She lay on her back.", "determiner"),
    ("We heard her singing.", None),
    ("They liked her very much.", "object"),
    ("This is her very own room.", "determiner"),
    ("Her eyes were closed.", "determiner"),
    ("We know her and trust the firm.", "object"),
    ("They loved her deeply, of course.", "object"),
    ("It was her family that paid.", "determiner"),
    ("We want her gone.", None),
    ("They asked her why.", "object"),
    ("We saw her last night.", None),
    ("We met her last night.", None),
    ("That was in her last year there.", "determiner"),
    ("They bought her two books.", None),
    ("I told her you were late.", "object"),
    ("They helped her cross the street.", None),
    ("She sold her big house.", "determiner"),
    ('They called her "boss" all day.', None),
    ("His coat is wet.", "determiner"),
    ("The coat is his.", "possessive"),
    ("A friend of his came.", None),
    ("The decision was his to make.", "possessive"),
    ("This is one of his books.", "determiner"),
    ("His is the best idea.", "possessive"),
    ("He gave his all.", None),
    ("They took his two sons.", "determiner"),
    ("It is against his will.", "determiner"),
    ("He hurt his back.", "determiner"),
    ("The fault is his alone.", "possessive"),
    ("We used his, not yours.", "possessive"),
    ("His every move was watched.", "determiner"),
    ("They watched his singing.", "determiner"),
    ("It was his and mine.", "possessive"),
]


@pytest.mark.parametrize(("text", "role"), ROLES)
def test_her_and_his_are_told_apart(text: str, role: str | None) -> None:
    place = re.search(r"\b(?:her|his)\b", text, re.IGNORECASE)
    assert place is not None
    assert ENGLISH.role(text, place.span()) == role

"""Which of two sentences does a masked model find likelier? Three rules that go by one name elsewhere (CrowS-Pairs), each under its own.

Every token that counts is masked alone and looked up, the rest of the sentence being there.

shared   the tokens that both sentences have, summed (Nangia et al. 2020): how likely is the rest, given the group that is named?
changed  the tokens in which they differ, averaged (bias-bench): how likely is the group, given the rest?
whole    all tokens, summed (whole-sentence pseudo-likelihood).
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from evenhand.core.probe import Probe
from evenhand.respondents.blanks import Unanswerable
from evenhand.respondents.weighing import Plan

if TYPE_CHECKING:
    from evenhand.respondents.masked_routes import MaskedRoute

RULES = {"shared": "sum", "changed": "mean", "whole": "sum"}
_EMPTY = {
    "shared": "the sentences have none in common",
    "changed": "one sentence only adds words to the other",
    "whole": "a sentence has none",
}


def token_parts(
    first: Sequence[int], second: Sequence[int]
) -> dict[str, tuple[list[int], list[int]]]:
    """The positions of each sentence that a rule counts; the marks at both ends never count."""
    inner = (range(1, len(first) - 1), range(1, len(second) - 1))
    shared: tuple[set[int], set[int]] = (set(), set())
    for a, b, size in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        shared[0].update(range(a, a + size))
        shared[1].update(range(b, b + size))
    return {
        "shared": (
            [i for i in inner[0] if i in shared[0]],
            [i for i in inner[1] if i in shared[1]],
        ),
        "changed": (
            [i for i in inner[0] if i not in shared[0]],
            [i for i in inner[1] if i not in shared[1]],
        ),
        "whole": (list(inner[0]), list(inner[1])),
    }


def compare_sentences(
    probe: Probe, encodings: Sequence[Any], plan: Plan, route: MaskedRoute
) -> tuple[list[list[int]], str] | Unanswerable:
    """What is to be read for a choice between two sentences, by the rule that the probe names."""
    rule = probe.tags.get("scoring", "whole")
    if rule not in RULES or len(encodings) != 2 or probe.texts[0]:
        return Unanswerable(
            "a masked model compares two sentences without a context, by the rule shared, changed or whole"
        )
    ids = [tuple(e.ids) for e in encodings]
    positions = token_parts(*ids)[rule]
    if not all(positions):
        return Unanswerable(f"no token counts under the rule '{rule}': {_EMPTY[rule]}")
    wants = []
    for text, places in zip(ids, positions, strict=True):
        masked = [
            text if route.is_discriminator else (*text[:k], route.mask, *text[k + 1 :])
            for k in places
        ]
        wants.append(
            [plan.want(shown, k, text[k]) for shown, k in zip(masked, places, strict=True)]
        )
    return wants, RULES[rule]

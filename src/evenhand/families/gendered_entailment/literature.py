"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="sharma2021",
        kind="misc",
        title="Evaluating Gender Bias in Natural Language Inference",
        authors=("Sharma, Shanya", "Dey, Manan", "Sinha, Koustuv"),
        year=2021,
        venue="arXiv:2105.05541",
        url="https://arxiv.org/abs/2105.05541",
    ),
)

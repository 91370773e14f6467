"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="zhu2024",
        kind="inproceedings",
        title="Do PLMs and Annotators Share the Same Gender Bias? Definition, Dataset, and "
        "Framework of Contextualized Gender Bias",
        authors=("Zhu, Shucheng", "Du, Bingjie", "Zhao, Jishun", "Liu, Ying", "Liu, Pengyuan"),
        year=2024,
        venue="Proceedings of the 5th Workshop on Gender Bias in Natural Language Processing "
        "(GeBNLP)",
        doi="10.18653/v1/2024.gebnlp-1.2",
    ),
)

"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="nadeem2021",
        kind="inproceedings",
        title="StereoSet: Measuring stereotypical bias in pretrained language models",
        authors=("Nadeem, Moin", "Bethke, Anna", "Reddy, Siva"),
        year=2021,
        venue="Proceedings of the 59th Annual Meeting of the Association for Computational "
        "Linguistics and the 11th International Joint Conference on Natural Language Processing",
        doi="10.18653/v1/2021.acl-long.416",
    ),
)

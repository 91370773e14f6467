"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="luo2023",
        kind="inproceedings",
        title="Logic Against Bias: Textual Entailment Mitigates Stereotypical Sentence Reasoning",
        authors=("Luo, Hongyin", "Glass, James"),
        year=2023,
        venue="Proceedings of the 17th Conference of the European Chapter of the Association for "
        "Computational Linguistics",
        doi="10.18653/v1/2023.eacl-main.89",
    ),
)

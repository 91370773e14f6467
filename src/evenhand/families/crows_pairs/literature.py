"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="nangia2020",
        kind="inproceedings",
        title="CrowS-Pairs: A Challenge Dataset for Measuring Social Biases in Masked Language "
        "Models",
        authors=("Nangia, Nikita", "Vania, Clara", "Bhalerao, Rasika", "Bowman, Samuel R."),
        year=2020,
        venue="Proceedings of the 2020 Conference on Empirical Methods in Natural Language "
        "Processing (EMNLP)",
        doi="10.18653/v1/2020.emnlp-main.154",
    ),
    Reference(
        key="meade2022",
        kind="inproceedings",
        title="An Empirical Survey of the Effectiveness of Debiasing Techniques for Pre-trained "
        "Language Models",
        authors=("Meade, Nicholas", "Poole-Dayan, Elinor", "Reddy, Siva"),
        year=2022,
        venue="Proceedings of the 60th Annual Meeting of the Association for Computational "
        "Linguistics",
        doi="10.18653/v1/2022.acl-long.132",
    ),
    Reference(
        key="salazar2020",
        kind="inproceedings",
        title="Masked Language Model Scoring",
        authors=("Salazar, Julian", "Liang, Davis", "Nguyen, Toan Q.", "Kirchhoff, Katrin"),
        year=2020,
        venue="Proceedings of the 58th Annual Meeting of the Association for Computational "
        "Linguistics",
        doi="10.18653/v1/2020.acl-main.240",
    ),
    Reference(
        key="kaneko2022",
        kind="inproceedings",
        title="Unmasking the Mask - Evaluating Social Biases in Masked Language Models",
        authors=("Kaneko, Masahiro", "Bollegala, Danushka"),
        year=2022,
        venue="Proceedings of the AAAI Conference on Artificial Intelligence",
        doi="10.1609/aaai.v36i11.21453",
    ),
)

"""The works that this family is based on."""

from __future__ import annotations

from evenhand.core.reference import Reference

LITERATURE = (
    Reference(
        key="wang2019",
        kind="inproceedings",
        title="GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language "
        "Understanding",
        authors=(
            "Wang, Alex",
            "Singh, Amanpreet",
            "Michael, Julian",
            "Hill, Felix",
            "Levy, Omer",
            "Bowman, Samuel R.",
        ),
        year=2019,
        venue="International Conference on Learning Representations",
        url="https://openreview.net/forum?id=rJ4km2R5t7",
    ),
)

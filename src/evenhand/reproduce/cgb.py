"""Table 1, section 4.4 and Figure 4 of Zhu et al. 2024, from their published file.

The file has the PB of five models and the scores of three annotators; the models are scored by the
same measures as any other model. Correlations are between PB and the mean score of the
annotators on measuring sentences. Alpha is nominal, on the sign of each annotator's score.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.evidence import stratum_mask
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import ask_suite
from evenhand.engine.estimate import estimate
from evenhand.engine.suites import load_suite
from evenhand.families.contextualised.measures import log_odds
from evenhand.families.contextualised.published import EVERYBODY, MODELS, PEOPLE
from evenhand.people.density import density_chart, find_density
from evenhand.reproduce.paper import Paper, PrintedNumber, Reproduction
from evenhand.respondents.locate import open_respondent
from evenhand.stats.agreement import krippendorff_alpha

MEASURES = {"os_accuracy": "objective_accuracy", "ms_bias": "pb_bias", "ms_sd": "pb_sd"}
TITLES = {
    "os_accuracy": "accuracy on objective sentences",
    "ms_bias": "mean |PB|",
    "ms_sd": "SD of PB",
}


def printed_numbers() -> dict[str, Any]:
    """The numbers as the paper has them."""
    return dict(json.loads((files(__package__) / "cgb.json").read_text(encoding="utf-8")))


def load(data: Path | None) -> tuple[Suite, dict[str, Answers]]:
    """The sentences, and the answers of everybody in the file."""
    suite = load_suite("cgb", "zh", SuiteOptions(data=data))
    answers = {
        name: ask_suite(open_respondent(f"stored:{name}", "mask", RespondentOptions()), suite)
        for name in (*MODELS, *PEOPLE, EVERYBODY)
    }
    return suite, answers


def scores(suite: Suite, answers: Mapping[str, Answers], stratum: str) -> dict[str, Floats]:
    """The PB or score of each respondent on the sentences of one stratum."""
    is_read = stratum_mask(suite.probes, stratum)
    return {name: log_odds(given.values)[is_read] for name, given in answers.items()}


def compare(suite: Suite, answers: Mapping[str, Answers]) -> Iterator[PrintedNumber]:
    """Every printed number beside the computed one."""
    printed = printed_numbers()
    people, models = printed["annotators"], printed["models"]
    measuring, objective = scores(suite, answers, "MS"), scores(suite, answers, "OS")

    def row(where: str, what: str, number: float, computed: float) -> PrintedNumber:
        return PrintedNumber(
            where=where,
            what=what,
            printed=number,
            computed=computed,
            tolerance=printed["tolerance"],
        )

    for model in MODELS:
        for key, measure in MEASURES.items():
            settings = Settings(resamples=100)
            value = estimate(catalog.measure(measure), suite, answers[model], settings).value
            yield row("Table 1", f"{model}: {TITLES[key]}", models[model][key], value)
    mean = measuring[EVERYBODY]
    yield row("4.4", "annotators: mean score", people["ms_mean_fine"], float(mean.mean()))
    for side, is_so in (("male", mean > 0), ("female", mean < 0), ("neutral", mean == 0)):
        share = float(is_so.mean())
        yield row("4.4", f"sentences labelled {side}", people[f"share_{side}"], share)
    for key, part, title in (
        ("alpha_ms", measuring, "measuring"),
        ("alpha_os", objective, "objective"),
    ):
        alpha = krippendorff_alpha(np.sign(np.stack([part[p] for p in PEOPLE]))).alpha
        yield row("4.4", f"Krippendorff's alpha, {title} sentences", people[key], alpha)
    for model in MODELS:
        r, p = stats.pearsonr(mean, measuring[model])
        yield row(
            "Figure 4", f"{model}: r with annotators", models[model]["r_annotators"], float(r)
        )
        if "p_annotators" in models[model]:
            yield row("Figure 4", f"{model}: p", models[model]["p_annotators"], float(p))


def reproduce(data: Path | None) -> Reproduction:
    """The printed numbers and Figure 4."""
    suite, answers = load(data)
    measuring = scores(suite, answers, "MS")
    series = [(model, measuring[EVERYBODY], measuring[model]) for model in MODELS]
    return Reproduction(
        title="Zhu et al. 2024: Table 1, section 4.4 and Figure 4",
        suite=suite.reference,
        rows=tuple(compare(suite, answers)),
        charts=(density_chart(find_density(series), name="figure4"),),
    )


PAPER = Paper(
    name="cgb",
    description="Table 1, section 4.4 and Figure 4 of Zhu et al. 2024",
    reproduce=reproduce,
)

"""Do Table 1, section 4.4 and Figure 4 of Zhu et al. 2024 come out of their published file?

Five models' PB and three annotators' scores are in the file; the models are judged by the same measures as any model that is asked here. Correlations are
between PB and the mean score of the annotators on measuring sentences. Alpha is nominal, on the sign of each annotator's score.
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
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite
from evenhand.engine.audit import load_suite, question
from evenhand.engine.estimating import estimate
from evenhand.reproduce.comparison import Row
from evenhand.respondents.opening import open_respondent
from evenhand.stats.agreement import krippendorff_alpha
from evenhand.families.contextualised.published import EVERYBODY, MODELS, PEOPLE

MEASURES = {"os_accuracy": "objective_accuracy", "ms_bias": "pb_bias", "ms_sd": "pb_sd"}
TITLES = {
    "os_accuracy": "accuracy on objective sentences",
    "ms_bias": "mean |PB|",
    "ms_sd": "SD of PB",
}


def printed() -> dict[str, Any]:
    """The numbers as the paper has them."""
    return dict(json.loads((files(__package__) / "cgb.json").read_text(encoding="utf-8")))


def load(data: Path | None) -> tuple[Suite, dict[str, Answers]]:
    """The sentences, and what everybody in the file said."""
    suite = load_suite("cgb", "zh", data=data)
    names = (*MODELS, *PEOPLE, EVERYBODY)
    said = {
        name: question(
            open_respondent(f"stored:{name}", "mask", RespondentOptions()), suite, cache=False
        )
        for name in names
    }
    return suite, said


def scores(suite: Suite, said: Mapping[str, Answers], stratum: str) -> dict[str, Floats]:
    """PB or score of each respondent on the sentences of one stratum."""
    is_read = np.asarray([p.stratum == stratum for p in suite.probes])
    return {
        name: answers.values[is_read, 0] - answers.values[is_read, 1]
        for name, answers in said.items()
    }


def compare(suite: Suite, said: Mapping[str, Answers]) -> Iterator[Row]:
    """Every printed number beside the computed one."""
    told = printed()
    size = told["tolerance"]
    measuring, objective = scores(suite, said, "MS"), scores(suite, said, "OS")
    for model in MODELS:
        for key, measure in MEASURES.items():
            found = estimate(catalog.measure(measure), suite, said[model], resamples=100)
            yield Row(
                where="Table 1",
                what=f"{model}: {TITLES[key]}",
                printed=told["models"][model][key],
                found=found.value,
                tolerance=size,
            )
    people = measuring[EVERYBODY]
    shares = {"share_male": people > 0, "share_female": people < 0, "share_neutral": people == 0}
    yield Row(
        where="4.4",
        what="annotators: mean score",
        printed=told["annotators"]["ms_mean_fine"],
        found=float(people.mean()),
        tolerance=size,
    )
    for key, is_so in shares.items():
        what = f"sentences labelled {key.removeprefix('share_')}"
        yield Row(
            where="4.4",
            what=what,
            printed=told["annotators"][key],
            found=float(is_so.mean()),
            tolerance=size,
        )
    for key, part, title in (
        ("alpha_ms", measuring, "measuring"),
        ("alpha_os", objective, "objective"),
    ):
        alpha = krippendorff_alpha(np.sign(np.stack([part[p] for p in PEOPLE]))).alpha
        yield Row(
            where="4.4",
            what=f"Krippendorff's alpha, {title} sentences",
            printed=told["annotators"][key],
            found=alpha,
            tolerance=size,
        )
    for model in MODELS:
        r, p = stats.pearsonr(people, measuring[model])
        yield Row(
            where="Figure 4",
            what=f"{model}: r with annotators",
            printed=told["models"][model]["r_annotators"],
            found=float(r),
            tolerance=size,
        )
        if "p_annotators" in told["models"][model]:
            yield Row(
                where="Figure 4",
                what=f"{model}: p",
                printed=told["models"][model]["p_annotators"],
                found=float(p),
                tolerance=size,
            )


def series(suite: Suite, said: Mapping[str, Answers]) -> list[tuple[str, Floats, Floats]]:
    """What Figure 4 shows: model, the annotators' mean scores, the model's PB."""
    measuring = scores(suite, said, "MS")
    return [(model, measuring[EVERYBODY], measuring[model]) for model in MODELS]

"""Runs on a few pairs of sentences in the form of CrowS-Pairs, answered by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from blank_runs import card

from evenhand.core.answers import Answers
from evenhand.core.probe import PREFERENCES, SCORE, Probe
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.audit import judge


def preference_run(differences: Sequence[float] = (2.0, 0.0002, -1.0, 4.0)) -> Run:
    """By how much the more stereotypical sentence of each pair is likelier; `whole` is silent."""
    probes, values = [], []
    for i, difference in enumerate(differences):
        for rule in ("shared", "changed", "whole"):
            probes.append(
                Probe(
                    id=f"c{i}/{rule}",
                    kind="choice",
                    language="en",
                    texts=("", f"Old sentence {i}.", f"Young sentence {i}."),
                    stratum=rule,
                    cluster=f"w{i}",
                    tags={
                        "scoring": rule,
                        "bias type": "age" if i % 2 else "gender",
                        "direction": "stereo",
                        "fair": "equal",
                        "stereotyped": "0",
                    },
                )
            )
            numbers = (difference, 0.0) if rule != "whole" else (math.nan, math.nan)
            values.append([[number] for number in numbers])
    suite = Suite(card=card(PREFERENCES), probes=tuple(probes))
    answers = Answers(
        respondent="mine",
        suite=suite.reference,
        options=PREFERENCES,
        labels=(SCORE,),
        probes=suite.probes,
        values=np.asarray(values),
    )
    return judge(suite, answers, Settings(resamples=100))

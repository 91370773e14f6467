"""The record of a mitigation with numbers that can be checked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.mitigate.records import (
    ACCURACY,
    BEFORE,
    NONE,
    Asked,
    Change,
    Mitigation,
    Part,
    Score,
    Trained,
)

# suite -> measure -> value by model, in the order before, none, swap, pairing, anchors
LEVELS: dict[tuple[str, Part], dict[str, tuple[float, ...]]] = {
    ("occupation-nli", "all"): {
        "nli_coal": (0.42, 0.41, 0.36, 0.33, 0.18),
        "fraction_neutral": (0.47, 0.46, 0.42, 0.38, 0.2),
        "person_entailment": (0.93, 0.94, 0.93, 0.92, 0.97),
    },
    ("occupation-nli", "unseen"): {
        "nli_coal": (0.43, 0.42, 0.37, 0.34, 0.21),
        "fraction_neutral": (0.48, 0.47, 0.43, 0.39, 0.23),
    },
    ("sharma2021:snli", "all"): {
        "entailment_gap": (0.27, 0.265, 0.21, 0.11, 0.2),
        "same_label": (0.72, 0.72, 0.79, 0.88, 0.8),
        "stereotype_preference": (0.71, 0.71, 0.66, 0.6, 0.65),
    },
    ("snli-dev", "dev"): {ACCURACY: (0.80, 0.803, 0.801, 0.795, 0.798)},
}
MODELS = (BEFORE, NONE, "swap", "pairing", "anchors")


def make_mitigation(models: Sequence[str] = MODELS, *, wide: float = 0.02) -> Mitigation:
    """Every value with an interval of `wide` to both sides, every change with two thirds of it.

    A change is shown where it is wider than that.
    """
    scores, changes = [], []
    for (asked, part), measures in LEVELS.items():
        half = wide / 4 if part == "dev" else wide
        for measure, values in measures.items():
            by_model = dict(zip(MODELS, values, strict=True))
            fair = {
                "same_label": 1.0,
                "stereotype_preference": 0.5,
                "person_entailment": 1.0,
                ACCURACY: 1.0,
            }.get(measure, 0.0)
            for model in models:
                scores.append(_score(asked, part, measure, model, by_model[model], half))
            for against in (BEFORE, NONE):
                for model in models:
                    if against in models and model not in (BEFORE, against):
                        changes.append(
                            _change(
                                asked,
                                part,
                                measure,
                                model,
                                against,
                                by_model[model],
                                by_model[against],
                                fair,
                                half * 2 / 3,
                            )
                        )
    sheets = tuple(
        Asked(
            name=name,
            part=part,
            reference=f"{name}@1#0",
            probes=4000,
            clusters=141 if part == "all" else 60,
            is_published=name.startswith("sharma"),
        )
        for name, part in LEVELS
    )
    trained = tuple(
        Trained(
            method=m,
            description=f"what {m} does",
            identity=f"{m}@abc",
            folder=f"out/{m}",
            pairs=38_000,
            added=0,
            twins=0,
            steps=1188,
            seconds=600.0,
        )
        for m in models
        if m != BEFORE
    )
    file = {"file": "snli.jsonl", "sha256": "0" * 64, "pairs": 38_000}
    settings = {
        "train": [file],
        "dev": [{**file, "sha256": "1" * 64}],
        "pairs": 38_000,
        "recipe": {"name": "mitigate", "epochs": 1, "learning_rate": 3e-5},
        "anchors": 0.05,
        "frames": 3200,
        "permutations": 10_000,
        "seed": 0,
    }
    return Mitigation(
        model="default",
        identity="default@123",
        language="en",
        level=0.95,
        tests=44,
        settings=settings,
        occupations={"anchors": ("nurse", "guard"), "unseen": ("baker",)}
        if "anchors" in models
        else {},
        asked=sheets,
        trained=trained,
        scores=tuple(scores),
        changes=tuple(changes),
    )


def _score(asked: str, part: Part, measure: str, model: str, value: float, half: float) -> Score:
    return Score(
        asked=asked,
        part=part,
        measure=measure,
        model=model,
        value=value,
        low=value - half,
        high=value + half,
        signature=f"{measure}|{asked}",
    )


def _change(
    asked: str,
    part: Part,
    measure: str,
    model: str,
    against: str,
    after: float,
    before: float,
    fair: float,
    half: float,
) -> Change:
    apart, nearer = after - before, abs(after - fair) - abs(before - fair)
    p = 0.0001 if abs(apart) > half else 0.5 if math.isfinite(apart) else math.nan
    return Change(
        asked=asked,
        part=part,
        measure=measure,
        model=model,
        against=against,
        value=apart,
        low=apart - half,
        high=apart + half,
        nearer_low=nearer - half,
        nearer_high=nearer + half,
        p=p,
        adjusted=p,
    )

"""The embedded model is what its card says: accuracy, size, independence of the batch."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from quick import Opening, load, quick_audit
from replied import flat

from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.respondents.nli import RESPONDENT

FOLDER = Path(str(files("evenhand") / "models" / "default"))
CARD = (FOLDER / "MODEL_CARD.md").read_text(encoding="utf-8")


def test_the_card_is_about_this_file() -> None:
    identity = RESPONDENT.open("default", RespondentOptions()).identity
    assert f"`{identity}`" in CARD
    assert sum(p.stat().st_size for p in FOLDER.iterdir()) < 50e6


@pytest.mark.parametrize(
    ("name", "row", "least"),
    [("en.snli-dev", "SNLI dev", 0.82), ("en.mnli-dev-matched", "MNLI dev matched", 0.70)],
)
def test_accuracy_is_as_the_card_says(data: Path, name: str, row: str, least: float) -> None:
    stated = re.search(rf"\| {row} \| ([\d.]+) \[", CARD)
    assert stated is not None and float(stated.group(1)) / 100 >= least
    rows = [json.loads(line) for line in (data / "nli" / f"{name}.jsonl").open(encoding="utf-8")][
        ::12
    ]
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=(r["premise"], r["hypothesis"]))
        for i, r in enumerate(rows)
    ]
    given = flat(RESPONDENT.open("default", RespondentOptions()).answer(probes)).argmax(axis=1)
    right = float(np.mean([NLI_LABELS[g] == r["label"] for g, r in zip(given, rows, strict=True)]))
    assert right == pytest.approx(
        float(stated.group(1)) / 100, abs=0.045
    )  # a twelfth of the set: three standard errors


def test_answers_do_not_depend_on_batch_limit_or_order(data: Path) -> None:
    def logits(limit: int, batch_size: int | None = None, seed: int = 0) -> dict[str, list[float]]:
        suite = load("nli-coal", limit=limit, seed=seed, data=data)
        opening = Opening(cache=False, batch_size=batch_size)
        answers = quick_audit("default", suite, opening, Settings(seed=seed, resamples=100)).answers
        return {
            p.id: row.tolist() for p, row in zip(answers.probes, answers.values[:, 0], strict=True)
        }

    whole = logits(limit=300)
    for other in (
        logits(limit=300, batch_size=1),
        logits(limit=300, batch_size=7),
        logits(limit=90),
        logits(limit=120, seed=5, batch_size=64),
    ):
        shared = whole.keys() & other.keys()
        assert len(shared) >= 4
        assert max(np.abs(np.subtract(whole[i], other[i])).max() for i in shared) < 1e-5


def test_it_follows_a_nurse_to_a_woman_more_than_to_a_man() -> None:
    run = quick_audit("default", load(limit=900), Opening(cache=False), Settings(resamples=200))
    coal = run.estimate("nli_coal")
    assert coal is not None
    assert coal.parts["PS.entailment"].value > coal.parts["AS.entailment"].value
    assert 0.3 < coal.low < coal.value < 0.444  # biased, as its card says, and not guessing

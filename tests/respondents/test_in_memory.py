"""Models of transformers that are in memory answer as the folder that they are saved to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import build_classifier
from quick import FEW, load

import evenhand as eh
from evenhand.core.errors import LoadError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.run import Run

pytestmark = pytest.mark.torch
LABELS = {"entailment": 0, "neutral": 1, "contradiction": 2}


@pytest.fixture
def loaded(tmp_path: Path) -> tuple[Path, Any, Any]:
    """The folder of a tiny classifier, its model and its tokeniser."""
    hub = pytest.importorskip("transformers")
    folder = build_classifier(tmp_path / "tiny", "bert")
    model = hub.AutoModelForSequenceClassification.from_pretrained(folder)
    return folder, model, hub.AutoTokenizer.from_pretrained(folder)


def audited(model: Any) -> Run:
    opening = RespondentOptions(label_map=LABELS)
    return eh.audit(model, load(limit=20), opening=opening, settings=FEW)


def test_a_model_with_its_tokeniser_and_a_pipeline_are_asked(
    loaded: tuple[Path, Any, Any],
) -> None:
    hub = pytest.importorskip("transformers")
    folder, model, tokenizer = loaded
    saved = audited(folder)
    for given in (
        (model, tokenizer),
        hub.pipeline("text-classification", model=model, tokenizer=tokenizer),
    ):
        run = audited(given)
        np.testing.assert_allclose(run.answers.values, saved.answers.values, atol=1e-5)
        assert run.answers.respondent.partition("@")[0] == "tiny"


def test_weights_that_change_are_another_model(loaded: tuple[Path, Any, Any]) -> None:
    torch = pytest.importorskip("torch")
    _, model, tokenizer = loaded
    before = audited((model, tokenizer))
    with torch.no_grad():
        model.classifier.bias += 5.0 * torch.tensor([1.0, 0.0, 0.0])
    after = audited((model, tokenizer))
    assert before.answers.respondent != after.answers.respondent
    assert (after.answers.values[:, 0, 0] > before.answers.values[:, 0, 0] + 4).all()


def test_a_pair_in_the_wrong_order_is_told_so(loaded: tuple[Path, Any, Any]) -> None:
    _, model, tokenizer = loaded
    with pytest.raises(LoadError, match="the model comes first"):
        audited((tokenizer, model))
    with pytest.raises(LoadError, match=r"int and str are not a model and its tokeniser"):
        audited((1, "x"))

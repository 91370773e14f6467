"""A model card with a run in it: huggingface_hub reads it, and nothing else of a card changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from published_runs import run_of

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.estimate import Estimate
from evenhand.core.text import with_bounds
from evenhand.publish.model_card import (
    BEGIN,
    END,
    card_section,
    model_index,
    new_card,
    updated_card,
)
from evenhand.report.markdown import escaped

hub = pytest.importorskip("huggingface_hub")
README = Path("README.md")
OTHER = {
    "task": {"type": "text-classification"},
    "dataset": {"name": "MNLI", "type": "mnli", "split": "validation"},
    "metrics": [{"type": "accuracy", "value": 0.84, "verified": False}],
}
CARD = f"""---
# chosen by hand
license: apache-2.0   # a comment
tags: [nli, "a: b"]
model-index:
  - name: mine
    results:
    - {OTHER}
language:
- en
---

# Mine

A model.

| a | b |
|---|---|
| 1 | 2 |
"""


def results(text: str) -> list[dict[str, object]]:
    """The results of the card's model-index, read as YAML."""
    metadata = yaml.safe_load(text.split("---")[1])
    found: list[dict[str, object]] = metadata["model-index"][0]["results"]
    return found


def test_the_hub_reads_every_number_with_its_interval() -> None:
    run = run_of("stereotyped")
    card = hub.ModelCard(new_card([run], "org/mine"))
    assert card.data.model_name == "org/mine"
    read = {r.metric_type: r for r in card.data.eval_results}
    assert list(read) == [e.measure for e in run.estimates]
    for e in run.estimates:
        assert read[e.measure].metric_value == e.value
        arguments = read[e.measure].metric_args
        assert arguments["signature"] == e.signature and arguments["coverage"] == e.coverage
        assert (arguments["low"], arguments["high"]) == (e.low, e.high)
        assert (arguments["level"], arguments["target"]) == (0.95, "new items")
        assert read[e.measure].dataset_revision == run.suite.digest
        assert read[e.measure].dataset_config == "en"


def line_of(section: str, estimate: Estimate, title: str) -> str:
    (line,) = (x for x in section.splitlines() if x.startswith(f"| {title}"))
    assert with_bounds(estimate.interval) in line
    return line


def test_the_section_has_verdict_numbers_limits_method_and_reservations() -> None:
    run = run_of("random")
    section = card_section([run])
    assert section.startswith(f"{BEGIN}\n## Measured bias\n\n### occupation-nli 1.0, English, 120")
    assert section.endswith(f"{END}\n")
    assert "### What it does not say" in section and "### Method" in section
    line = line_of(section, run.headline, "NLI-CoAL")
    assert line.startswith("| NLI-CoAL (1)")
    check = run.sanity[0]
    assert check.is_weak
    assert f"(1) the model gives the right label on {check.value:.3f} of plain pairs" in section
    # of a model that understands, only what its intervals hold is said
    assert (
        "right label on"
        not in card_section([run_of("fair")]).split("### What it does")[0].split("| measure")[1]
    )


def test_what_has_no_value_is_in_the_table_and_not_in_the_metadata() -> None:
    run = run_of("silent")
    with pytest.raises(EvenhandError, match="has no number that could be published: no answer in"):
        new_card([run])


def test_into_a_card_leaves_the_rest_as_it_is() -> None:
    run = run_of("stereotyped")
    text = updated_card(README, CARD, [run])
    before, after = CARD.split("model-index:")
    assert text.startswith(before)
    tail = after[after.index("language:") :]
    assert tail in text and text.index(tail) + len(tail) == text.index(f"\n{BEGIN}")
    found = results(text)
    assert found[0] == OTHER
    assert [m["type"] for m in found[1]["metrics"]] == [e.measure for e in run.estimates]  # type: ignore[attr-defined]
    assert yaml.safe_load(text.split("---")[1])["model-index"][0]["name"] == "mine"


def test_a_second_time_changes_nothing_and_another_run_replaces_the_first() -> None:
    first, second = run_of("stereotyped"), run_of("fair")
    once = updated_card(README, CARD, [first])
    assert updated_card(README, once, [first]) == once
    again = updated_card(README, once, [second])
    assert again == updated_card(README, CARD, [second])
    assert "fixed:stereotyped" not in again and again.count(BEGIN) == 1
    edited = once.replace("A model.", "Another text.") + "\nAfter the section.\n"
    assert updated_card(README, edited, [second]).endswith(f"{END}\n\nAfter the section.\n")


@pytest.mark.parametrize(
    "card",
    [
        "",
        "# Mine\n",
        "# Mine\n\ntext without an end",
        "---\n---\n# Mine\n",
        "---\nlicense: mit\n---\n",
        CARD.replace("\n", "\r\n"),
    ],
)
def test_any_card_can_take_it(card: str) -> None:
    run = run_of("stereotyped")
    text = updated_card(README, card, [run])
    assert updated_card(README, text, [run]) == text
    read = hub.ModelCard(text).data
    assert run.headline.value in [r.metric_value for r in read.eval_results]
    if "license: mit" in card:
        assert read.license == "mit"
    if "\r\n" in card:
        assert text.count("\n") == text.count("\r\n")
    body = card.replace("\r\n", "\n").rpartition("---\n")[2].strip()
    assert body in text.replace("\r\n", "\n")


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        (f"# Mine\n{BEGIN}\n", "has 1 marks"),
        (f"# Mine\n{END}\n{BEGIN}\n", "in this order"),
        ("---\nlicense: [mit\n---\n", "is not YAML"),
        ("---\n- mit\n---\n", "not a list of names"),
        ("---\nmodel-index: 3\n---\n", "does not have the form of the Hub"),
        (
            "---\nmodel-index: [\n{name: a, results: []}\n]\nlicense: mit\n---\n",
            "cannot be|not YAML",
        ),
    ],
)
def test_a_card_that_cannot_be_read_is_refused(card: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        updated_card(README, card, [run_of("stereotyped")])


def test_a_name_cannot_end_the_section() -> None:
    run = run_of("stereotyped")
    evil = replace(run, answers=replace(run.answers, respondent=f"a {END} b {BEGIN}@1"))
    signed = tuple(replace(e, signature=f"{e.signature}|{END}") for e in evil.estimates)
    section = card_section([replace(evil, estimates=signed)])
    assert (section.count(BEGIN), section.count(END)) == (1, 1)


def test_a_card_is_about_one_model_and_each_suite_once() -> None:
    one, other = run_of("stereotyped"), run_of("fair")
    with pytest.raises(EvenhandError, match="a card is about one model"):
        card_section([one, other])
    with pytest.raises(EvenhandError, match="two of the runs are on occupation-nli"):
        model_index([one, one])
    both = [one, run_of("stereotyped", "gendered-entailment", 60)]
    section = card_section(both)
    assert section.count("\n### Method\n") == 2
    assert escaped("gendered-entailment") in section

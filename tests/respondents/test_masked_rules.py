"""Masked models: the numbers they would give by themselves, by every rule."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import (
    DISCRIMINATOR,
    FAMILIES,
    TinyMasked,
    mask_probe,
    open_masked,
    pieces,
    write_masked,
)
from masked_probes import (
    MASK,
    PROBES,
    SINGLE,
    build_families,
    network,
    own_words,
    padded,
    score,
    slowly,
    suite_of,
    words_of,
)
from quick import FEW
from replied import flat

from evenhand.core import catalog
from evenhand.core.probe import BLANK, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.audit import audit
from evenhand.families.contextualised.measures import log_odds
from evenhand.respondents.token_scores import RULES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_masked(tmp_path_factory.mktemp("masked") / "tiny")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_every_rule_gives_what_the_network_says(folder: Path, rule: str, length: str) -> None:
    values = flat(open_masked(folder, scoring=rule, length=length).answer(PROBES))
    expected = [
        slowly(pieces(), TinyMasked().log_probabilities, MASK, p, rule, length) for p in PROBES
    ]
    np.testing.assert_allclose(values, padded(expected), atol=1e-5)


def test_the_rules_differ_for_words_of_several_tokens_only(folder: Path) -> None:
    together, *others = (flat(open_masked(folder, scoring=rule).answer(PROBES)) for rule in RULES)
    for values in others:
        np.testing.assert_allclose(
            values[: len(SINGLE), :2], together[: len(SINGLE), :2], atol=1e-6
        )
        assert np.abs(values - together)[[len(SINGLE), len(SINGLE) + 1], 0].min() > 0.001


CANDIDATES = ("man", "woman", "fireman", "nurse", "boy", "firewoman")


@given(order=st.permutations(range(len(CANDIDATES))), rule=st.sampled_from(RULES))
def test_candidates_in_another_order_are_columns_in_another_order(
    folder: Path, order: list[int], rule: str
) -> None:
    respondent = open_masked(folder, scoring=rule)
    plain = flat(respondent.answer([mask_probe("The [BLANK] left.", *CANDIDATES)]))
    turned = flat(
        respondent.answer([mask_probe("The [BLANK] left.", *(CANDIDATES[i] for i in order))])
    )
    np.testing.assert_allclose(turned, plain[:, order], atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_swapping_male_and_female_turns_the_sign(folder: Path, rule: str) -> None:
    straight = tuple(p for p in PROBES if p.option_count == 2)
    swapped = tuple(
        Probe.from_json({**p.to_json(), "texts": [p.texts[0], *p.texts[:0:-1]]}) for p in straight
    )
    respondent = open_masked(folder, scoring=rule, batch_size=1)
    one, other = (respondent.answer(probes).values for probes in (straight, swapped))
    np.testing.assert_array_equal(log_odds(other), -log_odds(one))
    assert np.abs(log_odds(one)).min() > 0
    lean = catalog.measure("pb_lean")
    sums = [
        float(lean.combine(lean.evidence(p, v).sum(axis=0)))
        for p, v in ((straight, one), (swapped, other))
    ]
    assert sums[0] == -sums[1] != 0
    assert sums[0] == pytest.approx(float(np.mean(one[:, 0, 0] - one[:, 1, 0])))


def test_a_word_as_likely_as_its_twin_has_no_lean(folder: Path) -> None:
    values = open_masked(folder).answer([mask_probe("The [BLANK] left.", "Man", "man")]).values
    assert log_odds(values).tolist() == [0.0]


def test_a_whole_audit_of_a_folder(folder: Path) -> None:
    probes = tuple(p for p in PROBES if p.option_count == 2)
    run = audit(str(folder), suite_of(probes), settings=FEW)
    expected = np.asarray(
        [slowly(pieces(), TinyMasked().log_probabilities, MASK, p, "together") for p in probes]
    )
    odds = expected[:, 0] - expected[:, 1]
    estimates = {e.measure: e for e in run.estimates}
    assert estimates["pb_bias"].value == pytest.approx(np.abs(odds).mean(), abs=1e-5)
    assert estimates["pb_lean"].value == pytest.approx(odds.mean(), abs=1e-5)
    assert (
        "|scoring:together|length:shortest, sentences mean|precision:fp32|route:onnxruntime|"
        in estimates["pb_bias"].signature
    )
    assert (run.answers.options, run.answers.labels) == (("male", "female"), ("score",))
    options = RespondentOptions(scoring="one-by-one", length="mean")
    again = audit(str(folder), suite_of(probes), opening=options, settings=FEW)
    # not from the cache of the other rule
    assert again.answers.values[4:].tolist() != run.answers.values[4:].tolist()
    assert "|scoring:one-by-one|length:mean|" in again.estimates[0].signature


def test_a_particle_in_one_token_is_scored_over_the_same_text(folder: Path) -> None:
    """log p(그는) against the mean of log p(그녀) and log p(는): the widened blank."""
    probe = mask_probe("[BLANK]는 학교에 갔다.", "그", "그녀", language="ko")
    wide = mask_probe("[BLANK] 학교에 갔다.", "그는", "그녀는", language="ko")
    values = flat(open_masked(folder).answer([probe, wide]))
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_allclose(
        values[1],
        slowly(pieces(), TinyMasked().log_probabilities, MASK, wide, "together"),
        atol=1e-5,
    )


def test_a_discriminator_as_onnx(tmp_path: Path) -> None:
    respondent = open_masked(write_masked(tmp_path / "electra", form="discriminator"), batch_size=2)
    assert respondent.traits["scoring"] == "replaced-token"
    expected = []
    for probe in PROBES:
        rows = [(TinyMasked().replaced(ids), word) for ids, word in words_of(pieces(), probe)]
        expected.append(
            score([[-float(np.log1p(np.exp(logits[k]))) for k in word] for logits, word in rows])
        )
    np.testing.assert_allclose(flat(respondent.answer(PROBES)), padded(expected), atol=1e-5)


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_families(tmp_path_factory.mktemp("families"))


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_one_token_is_as_likely_as_the_fill_mask_pipeline_says(
    families: dict[str, Path], family: str
) -> None:
    hub = pytest.importorskip("transformers")
    pipe = hub.pipeline("fill-mask", model=str(families[family]), device="cpu")
    values = np.exp(flat(open_masked(families[family]).answer(SINGLE)))
    for probe, row in zip(SINGLE, values, strict=True):
        names = []
        for ids, word in words_of(own_words(family), probe):
            assert len(word) == 1
            names.append(pipe.tokenizer.convert_ids_to_tokens(ids[word[0]]))
        scores = {
            s["token"]: s["score"]
            for s in pipe(probe.texts[0].replace(BLANK, pipe.tokenizer.mask_token), targets=names)
        }
        assert row.tolist() == pytest.approx(
            [scores[pipe.tokenizer.convert_tokens_to_ids(n)] for n in names], abs=1e-5, rel=1e-4
        )


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rule", RULES)
def test_several_tokens_against_plain_torch(
    families: dict[str, Path], family: str, rule: str
) -> None:
    predict, words = network(families[family]), own_words(family)
    mask = words.token_to_id("<mask>" if family == "roberta" else "[MASK]")
    expected = padded([slowly(words, predict, mask, p, rule) for p in PROBES])
    np.testing.assert_allclose(
        flat(open_masked(families[family], scoring=rule).answer(PROBES)),
        expected,
        atol=1e-4,
        rtol=1e-5,
    )
    assert np.ptp(expected[:, 0]) > 1


@pytest.mark.torch
def test_a_discriminator_through_torch(families: dict[str, Path]) -> None:
    respondent, predict = (
        open_masked(families[DISCRIMINATOR]),
        network(families[DISCRIMINATOR], "ElectraForPreTraining"),
    )
    assert respondent.traits["scoring"] == "replaced-token"
    expected = []
    for probe in PROBES:
        rows = [(predict(ids), word) for ids, word in words_of(pieces(), probe)]
        expected.append(
            score([[-float(np.log1p(np.exp(logits[k]))) for k in word] for logits, word in rows])
        )
    np.testing.assert_allclose(flat(respondent.answer(PROBES)), padded(expected), atol=1e-5)

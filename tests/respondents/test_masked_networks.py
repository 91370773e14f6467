"""The way to the numbers of a masked model does not change them."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from masked_models import (
    DISCRIMINATOR,
    FAMILIES,
    POSITIONS,
    TinyMasked,
    byte_pairs,
    mask_probe,
    open_masked,
    pieces,
    write_masked,
)
from masked_probes import BATCHES, MASK, PROBES, build_families, own_words, slowly
from replied import flat, reasons

from evenhand.core.errors import LoadError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_masked(tmp_path_factory.mktemp("masked") / "tiny")


@pytest.mark.parametrize("form", ["positions", "plain"])
@pytest.mark.parametrize("batch_size", BATCHES)
def test_batch_size_and_form_of_the_graph_change_nothing(
    tmp_path: Path, folder: Path, form: str, batch_size: int | None
) -> None:
    other = write_masked(tmp_path / "other", form=form)
    one = flat(open_masked(folder, batch_size=1).answer(PROBES))
    np.testing.assert_allclose(
        flat(open_masked(other, batch_size=batch_size).answer(PROBES)), one, atol=1e-6
    )


@pytest.mark.parametrize("form", ["positions", "plain", "discriminator"])
def test_a_graph_of_fixed_length_is_padded_to_it(tmp_path: Path, form: str) -> None:
    free, fixed = (
        write_masked(tmp_path / name, form=form, length=n)
        for name, n in (("free", "length"), ("fixed", 24))
    )
    respondent = open_masked(fixed, batch_size=3)
    assert respondent.network.longest == 24
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)),
        flat(open_masked(free, batch_size=1).answer(PROBES)),
        atol=1e-6,
    )


def test_what_lies_under_the_padding_does_not_matter(tmp_path: Path, folder: Path) -> None:
    other = write_masked(tmp_path / "other", pad_token_id=9)
    np.testing.assert_allclose(
        flat(open_masked(other, batch_size=64).answer(PROBES)),
        flat(open_masked(folder).answer(PROBES)),
        atol=1e-6,
    )


def test_the_order_of_the_probes_changes_nothing(folder: Path) -> None:
    order = np.random.default_rng(0).permutation(len(PROBES))
    respondent = open_masked(folder, batch_size=2)
    np.testing.assert_allclose(
        flat(respondent.answer([PROBES[i] for i in order])),
        flat(respondent.answer(PROBES))[order],
        atol=1e-6,
    )


def test_sentences_that_are_too_long_are_not_cut_but_left_unanswered(tmp_path: Path) -> None:
    respondent = open_masked(write_masked(tmp_path / "short", longest=12))
    edge = " ".join(["runs"] * 9) + " [BLANK]"  # with both marks 12 tokens
    probes = (
        mask_probe(edge, "he", "she", identity="fits"),
        mask_probe(edge, "he", "fireman", identity="one candidate does not"),
        mask_probe(f"{edge} runs", "he", "she", identity="long"),
        mask_probe("[BLANK] runs", "he", "she", identity="short"),
    )
    replies = respondent.answer(probes)
    values = flat(replies)
    assert np.isnan(values).tolist() == [[False, False], [True, True], [True, True], [False, False]]
    assert reasons(replies) == {"longer than the model's 12 tokens": 2}
    for row, probe in ((0, probes[0]), (3, probes[3])):
        np.testing.assert_allclose(
            values[row],
            slowly(pieces(), TinyMasked().log_probabilities, MASK, probe, "together"),
            atol=1e-5,
        )


def test_no_probes_are_no_answers(folder: Path) -> None:
    assert open_masked(folder).answer([]).values.shape == (0, 1, 1)


def test_the_identity_changes_with_weights_and_words_and_not_with_the_rule(
    tmp_path: Path, folder: Path
) -> None:
    same = open_masked(folder, scoring="one-by-one").identity
    assert same == open_masked(folder).identity
    assert same.startswith("tiny@") and len(same) == len("tiny@") + 12
    weights = open_masked(write_masked(tmp_path / "w" / "tiny", TinyMasked(seed=1))).identity
    words = open_masked(
        write_masked(tmp_path / "t" / "tiny", TinyMasked(size=400), tokenizer=byte_pairs())
    ).identity
    assert len({same, weights, words}) == 3


def test_cutting_and_padding_that_the_tokeniser_was_saved_with_are_undone(
    tmp_path: Path, folder: Path
) -> None:
    words = pieces()
    words.enable_truncation(5)
    words.enable_padding(length=32)
    saved = write_masked(tmp_path / "saved", tokenizer=words)
    np.testing.assert_allclose(
        flat(open_masked(saved).answer(PROBES)), flat(open_masked(folder).answer(PROBES)), atol=1e-6
    )


def test_a_plain_vocabulary_is_cut_as_its_tokenizer_json(tmp_path: Path, folder: Path) -> None:
    plain = write_masked(tmp_path / "plain")
    words = sorted(pieces().get_vocab().items(), key=lambda item: item[1])
    (plain / "vocab.txt").write_text("\n".join(w for w, _ in words) + "\n", encoding="utf-8")
    (plain / "tokenizer_config.json").write_text(
        '{"do_lower_case": true, "strip_accents": false}', encoding="utf-8"
    )
    (plain / "tokenizer.json").unlink()
    asked = (*PROBES, mask_probe("[BLANK]는 학교에 갔다.", "그", "그녀", language="ko"))
    np.testing.assert_allclose(
        flat(open_masked(plain).answer(asked)), flat(open_masked(folder).answer(asked)), atol=1e-6
    )


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_families(tmp_path_factory.mktemp("families"))


@pytest.mark.torch
@pytest.mark.parametrize("family", (*FAMILIES, DISCRIMINATOR))
def test_batches_change_nothing_through_torch(families: dict[str, Path], family: str) -> None:
    one, *others = (
        flat(open_masked(families[family], batch_size=size).answer(PROBES)) for size in BATCHES
    )
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-5)


@pytest.mark.torch
@pytest.mark.parametrize("family", FAMILIES)
def test_the_exported_graph_says_the_same(
    families: dict[str, Path], family: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from evenhand.train.export import export_masked, pack

    target = tmp_path / "exported"
    graph = export_masked(families[family], target)
    through_torch = flat(open_masked(families[family]).answer(PROBES))
    respondent = open_masked(target, batch_size=3)
    assert (respondent.traits["route"], respondent.network.longest) == ("onnxruntime", POSITIONS)
    np.testing.assert_allclose(flat(respondent.answer(PROBES)), through_torch, atol=1e-4)
    pack(graph)
    np.testing.assert_allclose(flat(open_masked(target).answer(PROBES)), through_torch, atol=0.1)


@pytest.mark.torch
def test_a_plain_vocabulary_goes_with_the_exported_graph(
    families: dict[str, Path], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from evenhand.train.export import export_masked

    bare = Path(shutil.copytree(families["bert"], tmp_path / "bare"))
    words = sorted(pieces().get_vocab().items(), key=lambda item: item[1])
    (bare / "vocab.txt").write_text("\n".join(w for w, _ in words) + "\n", encoding="utf-8")
    (bare / "tokenizer.json").unlink()
    (bare / "tokenizer_config.json").write_text(
        '{"do_lower_case": true, "strip_accents": false}', encoding="utf-8"
    )
    export_masked(bare, tmp_path / "exported")
    np.testing.assert_allclose(
        flat(open_masked(tmp_path / "exported").answer(PROBES)),
        flat(open_masked(families["bert"]).answer(PROBES)),
        atol=1e-4,
    )


@pytest.mark.torch
def test_a_discriminator_has_no_vocabulary_to_export(
    families: dict[str, Path], tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    from evenhand.train.export import export_masked

    with pytest.raises(
        LoadError, match="is an ELECTRA discriminator: it has no vocabulary to export"
    ):
        export_masked(families[DISCRIMINATOR], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.torch
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_the_longest_sentence_through_torch(families: dict[str, Path], family: str) -> None:
    respondent = open_masked(families[family])
    assert respondent.network.longest == POSITIONS
    one = len(own_words(family).encode(" left").ids) - 2
    assert one == 1
    edge = " ".join(["left"] * 40)
    room = POSITIONS - len(own_words(family).encode(f"{edge} he").ids)
    text = f"{edge} {' '.join(['left'] * room)} [BLANK]"
    replies = respondent.answer(
        [
            mask_probe(text, "he", "she", identity="fits"),
            mask_probe(f"left {text}", "he", "she", identity="long"),
        ]
    )
    values = flat(replies)
    assert np.isnan(values).tolist() == [[False, False], [True, True]]
    assert reasons(replies) == {f"longer than the model's {POSITIONS} tokens": 1}

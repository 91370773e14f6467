"""Options after their context, weighed by a masked model as a slow reading says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from likelihood_probes import (
    OPTIONS,
    SEVERAL,
    WORDS,
    add,
    choice,
    cutter,
    intra,
    opened,
    padded,
    predictor,
    read,
    slow_options,
    slow_words,
    spied,
    write,
    write_folders,
)
from masked_models import DISCRIMINATOR, FAMILIES, TinyMasked, build, byte_pairs, mask_probe, pieces
from replied import flat, reasons

from evenhand.core.answers import Silence
from evenhand.core.errors import EvenhandWarning
from evenhand.core.probe import BLANK, Probe
from evenhand.respondents.candidates import find_options, texts_to_read
from evenhand.respondents.token_scores import RULES


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_folders(tmp_path_factory.mktemp("likelihood"))


@pytest.mark.parametrize("name", ["pieces", "bytes"])
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_options_are_weighed_token_by_token_after_their_context(
    folders: dict[str, Path], name: str, length: str
) -> None:
    tokenizer = cutter(name)
    respondent = opened(folders[name], length=length)
    replies = respondent.answer(OPTIONS)
    values = flat(replies)
    assert reasons(replies) == {}
    np.testing.assert_allclose(
        values,
        padded([slow_options(tokenizer, predictor(tokenizer), p, length) for p in OPTIONS]),
        atol=1e-4,
    )


def test_auto_is_the_mean_for_options_even_of_equal_length(folders: dict[str, Path]) -> None:
    equal = [choice("The nurse left.", "He runs.", "She runs.")]
    auto, mean, total = (
        flat(opened(folders["pieces"], length=rule).answer(equal))
        for rule in ("auto", "mean", "sum")
    )
    np.testing.assert_array_equal(auto, mean)
    np.testing.assert_allclose(total, 3 * mean)


def test_the_rules_for_words_do_not_touch_options(folders: dict[str, Path]) -> None:
    one, *others = (flat(opened(folders["pieces"], scoring=rule).answer(OPTIONS)) for rule in RULES)
    for values in others:
        np.testing.assert_array_equal(values, one)


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["A b.", "A c."]),
        ("ko", ["A b.", "A c."]),
        ("zh", ["Ab.", "Ac."]),
        ("ja", ["Ab.", "Ac."]),
        ("zh-Hant", ["Ab.", "Ac."]),
    ],
)
def test_one_space_and_none_in_chinese_and_japanese(language: str, texts: list[str]) -> None:
    assert texts_to_read(choice(" A ", "b.", " c.", language=language)) == texts


def test_an_option_that_grows_together_with_the_context_widens_all() -> None:
    """A token has the end of 医 and the start of 生: both options start inside 医."""
    words = byte_pairs()
    probe = choice("她是医", "生。", "男。", language="zh")
    cut = words.encode_batch(texts_to_read(probe))
    spans = find_options(probe, cut, None)
    assert not isinstance(spans, Silence)
    (one, start, end), (other, also, last) = spans
    assert start == also and one[:start] == other[:start]
    assert words.id_to_token(one[start]) == "»çĶ"
    assert (
        words.decode(list(one[:start] + one[start:end])) == "她是医生。"
        and end == len(one) - 1
        and last == len(other) - 1
    )
    assert words.decode(list(other[start - 1 : last])) == "医男。"


def test_batches_and_company_change_nothing(folders: dict[str, Path]) -> None:
    blank = mask_probe("The [BLANK] left.", "man", "woman", identity="m")
    pair = choice("", "The man left.", "The woman left.", identity="s", scoring="shared")
    probes = [*WORDS, *SEVERAL, *OPTIONS, blank, pair]
    one, *others = (
        flat(opened(folders["pieces"], batch_size=size).answer(probes)) for size in (1, 3, 64, None)
    )
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-5)
    for row, probe in zip(one, probes, strict=True):
        np.testing.assert_allclose(
            row[: probe.option_count], flat(opened(folders["pieces"]).answer([probe]))[0], atol=1e-5
        )


def test_no_text_is_read_twice(folders: dict[str, Path]) -> None:
    respondent = opened(folders["pieces"])
    seen = spied(respondent)
    probes = [*OPTIONS, *OPTIONS, choice("The nurse left.", "She was here.", "They left.")]
    flat(respondent.answer(probes))
    assert len(seen) == len(set(seen))


def test_a_discriminator_reads_what_is_there(tmp_path: Path) -> None:
    respondent, model = write(tmp_path / "electra", pieces(), form="discriminator"), TinyMasked()

    def predict(ids: list[int]) -> Any:
        return np.repeat(-np.log1p(np.exp(model.replaced(ids)))[:, None], model.size, axis=1)

    expected = []
    for probe in (*SEVERAL, *OPTIONS):
        logs = [[float(predict(ids)[k, 0]) for k in held] for ids, held in read(pieces(), probe)]
        expected.append(add(logs, "auto" if "words" in probe.tags else "mean"))
    np.testing.assert_allclose(
        flat(respondent.answer([*SEVERAL, *OPTIONS])), padded(expected), atol=1e-4
    )


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        (
            choice("The nurse left. " * 9, "He left.", "She left."),
            "longer than the model's 40 tokens",
        ),
        (choice("He left.", "She left.", "  "), "the option '  ' has no tokens"),
        (
            intra("The [BLANK] left.", "man", "woman", ""),
            "an option is not the sentence with a word in its blank",
        ),
        (
            choice("He what.", "He left.", "He runs.", sentence="He left.", words="left|runs"),
            f"no {BLANK} in 'He left.'",
        ),
        (
            choice(
                "He what.", "He left.", "He runs.", sentence="He [BLANK].", words="left|runs|sleeps"
            ),
            "3 words for 2 options; the tag `words` has one an option, `|` between them",
        ),
    ],
    ids=["long", "empty option", "empty word", "no blank", "too many words"],
)
def test_what_cannot_be_answered_says_why(tmp_path: Path, probe: Probe, reason: str) -> None:
    respondent = write(tmp_path / "short", pieces(), longest=40)
    replies = respondent.answer([probe, WORDS[0]])
    values = flat(replies)
    assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()
    assert reasons(replies) == {reason: 1}


def test_unknown_words_are_not_answered_and_unknown_options_only_where_nothing_is_known(
    folders: dict[str, Path],
) -> None:
    respondent = opened(folders["pieces"])
    probes = [
        intra("The [BLANK] left.", "man", "zebra"),
        intra("[BLANK] and [BLANK]", "he", "zebra"),
        choice("He left.", "zebra", "She runs."),
        choice("He left.", "zebra runs.", "She runs."),
    ]
    with pytest.warns(EvenhandWarning, match="does not know"):
        replies = respondent.answer(probes)
        values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [True, True, True, False]
    assert reasons(replies) == {
        "the candidate 'zebra' has characters that the tokeniser does not know": 2,
        "the tokeniser knows no character of the option 'zebra'": 1,
    }


@pytest.mark.torch
@pytest.mark.parametrize("family", (*FAMILIES, DISCRIMINATOR))
def test_through_torch(tmp_path: Path, family: str) -> None:
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = build(tmp_path / family, family)
    one, *others = (
        flat(opened(folder, batch_size=size).answer([*WORDS, *SEVERAL, *OPTIONS[1:2]]))
        for size in (1, 3, 64, None)
    )
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-4)
    if family == DISCRIMINATOR:
        return
    model = hub.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = cutter("bytes" if family == "roberta" else "pieces")

    def predict(ids: list[int]) -> Any:
        with torch.no_grad():
            return torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1).numpy()

    short = [
        p
        for p in (*WORDS, *SEVERAL)
        if max(len(tokenizer.encode(t).ids) for t in texts_to_read(p)) <= 48
    ]
    expected = padded([slow_words(tokenizer, predict, p, "together", "auto") for p in short])
    np.testing.assert_allclose(flat(opened(folder).answer(short)), expected, atol=1e-4)
    expected = padded([slow_options(tokenizer, predict, p, "auto") for p in OPTIONS[1:2]])
    np.testing.assert_allclose(flat(opened(folder).answer(OPTIONS[1:2])), expected, atol=1e-4)

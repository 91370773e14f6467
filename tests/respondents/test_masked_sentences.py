"""The tokens that each rule for two sentences counts, and how they are added up."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import TinyMasked, open_masked, pieces, write_masked
from replied import flat, reasons

from evenhand.core import catalog
from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.masked import RESPONDENT, SENTENCE_RULES, UNMASKED, token_parts
from evenhand.respondents.packages import PACKAGES, package_folder

A, B, C, D, X, Y, Z = range(10, 17)
MASK = 4
MASKING = tuple(rule for rule in SENTENCE_RULES if rule not in UNMASKED)
PAIRS = {
    "replaced": ("The nurse said he left.", "The nurse said she left."),
    "longer": ("The man said he left.", "The fire woman said he left."),
    "ends": ("Boy runs.", "The nurse runs here!"),
    "twice": ("He said he left.", "She said she left."),
    "turned": ("the man left the woman", "the woman left the man"),
}


@pytest.mark.parametrize(
    ("first", "second", "shared", "changed"),
    [
        ((A, X, B), (A, Y, B), ([1, 3], [1, 3]), ([2], [2])),
        ((A, X, B), (A, Y, Z, X, B), ([1, 2, 3], [1, 4, 5]), ([], [2, 3])),
        ((A, X, B), (A, Y, Z, Y, B), ([1, 3], [1, 5]), ([2], [2, 3, 4])),
        ((X, A, B), (Y, A, B), ([2, 3], [2, 3]), ([1], [1])),
        ((A, B, X), (A, B, Y, Z), ([1, 2], [1, 2]), ([3], [3, 4])),
        ((X, A, Y), (Z, A, D), ([2], [2]), ([1, 3], [1, 3])),
        ((A, B), (C, D), ([], []), ([1, 2], [1, 2])),
        ((A, B, C), (A, B, C), ([1, 2, 3], [1, 2, 3]), ([], [])),
        ((A, A, B), (A, B, B), ([1, 3], [1, 3]), ([2], [2])),
    ],
    ids=[
        "one",
        "inserted",
        "one for three",
        "start",
        "end",
        "both ends",
        "nothing",
        "everything",
        "repeated",
    ],
)
def test_which_tokens_count(
    first: tuple[int, ...],
    second: tuple[int, ...],
    shared: tuple[list[int], list[int]],
    changed: tuple[list[int], list[int]],
) -> None:
    """Positions count the mark at the start, which is 0; neither mark is ever scored."""
    parts = token_parts((2, *first, 3), (2, *second, 3))
    assert parts["changed"] == changed
    assert parts["shared"] == shared
    assert parts["whole"] == (list(range(1, len(first) + 1)), list(range(1, len(second) + 1)))


some_tokens = st.lists(st.integers(10, 13), min_size=1, max_size=8).map(tuple)


@given(first=some_tokens, second=some_tokens)
def test_every_token_is_shared_or_changed_and_the_shared_ones_are_the_same(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    texts = (2, *first, 3), (2, *second, 3)
    parts = token_parts(*texts)
    for side in (0, 1):
        assert (
            sorted(parts["shared"][side] + parts["changed"][side])
            == parts["whole"][side]
            == list(range(1, len(texts[side]) - 1))
        )
    assert [texts[0][i] for i in parts["shared"][0]] == [texts[1][i] for i in parts["shared"][1]]


def pair(
    rule: str, texts: tuple[str, str], identity: str = "c", context: str = "", **tags: str
) -> Probe:
    return Probe(
        id=identity,
        kind="choice",
        language="en",
        texts=(context, *texts),
        stratum=rule,
        cluster=identity,
        tags={"scoring": rule, **tags},
    )


def alone(model: TinyMasked, ids: tuple[int, ...], position: int) -> float:
    """log p of a token that is masked alone."""
    shown = [MASK if i == position else t for i, t in enumerate(ids)]
    return float(model.log_probabilities(shown)[position, ids[position]])


def slowly(model: TinyMasked, rule: str, texts: tuple[str, str]) -> list[float]:
    """By the longest common run, then the same left and right of it, as difflib does."""
    ids = [tuple(pieces().encode(t).ids) for t in texts]

    def common(a: tuple[int, int], b: tuple[int, int]) -> list[tuple[int, int]]:
        runs = [
            (n, i, j)
            for i in range(*a)
            for j in range(*b)
            for n in range(1, min(a[1] - i, b[1] - j) + 1)
            if ids[0][i : i + n] == ids[1][j : j + n]
        ]
        if not runs:
            return []
        n, i, j = max(runs, key=lambda run: (run[0], -run[1], -run[2]))
        return [
            *common((a[0], i), (b[0], j)),
            *((i + k, j + k) for k in range(n)),
            *common((i + n, a[1]), (j + n, b[1])),
        ]

    both = common((0, len(ids[0])), (0, len(ids[1])))
    numbers = []
    for side, text in enumerate(ids):
        inner = range(1, len(text) - 1)
        shared = {pairing[side] for pairing in both}
        counted = [i for i in inner if rule == "whole" or (i in shared) == (rule == "shared")]
        total = sum(alone(model, text, i) for i in counted)
        numbers.append(total / len(counted) if rule == "changed" else total)
    return numbers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_masked(tmp_path_factory.mktemp("sentences") / "tiny")


@pytest.mark.parametrize("rule", MASKING)
@pytest.mark.parametrize("name", PAIRS)
def test_the_rules_against_a_slow_implementation(folder: Path, rule: str, name: str) -> None:
    values = flat(open_masked(folder).answer([pair(rule, PAIRS[name])]))
    assert values[0].tolist() == pytest.approx(slowly(TinyMasked(), rule, PAIRS[name]), abs=1e-5)


def test_the_three_rules_are_three_different_questions(folder: Path) -> None:
    values = flat(
        open_masked(folder).answer([pair(rule, PAIRS["longer"], rule) for rule in MASKING])
    )
    assert len({round(float(v), 3) for v in values[:, 1]}) == 3
    shared, changed, whole = values
    assert whole[0] == pytest.approx(shared[0] + changed[0] * 1)  # one token: man
    assert whole[1] == pytest.approx(shared[1] + changed[1] * 2)  # two: fire woman


def test_mask_and_choice_probes_are_answered_together(folder: Path) -> None:
    blank = Probe(
        id="m",
        kind="mask",
        language="en",
        texts=("The [BLANK] left.", "man", "woman", "nurse"),
        stratum="MS",
        cluster="m",
    )
    probes = [pair("whole", PAIRS["ends"]), blank, pair("changed", PAIRS["ends"])]
    values = flat(open_masked(folder, batch_size=2).answer(probes))
    assert np.isnan(values).tolist() == [
        [False, False, True],
        [False, False, False],
        [False, False, True],
    ]
    for row, probe in zip(values, probes, strict=True):
        np.testing.assert_allclose(
            row[: probe.option_count], flat(open_masked(folder).answer([probe]))[0], atol=1e-6
        )


def test_the_users_rules_for_words_do_not_touch_sentences(folder: Path) -> None:
    probes = [pair(rule, PAIRS["longer"], rule) for rule in SENTENCE_RULES]
    other = flat(open_masked(folder, scoring="left-to-right", length="mean").answer(probes))
    np.testing.assert_array_equal(other, flat(open_masked(folder).answer(probes)))


@pytest.mark.parametrize(
    "texts", [("The man left.", "The man left here."), ("The man left here.", "The man left.")]
)
def test_a_sentence_that_only_adds_words_has_no_changed_tokens_of_its_own(
    folder: Path, texts: tuple[str, str]
) -> None:
    respondent = open_masked(folder)
    replies = respondent.answer(
        [pair(rule, texts, rule) for rule in ("shared", "changed", "whole")]
    )
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [False, True, False]
    assert reasons(replies) == {
        "no token counts under the rule 'changed': one sentence only adds words to the other": 1
    }


def test_sentences_without_a_common_token_share_nothing(folder: Path) -> None:
    respondent = open_masked(folder)
    replies = respondent.answer(
        [pair(rule, ("he left", "she runs"), rule) for rule in ("shared", "changed", "whole")]
    )
    values = flat(replies)
    assert np.isnan(values).all(axis=1).tolist() == [True, False, False]
    assert reasons(replies) == {
        "no token counts under the rule 'shared': the sentences have none in common": 1
    }


@pytest.mark.parametrize(
    "probe",
    [
        pair("nonsense", PAIRS["ends"]),
        pair("whole", PAIRS["ends"], context="It was late."),
        Probe(
            id="three",
            kind="choice",
            language="en",
            texts=("", "he left", "she left", "they left"),
            tags={"scoring": "whole"},
        ),
    ],
    ids=["rule", "context", "three options"],
)
def test_what_is_no_choice_between_two_sentences_is_not_answered(
    folder: Path, probe: Probe
) -> None:
    respondent = open_masked(folder)
    replies = respondent.answer([probe])
    assert np.isnan(replies.values).all()
    assert reasons(replies) == {
        "a masked model compares two sentences without a context, "
        "by one of the rules shared, changed, whole, aul, aula": 1
    }


def test_a_choice_that_names_no_rule_is_about_whole_sentences(folder: Path) -> None:
    bare = Probe(id="b", kind="choice", language="en", texts=("", *PAIRS["ends"]))
    np.testing.assert_array_equal(
        flat(open_masked(folder).answer([bare])),
        flat(open_masked(folder).answer([pair("whole", PAIRS["ends"])])),
    )


def test_sentences_that_are_the_same_to_the_model_tie(folder: Path) -> None:
    """The tokeniser does not see capitals. A tie counts half, and in the published form against."""
    same, other = ("He left.", "he LEFT."), PAIRS["replaced"]
    respondent = open_masked(folder)
    for rule in ("shared", "whole"):
        probes = [
            pair(rule, same, "a"),
            pair(rule, other, "b"),
            pair(rule, (other[1], other[0]), "c"),
        ]
        replies = respondent.answer(probes)
        values = flat(replies)
        assert values[0, 0] == values[0, 1]
        assert values[1].tolist() == pytest.approx(values[2][::-1].tolist())
        measure = catalog.measure(f"crows_{rule}")
        totals: Floats = measure.evidence(probes, replies.values).sum(axis=0)
        assert float(measure.combine(totals)) == 0.5
        assert float(measure.parts(totals)["official"]) == pytest.approx(1 / 3)
    assert not replies.silences
    assert np.isnan(flat(respondent.answer([pair("changed", same)]))).all()


def test_a_discriminator_reads_the_sentence_as_it_is(tmp_path: Path) -> None:
    folder, model = write_masked(tmp_path / "electra", form="discriminator"), TinyMasked()
    values = flat(open_masked(folder).answer([pair("whole", PAIRS["ends"])]))
    for value, text in zip(values[0], PAIRS["ends"], strict=True):
        ids = pieces().encode(text).ids
        assert value == pytest.approx(-np.log1p(np.exp(model.replaced(ids)[1:-1])).sum(), abs=1e-5)


@pytest.mark.parametrize("name", PAIRS)
def test_nothing_is_masked_under_aul(folder: Path, name: str) -> None:
    """The mean of log p(token | the sentence as it stands), without the marks at both ends."""
    values = flat(open_masked(folder).answer([pair("aul", PAIRS[name])]))
    for value, text in zip(values[0], PAIRS[name], strict=True):
        ids = pieces().encode(text).ids
        table = TinyMasked().log_probabilities(ids)
        logs = [table[place, ids[place]] for place in range(1, len(ids) - 1)]
        assert value == pytest.approx(np.mean(logs), abs=1e-5)


def test_a_graph_gives_no_attention_and_says_so(folder: Path) -> None:
    replies = open_masked(folder).answer([pair("aula", PAIRS["ends"]), pair("aul", PAIRS["ends"])])
    assert np.isnan(flat(replies)).all(axis=1).tolist() == [True, False]
    assert reasons(replies) == {
        "the route onnxruntime gives no attention weights, which the rule 'aula' multiplies by; "
        "give the folder with the model's weights": 1
    }


def test_a_discriminator_has_no_likelihood_of_an_unmasked_token(tmp_path: Path) -> None:
    folder = write_masked(tmp_path / "electra", form="discriminator")
    replies = open_masked(folder).answer([pair(rule, PAIRS["ends"], rule) for rule in UNMASKED])
    assert reasons(replies) == {
        "a discriminator predicts no tokens, so there is no likelihood of one": 2
    }


def test_a_sentence_in_other_letters_is_not_weighed(folder: Path) -> None:
    texts = ("Κανείς δεν φεύγει.", "Όλοι μένουν εδώ.")
    with pytest.warns(UserWarning, match="does not know"):
        replies = open_masked(folder).answer([pair("whole", texts), pair("whole", PAIRS["ends"])])
    assert np.isnan(flat(replies)).all(axis=1).tolist() == [True, False]
    assert reasons(replies) == {
        "the tokeniser does not know most of a sentence: it has other letters": 1
    }


@pytest.mark.parametrize(
    ("language", "is_refused"), [("fr", True), ("en", True), ("zh", False), ("xx", False)]
)
def test_a_model_of_another_script_is_refused(
    folder: Path, tmp_path: Path, language: str, is_refused: bool
) -> None:
    chinese = tmp_path / "chinese"
    shutil.copytree(folder, chinese)
    (chinese / "README.md").write_text("---\nlanguage: zh\n---\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the language is another one is warned of too
        respondent = RESPONDENT.open(str(chinese), RespondentOptions(language=language))
    if not is_refused:
        assert np.isfinite(flat(respondent.answer([pair("whole", PAIRS["ends"])]))).all()
        return
    with pytest.raises(LoadError, match="said to know zh, written in Han; it is asked in"):
        respondent.answer([pair("whole", PAIRS["ends"])])


@pytest.mark.torch
def test_aul_and_aula_of_a_real_model_are_what_their_definitions_give() -> None:
    """AUL: mean log p of unmasked tokens; AULA: each times the attention that it receives."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    package = PACKAGES["albert-tiny-zh"]
    if importlib.util.find_spec(package.module) is None:
        pytest.skip(f"{package.requirement} is not installed")
    place = package_folder(package)
    words = hub.BertTokenizerFast(str(place / "vocab.txt"))
    model = hub.AutoModelForMaskedLM.from_pretrained(place, attn_implementation="eager").eval()
    texts = ("女人不会开车，她们太紧张了。", "男人不会开车。")
    probes = [pair(rule, texts, rule) for rule in ("aul", "aula", "whole")]
    values = flat(
        RESPONDENT.open("albert-tiny-zh", RespondentOptions(language="zh")).answer(probes)
    )
    for column, text in enumerate(texts):
        read = words(text, return_tensors="pt")
        with torch.inference_mode():
            output = model(**read, output_attentions=True)
        ids = read["input_ids"][0].tolist()
        logs = output.logits[0].log_softmax(-1)
        own = [float(logs[k, ids[k]]) for k in range(1, len(ids) - 1)]
        received = [0.0] * len(ids)
        for layer in output.attentions:
            for head in layer[0]:
                for row in head:  # a position that attends
                    for k, weight in enumerate(row.tolist()):
                        received[k] += weight / len(output.attentions) / len(layer[0]) / len(ids)
        aula = [weight * log for weight, log in zip(received[1:-1], own, strict=True)]
        assert values[0, column] == pytest.approx(np.mean(own), abs=1e-5)
        assert values[1, column] == pytest.approx(np.mean(aula), abs=1e-6)
    assert values[0].tolist() != pytest.approx((values[2] / [13, 6]).tolist(), abs=1e-2)

"""Words in one blank or several, weighed by a masked model as a slow reading says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from likelihood_probes import (
    SEVERAL,
    WORDS,
    choice,
    cutter,
    inside,
    intra,
    mask_of,
    opened,
    padded,
    parts_of,
    predictor,
    slow_places,
    slow_words,
    spied,
    write_folders,
)
from masked_models import byte_pairs, mask_probe, pieces, write_masked
from replied import flat, reasons
from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE

from evenhand.core.answers import Silence
from evenhand.core.probe import BLANK, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.engine.suites import load_suite
from evenhand.respondents.candidates import fill_blanks, find_blanks, texts_to_read
from evenhand.respondents.networks.tokens import find_unknown
from evenhand.respondents.token_scores import RULES

MASK = 4


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_folders(tmp_path_factory.mktemp("likelihood"))


@pytest.mark.parametrize("name", ["pieces", "bytes"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_words_in_one_blank_follow_the_rules_for_words(
    folders: dict[str, Path], name: str, rule: str, length: str
) -> None:
    tokenizer = cutter(name)
    values = flat(opened(folders[name], scoring=rule, length=length).answer(WORDS))
    np.testing.assert_allclose(
        values,
        padded([slow_words(tokenizer, predictor(tokenizer), p, rule, length) for p in WORDS]),
        atol=1e-4,
    )


@pytest.mark.parametrize("name", ["pieces", "bytes"])
def test_words_are_scored_as_in_a_mask_probe(folders: dict[str, Path], name: str) -> None:
    respondent = opened(folders[name])
    blanks = [
        mask_probe(p.tags["sentence"], *p.tags["words"].split("|"), identity=p.id) for p in WORDS
    ]
    replies = respondent.answer(WORDS)
    np.testing.assert_array_equal(flat(replies), flat(respondent.answer(blanks)))
    assert reasons(replies) == {}


@pytest.mark.parametrize("name", ["pieces", "bytes"])
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_several_blanks_are_masked_together(
    folders: dict[str, Path], name: str, length: str
) -> None:
    tokenizer = cutter(name)
    expected = padded(
        [slow_words(tokenizer, predictor(tokenizer), p, "together", length) for p in SEVERAL]
    )
    for rule in (
        "together",
        "one-by-one",
    ):  # a word that stands elsewhere in the sentence could be looked up there
        np.testing.assert_allclose(
            flat(opened(folders[name], scoring=rule, length=length).answer(SEVERAL)),
            expected,
            atol=1e-4,
        )


def test_two_blanks_are_read_once_for_words_of_the_same_length(folders: dict[str, Path]) -> None:
    respondent = opened(folders["pieces"], batch_size=1)
    seen = spied(respondent)
    flat(
        respondent.answer(
            [
                intra("[BLANK] said [BLANK] left.", "he", "she", "they"),
                intra("[BLANK] said [BLANK] left.", "man", "woman", "boy"),
            ]
        )
    )
    assert seen == [
        (2, MASK, pieces().token_to_id("said"), MASK, *pieces().encode("left.").ids[1:])
    ]


def places(tokenizer: Tokenizer, sentence: str, *words: str) -> list[list[str]]:
    blanks = find_blanks(
        (sentence, *words),
        tokenizer.encode_batch(fill_blanks((sentence, *words))),
        find_unknown(tokenizer),
    )
    assert not isinstance(blanks, Silence), blanks.reason
    rests = [[t for i, t in enumerate(ids) if i not in held] for ids, held in blanks]
    assert all(rest == rests[0] for rest in rests), "what is left around the words is not the same"
    return [[str(tokenizer.id_to_token(ids[i])) for i in held] for ids, held in blanks]


def test_which_tokens_are_the_word_in_several_blanks() -> None:
    words = pieces()
    assert places(words, "The [BLANK] is a [BLANK].", "fireman", "nurse") == [
        ["fire", "##man"] * 2,
        ["nurse"] * 2,
    ]
    assert places(words, "[BLANK][BLANK] left", "he ", "she ") == [["he", "he"], ["she", "she"]]
    assert places(words, "[BLANK]는 의사이다 [BLANK]는 갔다", "그", "그녀") == [
        ["그는", "그는"],
        ["그녀", "##는", "그녀", "##는"],
    ]
    assert places(words, "[BLANK]는 [BLANK]", "그", "그녀") == [
        ["그는", "그"],
        ["그녀", "##는", "그녀"],
    ]


def test_what_stands_between_two_blanks_is_given_up_from_one_side() -> None:
    """ax and ya are tokens: one blank widens to the other; where both must, nothing is kept."""
    words = Tokenizer(
        BPE(
            {w: i for i, w in enumerate(["a", "b", "c", "x", "y", "ax", "ya"])},
            [("a", "x"), ("y", "a")],
        )
    )
    assert places(words, "c[BLANK]xcc[BLANK]c", "a", "b") == [["ax", "a"], ["b", "x", "b"]]
    assert places(words, "c[BLANK]ccy[BLANK]c", "a", "b") == [["a", "ya"], ["b", "y", "b"]]
    assert places(words, "c[BLANK]xccy[BLANK]c", "a", "b") == [
        ["ax", "c", "c", "ya"],
        ["b", "x", "c", "c", "y", "b"],
    ]


def test_words_that_grow_together_are_one_stretch() -> None:
    """aa is one token: nothing is left between the blanks of one text, nor of the other."""
    names = ["a", "b", ".", "aa", "a.", "a.a"]
    words = Tokenizer(
        BPE({w: i for i, w in enumerate(names)}, [("a", "a"), ("a", "."), ("a.", "a")])
    )
    assert places(words, "b[BLANK][BLANK]b", "a", "b") == [["aa"], ["b", "b"]]
    assert places(words, "b[BLANK].[BLANK]b", "a", "b") == [["a.a"], ["b", ".", "b"]]
    assert places(words, "b[BLANK]b[BLANK]b", "a", "b") == [["a", "a"], ["b", "b"]]


@given(data=st.data())
def test_whatever_the_sentence_the_rest_is_the_same_and_the_word_is_covered(
    data: st.DataObject,
) -> None:
    letters = st.text("heshman ,.他她医生男", max_size=6)
    count = data.draw(st.integers(1, 4))
    sentence = BLANK.join(data.draw(letters) for _ in range(count + 1))
    words = data.draw(
        st.lists(st.text("hesman医生男他", min_size=1, max_size=4), min_size=2, max_size=3)
    )
    tokenizer = byte_pairs()
    encodings = tokenizer.encode_batch(fill_blanks((sentence, *words)))
    blanks = find_blanks((sentence, *words), encodings, None)
    assert not isinstance(blanks, Silence)
    rests = [[t for i, t in enumerate(ids) if i not in held] for ids, held in blanks]
    assert all(rest == rests[0] for rest in rests)
    texts = [parts_of(sentence, word) for word in words]
    for text, encoding, (_, held) in zip(texts, encodings, blanks, strict=True):
        assert {i for word in inside(encoding, text) for i in word} <= set(held)
        assert 0 not in held and len(encoding.ids) - 1 not in held
    assert [held for _, held in blanks] == slow_places(encodings, texts)


def test_published_blanks_are_found_in_every_sentence(data: Path) -> None:
    """Of 2,106 contexts 2 have several blanks, 19 start with one, 4 have text glued to it."""
    probes = load_suite("stereoset:intra", "en", SuiteOptions(data=data)).probes
    tokenizer = byte_pairs()
    odd = [
        p
        for p in probes
        if p.tags["sentence"].count(BLANK) > 1
        or p.tags["sentence"].startswith(BLANK)
        or f"{BLANK}s" in p.tags["sentence"]
        or f"{BLANK}ed" in p.tags["sentence"]
    ]
    assert len(probes) == 2106 and sum(p.tags["sentence"].count(BLANK) > 1 for p in odd) == 2
    assert sum(p.tags["sentence"].startswith(BLANK) for p in odd) == 19
    for probe in (*odd, *probes[::40]):
        words = probe.tags["words"].split("|")
        blanks = find_blanks(
            (probe.tags["sentence"], *words), tokenizer.encode_batch(texts_to_read(probe)), None
        )
        assert not isinstance(blanks, Silence), blanks.reason
        holes = probe.tags["sentence"].count(BLANK)
        for word, (ids, held) in zip(words, blanks, strict=True):
            text = tokenizer.decode([ids[i] for i in held])
            assert text.count(word) >= holes, (probe.id, word, text)
            # at most what had to be widened
            assert len(text.replace(word, "").strip()) <= 4 * holes, (probe.id, word, text)


RELEASED = (
    intra("The [BLANK] left.", "man", "fireman", "policeman", identity="cut"),
    intra("He is a [BLANK], she said.", "doctor", "singer", "nurse", identity="comma"),
    intra("[BLANK] said [BLANK] left.", "he", "she", "fireman", identity="two"),
    intra("The [BLANK] runs.", "man!", "fire'man", "nurse", identity="punctuation"),
    intra("The fire[BLANK], she said, left.", "man", "woman", "men", identity="glued"),
    intra("The [BLANK] runs.", "fire man", "nurse here", "boy", identity="several words"),
)


def slow_released(tokenizer: Tokenizer, probe: Probe) -> list[float]:
    """The words as the released code of StereoSet weighs them, one text after the other.

    The word is what stands between spaces where the last blank does; without punctuation it is cut
    alone. For each of its tokens the text of those before it and one mask stand in every blank; the
    probability at the first mask counts. The score is the mean of the probabilities.
    """
    at = [k for k, text in enumerate(probe.tags["sentence"].split(" ")) if BLANK in text][-1]
    mask, predict, scores = mask_of(tokenizer), predictor(tokenizer), []
    masked = tokenizer.id_to_token(mask) or ""
    for option in probe.texts[1:]:
        bare = "".join(c for c in option.split(" ")[at] if c.isalnum())
        ids = tokenizer.encode(bare, add_special_tokens=False).ids
        chances = []
        for k, token in enumerate(ids):
            before = tokenizer.decode(ids[:k])
            text = probe.tags["sentence"].replace(BLANK, before + masked)
            read = tokenizer.encode(text).ids
            chances.append(float(np.exp(predict(read)[read.index(mask), token])))
        scores.append(sum(chances) / len(chances))
    return scores


@pytest.mark.parametrize("name", ["pieces", "bytes"])
def test_the_released_code_of_stereoset_averages_probabilities(name: str, tmp_path: Path) -> None:
    tokenizer = cutter(name)
    if name == "pieces":
        tokenizer.decoder = decoders.WordPiece()  # as every BERT has it
    folder = write_masked(tmp_path / name, tokenizer=tokenizer, longest=300)
    for length in ("auto", "sum"):
        respondent = opened(folder, scoring="stereoset-code", length=length)
        values = flat(respondent.answer(RELEASED))
        expected = [slow_released(tokenizer, probe) for probe in RELEASED]
        np.testing.assert_allclose(np.exp(values), expected, rtol=1e-4)
    assert respondent.traits["scoring"] == "stereoset-code"
    summed = flat(opened(folder, scoring="left-to-right").answer(RELEASED[:1]))
    assert np.abs(values[0] - summed[0]).max() > 0.1


def test_the_released_code_asks_a_next_sentence_head_which_sentence_follows(
    folders: dict[str, Path],
) -> None:
    probe = choice("The nurse left.", "She was here.", "He was here.", "The boy sleeps!")
    replies = opened(folders["pieces"], scoring="stereoset-code").answer([probe])
    assert reasons(replies) == {
        "the released code of StereoSet asks a next-sentence head which sentence follows: "
        "give nsp:MODEL": 1
    }


def test_an_option_that_is_not_the_sentence_filled_in_is_not_answered(
    folders: dict[str, Path],
) -> None:
    probe = intra("The [BLANK] left.", "man", "", "nurse")
    replies = opened(folders["pieces"]).answer([probe])
    assert reasons(replies) == {"an option is not the sentence with a word in its blank": 1}

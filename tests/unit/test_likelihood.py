"""How likely does a masked model find an option after its context, or the option's word in the blanks? As a slow reading of the text says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import DISCRIMINATOR, FAMILIES, TinyMasked, build, byte_pairs, mask_probe, open_masked, pieces, write_masked
from tokenizers import Tokenizer
from tokenizers.models import BPE

from evenhand.core import catalog
from evenhand.core.errors import EvenhandWarning
from evenhand.core.protocols import SuiteOptions
from evenhand.core.records import BLANK, Floats, Probe
from evenhand.respondents.blanks import Unanswerable, filled, find_places
from evenhand.respondents.likelihood import find_options, shown_texts
from evenhand.respondents.masked import MaskedRespondent
from evenhand.respondents.tokens import find_unknown
from evenhand.respondents.weighing import RULES

MASK = 4
Said = Callable[[list[int]], Any]  # the table of log-probabilities of one text


def choice(context: str, *options: str, language: str = "en", identity: str = "c", **tags: str) -> Probe:
    return Probe(id=identity, kind="choice", language=language, texts=(context, *options), stratum="inter", cluster=identity, tags=tags)


def intra(sentence: str, *words: str, identity: str = "w", language: str = "en") -> Probe:
    """As the suite makes them: a stand-in in the context, the options filled in, sentence and words in the tags."""
    texts = (sentence.replace(BLANK, "what"), *filled((sentence, *words)))
    return Probe(
        id=identity, kind="choice", language=language, texts=texts, stratum="intra", tags={"sentence": sentence, "words": "|".join(words)}
    )


WORDS = (
    intra("The [BLANK] left.", "man", "woman", "nurse", identity="one"),
    intra("The [BLANK] said he left.", "fireman", "firewoman", "nurse", identity="long"),
    intra("[BLANK] said the doctor is here.", "He", "She", "They", identity="first"),
    intra('The nurse said "[BLANK] left".', "he", "she", "they", identity="quoted"),
    intra("The fire[BLANK] left.", "man", "woman", "men", identity="glued behind"),
    intra("The [BLANK]er runs.", "sing", "nurse", "doctor", identity="glued before"),
    intra("The nurse said [BLANK].", "he left", "she left", "the fireman runs", identity="phrase"),
)
SEVERAL = (
    intra("[BLANK] said [BLANK] left.", "he", "she", "the nurse", identity="two"),
    intra("The [BLANK] is a [BLANK], the [BLANK] left.", "fireman", "man", "firewoman", identity="three"),
    intra("The [BLANK], [BLANK]!", "doctor", "singer", "boy", identity="near"),
)
OPTIONS = (
    choice("The nurse left.", "She was here.", "He was here, he said.", "The boy sleeps!", identity="o0"),
    choice("The doctor is here. ", " He said the fireman left.", "She runs.", identity="o1"),
    choice("他是医生。", "她是护士。", "他在说。", "男孩是人", language="zh", identity="o2"),
    choice("The doctor is here.", "The doctor is here.", "The doctor", identity="o3"),
)


def write(folder: Path, tokenizer: Tokenizer, form: str = "positions", longest: int = 300) -> MaskedRespondent:
    return open_masked(write_masked(folder, tokenizer=tokenizer, form=form, longest=longest))


def opened(folder: Path, **options: Any) -> MaskedRespondent:
    return open_masked(folder, **options)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("likelihood")
    return {name: write_masked(root / name, tokenizer=cut(), longest=300) for name, cut in (("pieces", pieces), ("bytes", byte_pairs))}


def cutter(name: str) -> Tokenizer:
    return pieces() if name == "pieces" else byte_pairs()


def mask_of(tokenizer: Tokenizer) -> int:
    found = [tokenizer.token_to_id(t) for t in ("[MASK]", "<mask>")]
    return next(int(i) for i in found if i is not None)


def said_by(tokenizer: Tokenizer) -> Said:
    return TinyMasked(size=tokenizer.get_vocab_size()).log_probabilities


Parts = list[tuple[str, bool]]  # a text in pieces: is each of the word?


def parts_of(sentence: str, word: str) -> Parts:
    """The sentence with the word in its blanks."""
    rests = sentence.split(BLANK)
    return [(rests[0], False), *(part for rest in rests[1:] for part in ((word, True), (rest, False)))]


def inside(encoding: Any, parts: Parts) -> list[list[int]]:
    """For each word among the parts the tokens with at least one of its characters, character by character."""
    names = [k if is_word else None for k, (text, is_word) in enumerate(parts) for _ in text]
    return [[i for i, (a, b) in enumerate(encoding.offsets) if k in names[a:b]] for k, (_, is_word) in enumerate(parts) if is_word]


def slow_places(encodings: Sequence[Any], texts: Sequence[Parts]) -> list[list[int]]:
    """The tokens of the words in each text, and as many more as it takes for the rest to be the same: of each stretch of rest the most that all texts have
    at its start, or at its end if that is more; by trying. What stands before the first word is kept from its start, what is behind the last to its end."""
    rests = []
    for encoding, parts in zip(encodings, texts, strict=True):
        found = inside(encoding, parts)
        starts, ends = [0, *(f[-1] + 1 for f in found)], [*(f[0] for f in found), len(encoding.ids)]
        rests.append([list(range(a, b)) for a, b in zip(starts, ends, strict=True)])
    kept: list[list[int]] = [[] for _ in texts]
    for k in range(len(rests[0])):
        stretches = [rest[k] for rest in rests]
        tries = [
            cut
            for n in range(min(map(len, stretches)), -1, -1)
            for side, cut in ((0, [s[:n] for s in stretches]), (1, [s[len(s) - n :] for s in stretches]))
            if not (side == 1 and k == 0) and not (side == 0 and k == len(rests[0]) - 1)
        ]
        same = next(t for t in tries if len({tuple(e.ids[i] for i in cut) for e, cut in zip(encodings, t, strict=True)}) == 1)
        for held, cut in zip(kept, same, strict=True):
            held.extend(cut)
    return [[i for i in range(len(e.ids)) if i not in held] for e, held in zip(encodings, kept, strict=True)]


def add(logs: list[list[float]], length: str) -> list[float]:
    is_mean = length == "mean" or (length == "auto" and len({len(part) for part in logs}) > 1)
    return [sum(part) / len(part) if is_mean else sum(part) for part in logs]


def read(tokenizer: Tokenizer, probe: Probe) -> list[tuple[list[int], list[int]]]:
    """The text of each option and the places that count."""
    if "words" in probe.tags:
        texts = [parts_of(probe.tags["sentence"], word) for word in probe.tags["words"].split("|")]
    else:
        context = probe.texts[0].strip() + ("" if probe.language == "zh" else " ")
        texts = [[(context, False), (option.strip(), True)] for option in probe.texts[1:]]
    encodings = [tokenizer.encode("".join(text for text, _ in parts)) for parts in texts]
    found = slow_places(encodings, texts if "words" in probe.tags else [[*parts, ("", False)] for parts in texts])
    return [(list(e.ids), places) for e, places in zip(encodings, found, strict=True)]


def slow_words(tokenizer: Tokenizer, said: Said, probe: Probe, rule: str, length: str) -> list[float]:
    logs = []
    for ids, places in read(tokenizer, probe):
        of_word = []
        for k, place in enumerate(places):
            hidden = {"together": places, "left-to-right": [place], "within-word": places[k:], "one-by-one": [place]}[rule]
            gone = places[k + 1 :] if rule == "left-to-right" else []
            shown = [mask_of(tokenizer) if i in hidden else t for i, t in enumerate(ids) if i not in gone]
            of_word.append(float(said(shown)[place, ids[place]]))
        logs.append(of_word)
    return add(logs, length)


def slow_options(tokenizer: Tokenizer, said: Said, probe: Probe, length: str) -> list[float]:
    logs = []
    for ids, places in read(tokenizer, probe):
        shown = [[mask_of(tokenizer) if i == place else t for i, t in enumerate(ids)] for place in places]
        logs.append([float(said(text)[place, ids[place]]) for text, place in zip(shown, places, strict=True)])
    return add(logs, "sum" if length == "sum" else "mean")


def padded(rows: list[list[float]]) -> Floats:
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


@pytest.mark.parametrize("name", ["pieces", "bytes"])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_words_in_one_blank_follow_the_rules_for_words(folders: dict[str, Path], name: str, rule: str, length: str) -> None:
    tokenizer = cutter(name)
    values = opened(folders[name], scoring=rule, length=length).answer(WORDS)
    np.testing.assert_allclose(values, padded([slow_words(tokenizer, said_by(tokenizer), p, rule, length) for p in WORDS]), atol=1e-4)


@pytest.mark.parametrize("name", ["pieces", "bytes"])
def test_words_are_scored_as_in_a_mask_probe(folders: dict[str, Path], name: str) -> None:
    respondent = opened(folders[name])
    blanks = [mask_probe(p.tags["sentence"], *p.tags["words"].split("|"), identity=p.id) for p in WORDS]
    np.testing.assert_array_equal(respondent.answer(WORDS), respondent.answer(blanks))
    assert respondent.unanswered == {}


@pytest.mark.parametrize("name", ["pieces", "bytes"])
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_several_blanks_are_masked_together(folders: dict[str, Path], name: str, length: str) -> None:
    tokenizer = cutter(name)
    expected = padded([slow_words(tokenizer, said_by(tokenizer), p, "together", length) for p in SEVERAL])
    for rule in ("together", "one-by-one"):  # a word that stands elsewhere in the sentence could be looked up there
        np.testing.assert_allclose(opened(folders[name], scoring=rule, length=length).answer(SEVERAL), expected, atol=1e-4)


def test_two_blanks_are_read_once_for_words_of_the_same_length(folders: dict[str, Path]) -> None:
    respondent = opened(folders["pieces"], batch_size=1)
    seen = spied(respondent)
    respondent.answer(
        [intra("[BLANK] said [BLANK] left.", "he", "she", "they"), intra("[BLANK] said [BLANK] left.", "man", "woman", "boy")]
    )
    assert seen == [(2, MASK, pieces().token_to_id("said"), MASK, *pieces().encode("left.").ids[1:])]


def spied(respondent: MaskedRespondent) -> list[tuple[int, ...]]:
    """Every text that the network is given from now on."""
    texts: list[tuple[int, ...]] = []
    ask = respondent.route.log_probabilities

    def listen(batch: Any, wants: Any) -> Floats:
        texts.extend(e.ids for e in batch)
        return ask(batch, wants)

    respondent.route.log_probabilities = listen  # type: ignore[method-assign]
    return texts


def places(tokenizer: Tokenizer, sentence: str, *words: str) -> list[list[str]]:
    found = find_places((sentence, *words), tokenizer.encode_batch(filled((sentence, *words))), find_unknown(tokenizer))
    assert not isinstance(found, Unanswerable), found.reason
    rests = [[t for i, t in enumerate(ids) if i not in held] for ids, held in found]
    assert all(rest == rests[0] for rest in rests), "what is left around the words is not the same"
    return [[str(tokenizer.id_to_token(ids[i])) for i in held] for ids, held in found]


def test_which_tokens_are_the_word_in_several_blanks() -> None:
    words = pieces()
    assert places(words, "The [BLANK] is a [BLANK].", "fireman", "nurse") == [["fire", "##man"] * 2, ["nurse"] * 2]
    assert places(words, "[BLANK][BLANK] left", "he ", "she ") == [["he", "he"], ["she", "she"]]
    assert places(words, "[BLANK]는 의사이다 [BLANK]는 갔다", "그", "그녀") == [["그는", "그는"], ["그녀", "##는", "그녀", "##는"]]
    assert places(words, "[BLANK]는 [BLANK]", "그", "그녀") == [["그는", "그"], ["그녀", "##는", "그녀"]]


def test_what_stands_between_two_blanks_is_given_up_from_one_side() -> None:
    """ax and ya are tokens: the left blank widens to the right, the right one to the left, and where both would have to nothing is kept between them."""
    words = Tokenizer(BPE({w: i for i, w in enumerate(["a", "b", "c", "x", "y", "ax", "ya"])}, [("a", "x"), ("y", "a")]))
    assert places(words, "c[BLANK]xcc[BLANK]c", "a", "b") == [["ax", "a"], ["b", "x", "b"]]
    assert places(words, "c[BLANK]ccy[BLANK]c", "a", "b") == [["a", "ya"], ["b", "y", "b"]]
    assert places(words, "c[BLANK]xccy[BLANK]c", "a", "b") == [["ax", "c", "c", "ya"], ["b", "x", "c", "c", "y", "b"]]


def test_words_that_grow_together_are_one_stretch() -> None:
    """aa is one token, so that nothing is left between the two blanks of one text, and nothing is kept there of the other."""
    names = ["a", "b", ".", "aa", "a.", "a.a"]
    words = Tokenizer(BPE({w: i for i, w in enumerate(names)}, [("a", "a"), ("a", "."), ("a.", "a")]))
    assert places(words, "b[BLANK][BLANK]b", "a", "b") == [["aa"], ["b", "b"]]
    assert places(words, "b[BLANK].[BLANK]b", "a", "b") == [["a.a"], ["b", ".", "b"]]
    assert places(words, "b[BLANK]b[BLANK]b", "a", "b") == [["a", "a"], ["b", "b"]]


@given(data=st.data())
def test_whatever_the_sentence_the_rest_is_the_same_and_the_word_is_covered(data: st.DataObject) -> None:
    letters = st.text("heshman ,.他她医生男", max_size=6)
    count = data.draw(st.integers(1, 4))
    sentence = BLANK.join(data.draw(letters) for _ in range(count + 1))
    words = data.draw(st.lists(st.text("hesman医生男他", min_size=1, max_size=4), min_size=2, max_size=3))
    tokenizer = byte_pairs()
    encodings = tokenizer.encode_batch(filled((sentence, *words)))
    found = find_places((sentence, *words), encodings, None)
    assert not isinstance(found, Unanswerable)
    rests = [[t for i, t in enumerate(ids) if i not in held] for ids, held in found]
    assert all(rest == rests[0] for rest in rests)
    texts = [parts_of(sentence, word) for word in words]
    for text, encoding, (_, held) in zip(texts, encodings, found, strict=True):
        assert {i for word in inside(encoding, text) for i in word} <= set(held)
        assert 0 not in held and len(encoding.ids) - 1 not in held
    assert [held for _, held in found] == slow_places(encodings, texts)


@pytest.mark.parametrize("name", ["pieces", "bytes"])
@pytest.mark.parametrize("length", ["auto", "sum", "mean"])
def test_options_are_weighed_token_by_token_after_their_context(folders: dict[str, Path], name: str, length: str) -> None:
    tokenizer = cutter(name)
    respondent = opened(folders[name], length=length)
    values = respondent.answer(OPTIONS)
    assert respondent.unanswered == {}
    np.testing.assert_allclose(values, padded([slow_options(tokenizer, said_by(tokenizer), p, length) for p in OPTIONS]), atol=1e-4)


def test_auto_is_the_mean_for_options_even_of_equal_length(folders: dict[str, Path]) -> None:
    equal = [choice("The nurse left.", "He runs.", "She runs.")]
    auto, mean, total = (opened(folders["pieces"], length=rule).answer(equal) for rule in ("auto", "mean", "sum"))
    np.testing.assert_array_equal(auto, mean)
    np.testing.assert_allclose(total, 3 * mean)


def test_the_rules_for_words_do_not_touch_options(folders: dict[str, Path]) -> None:
    one, *others = (opened(folders["pieces"], scoring=rule).answer(OPTIONS) for rule in RULES)
    for values in others:
        np.testing.assert_array_equal(values, one)


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        ("en", ["A b.", "A c."]), ("ko", ["A b.", "A c."]), ("zh", ["Ab.", "Ac."]), ("ja", ["Ab.", "Ac."]), ("zh-Hant", ["Ab.", "Ac."]),
    ],
)  # fmt: skip
def test_one_space_and_none_in_chinese_and_japanese(language: str, texts: list[str]) -> None:
    assert shown_texts(choice(" A ", "b.", " c.", language=language)) == texts


def test_an_option_that_grows_together_with_the_context_widens_all() -> None:
    """A token has the end of 医 and the start of 生: both options start with the character 医, of which the first byte is the same."""
    words = byte_pairs()
    probe = choice("她是医", "生。", "男。", language="zh")
    cut = words.encode_batch(shown_texts(probe))
    found = find_options(probe, cut, None)
    assert not isinstance(found, Unanswerable)
    (one, start, end), (other, also, last) = found
    assert start == also and one[:start] == other[:start]
    assert words.id_to_token(one[start]) == "»çĶ"
    assert words.decode(list(one[:start] + one[start:end])) == "她是医生。" and end == len(one) - 1 and last == len(other) - 1
    assert words.decode(list(other[start - 1 : last])) == "医男。"


def test_batches_and_company_change_nothing(folders: dict[str, Path]) -> None:
    blank = mask_probe("The [BLANK] left.", "man", "woman", identity="m")
    pair = choice("", "The man left.", "The woman left.", identity="s", scoring="shared")
    probes = [*WORDS, *SEVERAL, *OPTIONS, blank, pair]
    one, *others = (opened(folders["pieces"], batch_size=size).answer(probes) for size in (1, 3, 64, None))
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-5)
    for row, probe in zip(one, probes, strict=True):
        np.testing.assert_allclose(row[: probe.width], opened(folders["pieces"]).answer([probe])[0], atol=1e-5)


def test_no_text_is_read_twice(folders: dict[str, Path]) -> None:
    respondent = opened(folders["pieces"])
    seen = spied(respondent)
    probes = [*OPTIONS, *OPTIONS, choice("The nurse left.", "She was here.", "They left.")]
    respondent.answer(probes)
    assert len(seen) == len(set(seen))


def test_a_discriminator_reads_what_is_there(tmp_path: Path) -> None:
    respondent, model = write(tmp_path / "electra", pieces(), form="discriminator"), TinyMasked()

    def said(ids: list[int]) -> Any:
        return np.repeat(-np.log1p(np.exp(model.replaced(ids)))[:, None], model.size, axis=1)

    expected = []
    for probe in (*SEVERAL, *OPTIONS):
        logs = [[float(said(ids)[k, 0]) for k in held] for ids, held in read(pieces(), probe)]
        expected.append(add(logs, "auto" if "words" in probe.tags else "mean"))
    np.testing.assert_allclose(respondent.answer([*SEVERAL, *OPTIONS]), padded(expected), atol=1e-4)


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        (choice("The nurse left. " * 9, "He left.", "She left."), "longer than the model's 40 tokens"),
        (choice("He left.", "She left.", "  "), "the option '  ' has no tokens"),
        (intra("The [BLANK] left.", "man", "woman", ""), "the candidate '' has no tokens"),
        (choice("He what.", "He left.", "He runs.", sentence="He left.", words="left|runs"), f"no {BLANK} in 'He left.'"),
        (
            choice("He what.", "He left.", "He runs.", sentence="He [BLANK].", words="left|runs|sleeps"),
            "3 words for 2 options; the tag `words` has one an option, `|` between them",
        ),
    ],
    ids=["long", "empty option", "empty word", "no blank", "too many words"],
)
def test_what_cannot_be_answered_says_why(tmp_path: Path, probe: Probe, reason: str) -> None:
    respondent = write(tmp_path / "short", pieces(), longest=40)
    values = respondent.answer([probe, WORDS[0]])
    assert np.isnan(values[0]).all() and np.isfinite(values[1]).all()
    assert respondent.unanswered == {reason: 1}


def test_unknown_words_are_not_answered_and_unknown_options_only_where_nothing_is_known(folders: dict[str, Path]) -> None:
    respondent = opened(folders["pieces"])
    probes = [
        intra("The [BLANK] left.", "man", "zebra"),
        intra("[BLANK] and [BLANK]", "he", "zebra"),
        choice("He left.", "zebra", "She runs."),
        choice("He left.", "zebra runs.", "She runs."),
    ]
    with pytest.warns(EvenhandWarning, match="does not know"):
        values = respondent.answer(probes)
    assert np.isnan(values).all(axis=1).tolist() == [True, True, True, False]
    assert respondent.unanswered == {
        "the candidate 'zebra' has characters that the tokeniser does not know": 2,
        "the tokeniser knows no character of the option 'zebra'": 1,
    }


def test_published_blanks_are_found_in_every_sentence(data: Path) -> None:
    """Of the 2,106 contexts 2 have several blanks, 19 start with one and 4 have text glued to it."""
    probes = catalog.suite("stereoset").build("en", SuiteOptions(variant="intra", data=data)).probes
    tokenizer = byte_pairs()
    odd = [
        p for p in probes
        if p.tags["sentence"].count(BLANK) > 1 or p.tags["sentence"].startswith(BLANK) or f"{BLANK}s" in p.tags["sentence"] or f"{BLANK}ed" in p.tags["sentence"]
    ]  # fmt: skip
    assert len(probes) == 2106 and sum(p.tags["sentence"].count(BLANK) > 1 for p in odd) == 2
    assert sum(p.tags["sentence"].startswith(BLANK) for p in odd) == 19
    for probe in (*odd, *probes[::40]):
        words = probe.tags["words"].split("|")
        found = find_places((probe.tags["sentence"], *words), tokenizer.encode_batch(shown_texts(probe)), None)
        assert not isinstance(found, Unanswerable), found.reason
        holes = probe.tags["sentence"].count(BLANK)
        for word, (ids, held) in zip(words, found, strict=True):
            said = tokenizer.decode([ids[i] for i in held])
            assert said.count(word) >= holes, (probe.id, word, said)
            assert len(said.replace(word, "").strip()) <= 4 * holes, (probe.id, word, said)  # at most what had to be widened


# From here on through torch.


@pytest.mark.torch
@pytest.mark.parametrize("family", (*FAMILIES, DISCRIMINATOR))
def test_through_torch(tmp_path: Path, family: str) -> None:
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = build(tmp_path / family, family)
    one, *others = (opened(folder, batch_size=size).answer([*WORDS, *SEVERAL, *OPTIONS[1:2]]) for size in (1, 3, 64, None))
    for values in others:
        np.testing.assert_allclose(values, one, atol=1e-4)
    if family == DISCRIMINATOR:
        return
    model = hub.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = cutter("bytes" if family == "roberta" else "pieces")

    def said(ids: list[int]) -> Any:
        with torch.no_grad():
            return torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1).numpy()

    short = [p for p in (*WORDS, *SEVERAL) if max(len(tokenizer.encode(t).ids) for t in shown_texts(p)) <= 48]
    expected = padded([slow_words(tokenizer, said, p, "together", "auto") for p in short])
    np.testing.assert_allclose(opened(folder).answer(short), expected, atol=1e-4)
    expected = padded([slow_options(tokenizer, said, p, "auto") for p in OPTIONS[1:2]])
    np.testing.assert_allclose(opened(folder).answer(OPTIONS[1:2]), expected, atol=1e-4)

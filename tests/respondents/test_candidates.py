"""The tokens of the word in a blank: all of them, the same text for every candidate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from masked_models import byte_pairs, mask_probe, open_masked, pieces, write_masked
from replied import flat, reasons
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.processors import TemplateProcessing

from evenhand.core.answers import Silence
from evenhand.core.errors import EvenhandWarning
from evenhand.core.probe import BLANK
from evenhand.respondents.candidates import Span, fill_blanks, find_words
from evenhand.respondents.networks.tokens import find_unknown
from evenhand.respondents.replies import no_answer

WORDS = pieces()
BYTES = byte_pairs()


def spans(tokenizer: Tokenizer, *texts: str) -> list[Span]:
    words = find_words(texts, tokenizer.encode_batch(fill_blanks(texts)), find_unknown(tokenizer))
    assert not isinstance(words, Silence), words.reason
    return words


def tokens(tokenizer: Tokenizer, *texts: str) -> list[list[str]]:
    """The tokens of each candidate."""
    return [
        [str(tokenizer.id_to_token(i)) for i in ids[start:end]]
        for ids, start, end in spans(tokenizer, *texts)
    ]


def spoken(text: str) -> str:
    """A word as the byte-level tokeniser writes it: a space is Ġ."""
    return text.replace(" ", "Ġ")


def test_the_sentence_is_filled_with_each_candidate() -> None:
    assert fill_blanks(("The [BLANK] left.", "man", "old woman")) == [
        "The man left.",
        "The old woman left.",
    ]


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("[BLANK] left.", ("he", "she"), ["he", "she"]),
        ("The nurse said [BLANK] left.", ("he", "she"), [" he", " she"]),
        ('The nurse said "[BLANK] left".', ("he", "she"), ["he", "she"]),
        ("left, [BLANK]", ("he", "she"), [" he", " she"]),
    ],
    ids=["start", "middle", "quote", "end"],
)
def test_a_leading_space_belongs_to_the_word_where_the_tokeniser_says_so(
    text: str, words: tuple[str, ...], expected: list[str]
) -> None:
    assert (
        len({BYTES.token_to_id(spoken(" he")), BYTES.token_to_id("he"), None}) == 3
    )  # two tokens, or nothing would be tested
    assert tokens(BYTES, text, *words) == [[spoken(w)] for w in expected]


def test_a_character_of_three_bytes_is_taken_with_all_its_tokens() -> None:
    """Neither character was seen in training, so that each is cut into its bytes."""
    cut = spans(BYTES, "说[BLANK]在", "猫", "狗")
    assert [end - start for _, start, end in cut] == [3, 3]
    for (ids, start, end), word in zip(cut, "猫狗", strict=True):
        assert BYTES.decode(list(ids[start:end])) == word
        assert BYTES.decode(list(ids[:start] + ids[end:])) == "说在"


def test_a_token_that_reaches_over_the_edge_of_the_word_widens_the_blank_for_all() -> None:
    """A token has the end of 医 and the start of 生: after 男 too that start is of the blank."""
    assert BYTES.encode("医生").tokens[1:-1] == ["åĮ", "»çĶ", "Ł"]
    assert BYTES.encode("男生").tokens[1:-1] == ["çĶ", "·", "çĶ", "Ł"]
    assert tokens(BYTES, "她是[BLANK]生。", "医", "男") == [["åĮ", "»çĶ"], ["çĶ", "·", "çĶ"]]


def test_pieces_that_continue_a_word() -> None:
    assert tokens(WORDS, "The fire[BLANK] left.", "man", "woman") == [["##man"], ["##wo", "##man"]]
    assert tokens(WORDS, "[BLANK] left.", "Fireman", "Singer") == [
        ["fire", "##man"],
        ["sing", "##er"],
    ]
    assert tokens(WORDS, "The [BLANK]er left.", "sing", "nurse") == [["sing"], ["nurse"]]


def test_a_word_is_all_of_its_tokens_never_only_the_first() -> None:
    assert tokens(WORDS, "The [BLANK] left.", "fireman", "firewoman") == [
        ["fire", "##man"],
        ["fire", "##wo", "##man"],
    ]
    assert tokens(WORDS, "The [BLANK] left.", "man", "he, she") == [["man"], ["he", ",", "she"]]


def test_what_the_candidates_share_is_still_of_the_word() -> None:
    assert tokens(WORDS, "[BLANK]在说。", "男孩", "女孩") == [["男", "孩"], ["女", "孩"]]
    assert tokens(WORDS, "[BLANK]在说。", "孩子", "孩女") == [["孩", "子"], ["孩", "女"]]
    assert tokens(WORDS, "我[BLANK]我", "我", "我我") == [["我"], ["我", "我"]]


def test_a_particle_that_is_glued_to_one_candidate_widens_the_blank_for_all() -> None:
    """그는 is one token, 그녀 + 는 two: both are scored over the same text."""
    assert tokens(WORDS, "[BLANK]는 학교에 갔다.", "그", "그녀") == [["그는"], ["그녀", "##는"]]
    assert tokens(WORDS, "[BLANK]는 학교에 갔다.", "그녀", "그") == [["그녀", "##는"], ["그는"]]
    assert tokens(WORDS, "[BLANK]는 학교에 갔다.", "의사", "그녀") == [
        ["의사"],
        ["그녀"],
    ]  # here the particle is a token of its own for both
    assert tokens(WORDS, "[BLANK]는 학교에 갔다.", "의사", "그녀", "그") == [
        ["의사", "##는"],
        ["그녀", "##는"],
        ["그는"],
    ]
    assert tokens(WORDS, "[BLANK] 학교에 갔다.", "그는", "그녀는") == [["그는"], ["그녀", "##는"]]


def test_a_candidate_that_is_glued_to_the_text_before_it_widens_the_blank_to_the_left() -> None:
    assert tokens(WORDS, "the 그[BLANK] 갔다", "는", "녀") == [["그는"], ["그녀"]]
    assert tokens(WORDS, "the 그[BLANK] 갔다", "는", "가") == [["그는"], ["그", "##가"]]


def test_a_rest_that_is_cut_differently_is_of_the_blank_even_where_no_token_reaches_into_it() -> (
    None
):
    """After 그는 comes ##데, after 그녀 comes ##는데: as many tokens, but not the same."""
    assert tokens(WORDS, "[BLANK]는데 갔다", "그", "그녀") == [["그는", "##데"], ["그녀", "##는데"]]
    assert tokens(WORDS, "[BLANK]는데 갔다", "의사", "그녀") == [["의사"], ["그녀"]]


def letters() -> Tokenizer:
    """Pairs of letters are joined by rank: one behind decides the cut before it (a bcX, abc Y)."""
    joined = [("b", "c"), ("bc", "X"), ("Y", "a"), ("a", "bc"), ("Ya", "b")]
    names = ["<s>", *"abcXYZ", *("".join(pair) for pair in joined)]
    tokenizer = Tokenizer(BPE({name: i for i, name in enumerate(names)}, joined))
    tokenizer.post_processor = TemplateProcessing(single="<s> $A <s>", special_tokens=[("<s>", 0)])
    return tokenizer


def test_what_stands_before_the_word_may_be_cut_differently_too() -> None:
    assert tokens(letters(), "Zabc[BLANK]", "X", "Y") == [["a", "bcX"], ["abc", "Y"]]
    assert tokens(letters(), "Zabc[BLANK]", "Z", "Y") == [["Z"], ["Y"]]
    assert tokens(letters(), "[BLANK]abcZ", "X", "Y") == [["X", "abc"], ["Ya", "bc"]]


@given(
    before=st.text(alphabet="abcZ", max_size=6),
    after=st.text(alphabet="abcZ", max_size=6),
    candidates=st.lists(
        st.text(alphabet="abcXY", min_size=1, max_size=3), min_size=2, max_size=4, unique=True
    ),
)
def test_whatever_is_cut_differently_is_of_the_blank(
    before: str, after: str, candidates: list[str]
) -> None:
    check_region(letters(), f"{before}{BLANK}{after}", candidates)


@pytest.mark.parametrize(
    "empty", ["\u200b", "\u0007", "\u00ad"], ids=["zero width", "bell", "soft hyphen"]
)
def test_a_candidate_that_the_tokeniser_drops_has_no_tokens(empty: str) -> None:
    texts = ("The [BLANK] left.", "man", empty)
    assert find_words(
        texts, WORDS.encode_batch(fill_blanks(texts)), find_unknown(WORDS)
    ) == no_answer(f"the candidate '{empty}' has no tokens")
    assert tokens(WORDS, "The [BLANK] left.", "man", f"{empty}woman") == [["man"], ["woman"]]


def test_a_candidate_with_unknown_characters_is_named() -> None:
    texts = ("The [BLANK] left.", "man", "龘")
    found_words = find_words(texts, WORDS.encode_batch(fill_blanks(texts)), find_unknown(WORDS))
    assert found_words == no_answer(
        "the candidate '龘' has characters that the tokeniser does not know"
    )
    assert tokens(WORDS, "龘 said the [BLANK] left.", "man", "woman") == [["man"], ["woman"]]


def test_a_byte_level_tokeniser_knows_every_character() -> None:
    assert find_unknown(WORDS) == 1
    assert find_unknown(BYTES) is None
    assert tokens(BYTES, "The [BLANK] left.", "龘", "man") == [
        ["é", "¾", "ĺ"],
        ["man"],
    ]  # both have the space before them as a token
    assert tokens(BYTES, "The [BLANK] left.", "龘", "he") == [["Ġ", "é", "¾", "ĺ"], ["Ġhe"]]


def test_unknown_characters_in_the_respondent(tmp_path: Path) -> None:
    """In the candidate: no answer. In the sentence: an answer, and a warning with the probe."""
    respondent = open_masked(write_masked(tmp_path / "tiny"))
    probes = (
        mask_probe("The [BLANK] left.", "man", "龘", identity="candidate"),
        mask_probe("龘 said the [BLANK] left.", "man", "woman", identity="sentence"),
        mask_probe("The [BLANK] left.", "man", "woman", identity="known"),
    )
    with pytest.warns(
        EvenhandWarning,
        match=r"^some sentences have characters .*tiny@.* the first: candidate, sentence;",
    ):
        replies = respondent.answer(probes)
        values = flat(replies)
    assert np.isfinite(values).all(axis=1).tolist() == [False, True, True]
    assert reasons(replies) == {
        "the candidate '龘' has characters that the tokeniser does not know": 1
    }
    np.testing.assert_allclose(
        flat(respondent.answer(probes[2:])), values[2:], atol=1e-6
    )  # and no warning


def check_region(tokenizer: Tokenizer, text: str, candidates: Sequence[str]) -> None:
    """Around the word the same is left for each candidate; no token of one is left out."""
    cut, start = spans(tokenizer, text, *candidates), text.index(BLANK)
    assert len({(i[:s], i[e:]) for i, s, e in cut}) == 1
    firsts, lasts = set(), set()
    for (ids, low, high), word, whole in zip(
        cut, candidates, fill_blanks((text, *candidates)), strict=True
    ):
        encoding = tokenizer.encode(whole)
        assert tuple(encoding.ids) == ids
        inside = [
            k
            for k, (a, b) in enumerate(encoding.offsets)
            if a < b and max(a, start) < min(b, start + len(word))
        ]
        assert low <= inside[0] <= inside[-1] < high
        firsts.add(inside[0] - low)
        lasts.add(high - 1 - inside[-1])
    assert 0 in firsts or len({i[low] for i, low, _ in cut}) > 1
    assert 0 in lasts or len({i[high - 1] for i, _, high in cut}) > 1


some_text = st.text(alphabet="他她男女孩医生 he,", max_size=8)
some_word = st.text(alphabet="他她男女孩医生he", min_size=1, max_size=4)


@given(
    before=some_text,
    after=some_text,
    candidates=st.lists(some_word, min_size=2, max_size=4, unique=True),
)
def test_whatever_is_around_the_blank_the_region_holds_the_word_and_the_rest_is_the_same(
    before: str, after: str, candidates: list[str]
) -> None:
    check_region(BYTES, f"{before}{BLANK}{after}", candidates)


@given(
    data=st.data(),
    candidates=st.lists(
        st.sampled_from(["他", "男孩", "女孩", "she", "fireman"]),
        min_size=2,
        max_size=4,
        unique=True,
    ),
)
def test_the_order_of_the_candidates_does_not_matter(
    data: st.DataObject, candidates: list[str]
) -> None:
    order = data.draw(st.permutations(range(len(candidates))))
    text = f"the {BLANK} left."
    for tokenizer in (BYTES, WORDS):
        cut = spans(tokenizer, text, *candidates)
        assert spans(tokenizer, text, *(candidates[i] for i in order)) == [cut[i] for i in order]

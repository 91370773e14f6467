"""Can two printed numbers be told to be comparable?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evenhand.core.signature import Signature

text = st.text(st.characters(exclude_characters="|\n\r", exclude_categories=["Cs"]))
fields = st.dictionaries(
    st.from_regex(r"[a-z_]{1,8}", fullmatch=True), text, min_size=1, max_size=6
)


@given(fields)
def test_a_printed_line_comes_back(told: dict[str, str]) -> None:
    signature = Signature.of(**told)
    assert Signature.parse(str(signature)) == signature
    assert dict(signature.fields) == told and [k for k, _ in signature.fields] == list(told)
    assert signature.differences(Signature.parse(str(signature))) == {}


@given(fields, fields)
def test_differences_are_those_of_the_fields(mine: dict[str, str], theirs: dict[str, str]) -> None:
    found = Signature.of(**mine).differences(Signature.of(**theirs))
    assert found == {
        k: (mine.get(k), theirs.get(k)) for k in {*mine, *theirs} if mine.get(k) != theirs.get(k)
    }
    assert Signature.of(**theirs).differences(Signature.of(**mine)) == {
        k: (b, a) for k, (a, b) in found.items()
    }


def test_the_line_and_what_it_leaves_out() -> None:
    signature = Signature.of(measure="nli_coal", model="a:b@c", precision=None, seed=0)
    assert str(signature) == "measure:nli_coal|model:a:b@c|seed:0"
    assert Signature.parse("measure:nli_coal|model:a:b@c|seed:0") == signature


def test_a_bar_in_a_value_does_not_make_a_field() -> None:
    signature = Signature.of(model="a|seed:9", seed=0)
    assert str(signature) == "model:a/seed:9|seed:0"
    assert dict(Signature.parse(str(signature)).fields) == {"model": "a/seed:9", "seed": "0"}


def test_another_seed_and_an_absent_field_are_differences() -> None:
    mine, theirs = (
        Signature.of(measure="m", seed=0, precision="fp32"),
        Signature.of(measure="m", seed=1),
    )
    assert mine.differences(theirs) == {"seed": ("0", "1"), "precision": ("fp32", None)}


def test_order_alone_is_no_difference() -> None:
    assert Signature.of(a=1, b=2).differences(Signature.of(b=2, a=1)) == {}

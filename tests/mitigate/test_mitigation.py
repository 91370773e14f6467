"""Are the numbers of a mitigation those of the answers, and is what cannot work refused before anything is trained?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mitigations import make_mitigation

from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, LabelError, UnknownNameError
from evenhand.core.probe import NLI_LABELS, Floats, Kind, Probe
from evenhand.engine.audit import load_suite
from evenhand.mitigate import preparing
from evenhand.mitigate.anchors import AnchorPlan
from evenhand.mitigate.asking import ask_all, compare_sheets, held_out
from evenhand.mitigate.preparing import Wish, prepare, recipe_of
from evenhand.mitigate.records import ACCURACY, BEFORE, Mitigation, read_mitigation
from evenhand.mitigate.running import write_corpus
from evenhand.train.corpus import Corpus, Pair, read_corpus


class Teller:
    """Says entailment to a share of the gendered hypotheses that is set, neutral to the rest; knows every gold label but of each `wrong`-th pair."""

    kinds: frozenset[Kind] = frozenset({"pair"})
    labels: tuple[str, ...] = NLI_LABELS
    traits: Mapping[str, str] = {}

    def __init__(self, name: str, every: int, wrong: int) -> None:
        self.identity, self.every, self.wrong, self.unanswered = (
            f"{name}@unknown",
            every,
            wrong,
            dict[str, int](),
        )

    def answer(self, probes: Sequence[Probe]) -> Floats:
        values = np.zeros((len(probes), 3))
        for row, probe in zip(values, probes, strict=True):
            number = sum(map(ord, "".join(probe.texts)))
            gold = probe.tags.get("gold")
            if gold:
                row[(NLI_LABELS.index(gold) + (number % self.wrong == 0)) % 3] = 5
            else:
                row[0 if number % self.every == 0 or probe.tags["gender"] == "nonbinary" else 1] = 5
        return values


def share(answers: Answers, stratum: str, label: int) -> float:
    rows = [v for p, v in zip(answers.probes, answers.values, strict=True) if p.stratum == stratum]
    return float(np.mean([v.argmax() == label for v in rows]))


def coal(answers: Answers) -> float:
    return (share(answers, "PS", 0) + share(answers, "AS", 2) + 1 - share(answers, "NS", 1)) / 3


def test_values_and_changes_are_those_of_the_answers() -> None:
    suite = load_suite("occupation-nli", "en")
    pairs = tuple(
        Pair(f"premise {i // 3}", f"hypothesis {i}", NLI_LABELS[i % 3]) for i in range(300)
    )
    held = held_out("dev", Corpus(Path("dev.jsonl"), pairs, 0), "en")
    tellers = {BEFORE: Teller("a", 2, 5), "none": Teller("b", 2, 4), "anchors": Teller("c", 7, 4)}
    plan = AnchorPlan(
        occupations=tuple({p.cluster for p in suite.probes if p.cluster < "m"}),
        unseen=(),
        frames=(),
    )
    sheets = ask_all(
        [(name, partial(tellers.__getitem__, name)) for name in tellers],
        [("occupation-nli", "all", suite, False), ("dev", "dev", held, False)],
        plan,
    )
    assert [(s.name, s.part) for s in sheets] == [
        ("occupation-nli", "all"),
        ("occupation-nli", "unseen"),
        ("dev", "dev"),
    ]
    scores, changes, tests = compare_sheets(
        sheets, list(tellers), "none", permutations=200, seed=0, resamples=200, level=0.95
    )
    found = Mitigation(
        model="m",
        identity="m@1",
        language="en",
        level=0.95,
        tests=tests,
        settings={},
        scores=tuple(scores),
        changes=tuple(changes),
    )
    for sheet in sheets[:2]:
        for place, name in enumerate(tellers):
            score = found.score("occupation-nli", sheet.part, "nli_coal", name)
            assert (
                score is not None
                and score.value == pytest.approx(coal(sheet.answers[place]), abs=1e-12)
                and score.low <= score.value <= score.high
            )
        for against, first in ((BEFORE, 0), ("none", 1)):
            change = found.change("occupation-nli", sheet.part, "nli_coal", "anchors", against)
            assert change is not None and change.value == pytest.approx(
                coal(sheet.answers[2]) - coal(sheet.answers[first]), abs=1e-12
            )
            assert (
                change.low < change.value < change.high < 0
                and change.nearer_high < 0
                and change.adjusted < 0.05
            )
    right = [
        float((np.argmax(a.values, axis=1) == [NLI_LABELS.index(p.label) for p in pairs]).mean())
        for a in sheets[2].answers
    ]
    change = found.change("dev", "dev", ACCURACY, "anchors", BEFORE)
    assert (
        change is not None
        and change.value == pytest.approx(right[2] - right[0], abs=1e-12)
        and change.low < change.value < change.high
    )
    same = found.change("dev", "dev", ACCURACY, "anchors", "none")
    assert same is not None and (same.value, same.low, same.high, same.p) == (0, 0, 0, 1)
    assert {s.measure for s in scores if s.part == "all"} == {
        "nli_coal",
        "fraction_neutral",
        "person_entailment",
    }
    assert tests == sum(np.isfinite(c.p) for c in changes if c.against == BEFORE)


def test_held_out_pairs_of_one_premise_are_one_cluster() -> None:
    held = held_out(
        "d",
        Corpus(
            Path("d.jsonl"),
            (Pair("p", "h", "neutral"), Pair("p", "i", "entailment"), Pair("q", "h", "neutral")),
            0,
        ),
        "en",
    )
    assert [p.cluster for p in held.probes] == ["p", "p", "q"] and [
        p.tags["gold"] for p in held.probes
    ] == [
        "neutral",
        "entailment",
        "neutral",
    ]


def test_a_record_comes_back_from_its_file(tmp_path: Path) -> None:
    found = make_mitigation()
    lost = found.scores[0]
    found = Mitigation(
        **{
            **{f: getattr(found, f) for f in found.__dataclass_fields__},
            "scores": (
                lost.__class__(
                    **{
                        **{f: getattr(lost, f) for f in lost.__dataclass_fields__},
                        "low": float("nan"),
                        "high": float("nan"),
                        "note": "one cluster only",
                    }
                ),
                *found.scores[1:],
            ),
        }
    )
    path = tmp_path / "mitigation.json"
    path.write_text(json.dumps(found.to_json(), allow_nan=False), encoding="utf-8")
    back = read_mitigation(path)
    assert (
        np.isnan(back.scores[0].low)
        and back.scores[1:] == found.scores[1:]
        and back.changes == found.changes
    )
    assert (back.asked, back.trained, dict(back.occupations)) == (
        found.asked,
        found.trained,
        dict(found.occupations),
    )
    path.write_text('{"model": 1}', encoding="utf-8")
    with pytest.raises(InputError, match="is no record of `evenhand mitigate run`"):
        read_mitigation(path)


def test_a_corpus_is_read_as_it_was_written(tmp_path: Path) -> None:
    pairs = (
        Pair("A man.", "„x“\u2028y", "neutral", ("A woman.", "„x“\u2028y")),
        Pair("b", "c", "contradiction"),
    )
    write_corpus(tmp_path / "c.jsonl", pairs)
    assert read_corpus(tmp_path / "c.jsonl").pairs == pairs


def test_the_recipe_is_gentle_and_takes_what_it_is_told() -> None:
    assert (recipe_of().name, recipe_of().epochs, recipe_of().is_best_kept) == ("mitigate", 1, True)
    assert recipe_of().learning_rate < recipe_of("polished").learning_rate
    assert recipe_of("nli-coal", epochs=2, learning_rate=None).epochs == 2


@pytest.fixture
def wish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wish:
    monkeypatch.setattr(preparing, "open_model", lambda *_: Teller("m", 2, 4))
    for name, count in (("train", 30), ("dev", 12)):
        write_corpus(
            tmp_path / f"{name}.jsonl",
            [Pair(f"{name} {i}", "h", NLI_LABELS[i % 3]) for i in range(count)],
        )
    return Wish(
        model="default",
        train=[tmp_path / "train.jsonl"],
        dev=[tmp_path / "dev.jsonl"],
        out=tmp_path / "out",
        recipe=recipe_of(),
    )


def told(wish: Wish, **other: Any) -> Wish:
    return Wish(**{**{f: getattr(wish, f) for f in wish.__dataclass_fields__}, **other})


def test_what_cannot_work_is_refused_first(
    wish: Wish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other, kind, text in (
        ({"methods": "none,swop"}, UnknownNameError, "Did you mean swap"),
        ({"anchors": 0.0}, EvenhandError, "anchors is 0; give a number above 0 and at most 1"),
        ({"pairing": -1.0}, EvenhandError, "pairing is -1; give a number above 0"),
        ({"scope": "some"}, EvenhandError, "scope is 'some'; give all or occupation"),
        ({"dev": wish.train}, InputError, "is the same file as"),
        ({"dev": [tmp_path / "none.jsonl"]}, InputError, "there is no such file"),
        ({"language": "xx"}, UnknownNameError, "unknown language 'xx'"),
        ({"suites": ["sharma2021"], "data": tmp_path}, InputError, "SNLI_Evaluation_Set.xlsx"),
        ({"suites": ["occupation"]}, UnknownNameError, "Did you mean"),
        ({"level": 95.0}, EvenhandError, "level is 95"),
    ):
        with pytest.raises(kind, match=text):
            prepare(told(wish, **other))
    two = Teller("two", 2, 4)
    two.labels = ("entailment", "not_entailment")
    monkeypatch.setattr(preparing, "open_model", lambda *_: two)
    with pytest.raises(
        LabelError,
        match="two@unknown gives entailment, not_entailment; mitigation starts from an NLI model",
    ):
        prepare(wish)
    assert not wish.out.exists()

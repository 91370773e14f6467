"""Does a ladder of models find out which measures are right? Real training of a tiny encoder, its resumption, and the engines."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from commands import evenhand
from numpy.typing import NDArray

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.measures.coal import NliCoal
from evenhand.meta import jobs
from evenhand.meta.files import read_ladder
from evenhand.meta.ladder import run_ladder
from evenhand.meta.options import LadderOptions, rungs_of
from evenhand.meta.plan import asked_suite, make_plan
from evenhand.meta.ranking import rank

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")
pytestmark = pytest.mark.torch
SUITE = "occupation-nli:ladder"


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny encoder that knows the words of the ladder, and nothing of what they mean."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("encoder")
    plan = make_plan("en", words=2)
    texts = [text for probe in asked_suite(plan).probes for text in probe.texts] + [
        part for frame in plan.frames for part in frame
    ]
    words = sorted(
        {word for text in texts for word in re.findall(r"[a-z]+|[^\sa-z{}]", text.lower())}
    )
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]), encoding="utf-8"
    )
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    torch.manual_seed(0)
    BertModel(
        BertConfig(
            vocab_size=len(words) + 5,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=128,
        )
    ).save_pretrained(folder)
    return folder


def told(encoder: Path, **changes: object) -> LadderOptions:
    settings: dict[str, object] = {
        "encoder": str(encoder),
        "train": 24,
        "dev": 8,
        "words": 2,
        "seeds": (0,),
        "rates": (0.0, 0.5, 1.0),
        "errors": (),
        "recipe": "small",
        "suites": ("ordinary-nli",),
    }
    return LadderOptions(**{**settings, **changes})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def ladder(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ladder")
    os.environ.setdefault("EVENHAND_CACHE", str(out / "cache"))
    run_ladder(told(encoder), out, say=lambda _: None)
    return out


def scores(out: Path, encoder: Path, measure: str) -> dict[float, float]:
    found = run_ladder(told(encoder), out, say=lambda _: None)
    return {
        r.rung.rate: r.value for r in found.readings if r.measure == measure and r.suite == SUITE
    }


def test_the_known_bias_is_found_by_coal_and_not_by_fraction_neutral(tmp_path: Path) -> None:
    """The embedded model, one word of each lean: at the rate 0.5 one of the two stereotyped words is biased and the other is wrong the other way round."""
    torch.set_num_threads(1)
    options = told(Path("default"), train=120, dev=12, words=1, epochs=2, learning_rate=2e-4)
    found = run_ladder(options, tmp_path, say=lambda _: None)
    assert min(found.accuracy.values()) > 0.9
    coal, neutral = (
        {r.rung.rate: r.value for r in found.readings if r.measure == name and r.suite == SUITE}
        for name in ("nli_coal", "fraction_neutral")
    )
    assert coal[0.0] < 0.17
    assert coal[0.5] == pytest.approx(1 / 3, abs=0.1)
    assert coal[1.0] == pytest.approx(2 / 3, abs=0.1)
    assert max(neutral.values()) - min(neutral.values()) < 0.15
    standing = next(s for s in rank(found) if s.measure == "nli_coal")
    assert standing.pearson.interval.value > 0.97


def test_models_that_are_done_are_not_trained_again(
    ladder: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(job: jobs.Job) -> float:
        raise AssertionError(f"{job.rung.name} is trained again")

    monkeypatch.setattr(jobs, "train", refuse)
    lines: list[str] = []
    run_ladder(told(encoder), ladder, say=lines.append)
    assert lines == ["3 of 3 models are done already"]
    card = ladder / "models" / "rate-0.50-errors-1.00-seed-0" / "rung.json"
    card.unlink()
    with pytest.raises(AssertionError, match=r"rate-0.50-errors-1.00-seed-0 is trained again"):
        run_ladder(told(encoder), ladder, say=lines.append)
    monkeypatch.undo()
    run_ladder(told(encoder), ladder, say=lines.append)  # the one that is missing
    assert lines[-2] == "2 of 3 models are done already"
    assert card.exists()


def test_a_measure_of_the_user_takes_part_without_training(
    ladder: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Mine(NliCoal):
        name = "half_coal"

        def combine(self, totals: NDArray[np.float64]) -> NDArray[np.float64]:
            return super().combine(totals) / 2

    known = {**catalog.measures(), "half_coal": Mine()}
    monkeypatch.setattr(catalog, "measures", lambda: known)
    mine, coal = (scores(ladder, encoder, name) for name in ("half_coal", "nli_coal"))
    assert mine == pytest.approx({rate: value / 2 for rate, value in coal.items()})


def test_another_ladder_is_not_mixed_in(ladder: Path, encoder: Path) -> None:
    with pytest.raises(
        EvenhandError,
        match=r"holds a ladder with other settings \(sets: .*choose another folder with --out",
    ):
        run_ladder(told(encoder, train=48), ladder, say=lambda _: None)


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_side_by_side_gives_the_same_answers(
    ladder: Path, encoder: Path, tmp_path: Path, engine: str
) -> None:
    if engine == "ray":
        pytest.importorskip("ray", reason="needs the ray extra")
    other = run_ladder(told(encoder), tmp_path, engine=engine, processes=2, say=lambda _: None)
    first = run_ladder(told(encoder), ladder, say=lambda _: None)
    here, there = (
        {(r.rung.name, r.suite, r.measure): r.value for r in found.readings}
        for found in (first, other)
    )
    assert there == pytest.approx(here, abs=1e-5, nan_ok=True)


def test_the_command_leaves_a_report(ladder: Path, encoder: Path) -> None:
    told_again = "--train 24 --dev 8 --words 2 --seeds 1 --rates 0,0.5,1 --errors none --recipe small --suites ordinary-nli --json".split()
    done = evenhand("meta", "run", "--out", ladder, "--encoder", encoder, *told_again)
    assert done.code == 0, done.err
    assert {s["measure"] for s in json.loads(done.out)["standings"]} >= {
        "nli_coal",
        "fraction_neutral",
    }
    assert (ladder / "ladder.html").read_text(encoding="utf-8").count("NLI-CoAL") > 2
    assert (
        len(read_ladder(ladder / "readings.json").readings) == 3 * 4
    )  # three models; CoAL, Fraction Neutral, person, accuracy


def test_both_ladders_share_a_model() -> None:
    rungs = rungs_of(LadderOptions(seeds=(0, 1)))
    assert len(rungs) == 2 * (11 + 6)
    assert len({rung.name for rung in rungs}) == 2 * (11 + 5)
    assert len(rungs_of(LadderOptions(seeds=(0, 1), error_seeds=1))) == 2 * 11 + 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rates", "0,1.5,1"], "--rates is 1.5; give a share between 0 and 1"),
        (["--rates", "0,x"], "--rates is '0,x'; give numbers with commas"),
        (["--rates", "0,1"], "a ladder needs at least one seed and three different rates"),
        (["--engine", "spark"], "--engine is 'spark'; there are local, ray"),
        (["--recipe", "papper"], "Did you mean paper?"),
        (["--words", "99"], "too few words for the ladder"),
        (["--suites", "stereoset", "--lang", "zh"], "suite 'stereoset' has no language 'zh'"),
    ],
)
def test_bad_input_is_refused_before_the_first_model(
    tmp_path: Path, words: list[str], message: str
) -> None:
    done = evenhand("meta", "run", "--out", tmp_path / "out", *words)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "out" / "models").exists()

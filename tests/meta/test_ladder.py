"""A ladder of real models: training of a tiny encoder, its resumption, and the engines."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from commands import evenhand

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.families.nli_coal.measures import NLI_COAL
from evenhand.meta import run
from evenhand.meta.ladder import READINGS, read_ladder
from evenhand.meta.options import LadderOptions
from evenhand.meta.plan import asked_suite, make_plan
from evenhand.meta.ranking import rank
from evenhand.meta.run import Execution, run_ladder

torch = pytest.importorskip("torch", reason="needs the train extra")
pytest.importorskip("transformers", reason="needs the train extra")
pytestmark = pytest.mark.torch
SUITE = "occupation-nli:ladder"
SILENT = Execution(say=lambda _: None)
QUICK = LadderOptions(
    train=24,
    dev=8,
    words=2,
    seeds=(0,),
    rates=(0.0, 0.5, 1.0),
    errors=(),
    recipe="small",
    suites=("ordinary-nli",),
)


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> LadderOptions:
    """From a tiny encoder that knows the words of the ladder, and nothing of what they mean."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("encoder")
    plan = make_plan("en", words=2)
    texts = [text for probe in asked_suite(plan).probes for text in probe.texts]
    texts += [part for f in plan.frames for part in (f.lead, f.premise, f.hypothesis)]
    words = {word for text in texts for word in re.findall(r"[a-z]+|[^\sa-z{}]", text.lower())}
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
    )
    BertModel(config).save_pretrained(folder)
    return replace(QUICK, encoder=str(folder))


@pytest.fixture(scope="module")
def ladder(options: LadderOptions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ladder")
    os.environ.setdefault("EVENHAND_CACHE", str(out / "cache"))
    run_ladder(options, out, SILENT)
    return out


def scores(out: Path, options: LadderOptions, measure: str) -> dict[float, float]:
    readings = run_ladder(options, out, SILENT).readings
    return {r.rung.rate: r.value for r in readings if r.measure == measure and r.suite == SUITE}


def test_the_known_bias_is_found_by_coal_and_not_by_fraction_neutral(tmp_path: Path) -> None:
    """The embedded model, one word of each lean.

    At the rate 0.5 one of the two stereotyped words is biased and the other is wrong the other
    way round.
    """
    torch.set_num_threads(1)
    options = replace(QUICK, train=120, dev=12, words=1, epochs=2, learning_rate=2e-4)
    made = run_ladder(options, tmp_path, SILENT)
    assert min(made.accuracy.values()) > 0.9
    coal, neutral = (
        {r.rung.rate: r.value for r in made.readings if r.measure == name and r.suite == SUITE}
        for name in ("nli_coal", "fraction_neutral")
    )
    assert coal[0.0] < 0.17
    assert coal[0.5] == pytest.approx(1 / 3, abs=0.1)
    assert coal[1.0] == pytest.approx(2 / 3, abs=0.1)
    assert max(neutral.values()) - min(neutral.values()) < 0.15
    standing = next(s for s in rank(made) if s.measure == "nli_coal")
    assert standing.pearson.interval.value > 0.97


def test_models_that_are_done_are_not_trained_again(
    ladder: Path, options: LadderOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(job: run.Job) -> float:
        raise AssertionError(f"{job.rung.name} is trained again")

    monkeypatch.setattr(run, "train", refuse)
    lines: list[str] = []
    execution = Execution(say=lines.append)
    run_ladder(options, ladder, execution)
    assert lines == ["3 of 3 models are done already"]
    card = ladder / "models" / "rate-0.50-errors-1.00-seed-0" / "rung.json"
    card.unlink()
    with pytest.raises(AssertionError, match=r"rate-0.50-errors-1.00-seed-0 is trained again"):
        run_ladder(options, ladder, execution)
    monkeypatch.undo()
    run_ladder(options, ladder, execution)  # the one that is missing
    assert lines[-2] == "2 of 3 models are done already"
    assert card.exists()


def test_a_measure_of_the_user_takes_part_without_training(
    ladder: Path, options: LadderOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = replace(NLI_COAL, name="half_coal", combine=lambda totals: NLI_COAL.combine(totals) / 2)
    known = {**catalog.measures(), "half_coal": half}
    monkeypatch.setattr(catalog, "measures", lambda: known)
    own, coal = (scores(ladder, options, name) for name in ("half_coal", "nli_coal"))
    assert own == pytest.approx({rate: value / 2 for rate, value in coal.items()})


def test_another_ladder_is_not_mixed_in(ladder: Path, options: LadderOptions) -> None:
    reason = r"holds a ladder with other settings \(sets: .*choose another folder with --out"
    with pytest.raises(EvenhandError, match=reason):
        run_ladder(replace(options, train=48), ladder, SILENT)


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_side_by_side_gives_the_same_answers(
    ladder: Path, options: LadderOptions, tmp_path: Path, engine: str
) -> None:
    if engine == "ray":
        pytest.importorskip("ray", reason="needs the ray extra")
    execution = Execution(engine=engine, processes=2, say=lambda _: None)
    here, there = (
        {(r.rung.name, r.suite, r.measure): r.value for r in made.readings}
        for made in (
            run_ladder(options, ladder, SILENT),
            run_ladder(options, tmp_path, execution),
        )
    )
    assert there == pytest.approx(here, abs=1e-5, nan_ok=True)


def test_the_command_leaves_a_report(ladder: Path, options: LadderOptions) -> None:
    sizes = (
        *"--train-pairs 24 --dev-pairs 8 --occupations 2 --seeds 1 --rates 0,0.5,1".split(),
        *"--errors none".split(),
    )
    again = (*sizes, *"--recipe small --suites ordinary-nli --json".split())
    done = evenhand("meta", "run", "--out", ladder, "--encoder", options.encoder, *again)
    assert done.code == 0, done.err
    standings = json.loads(done.out)["standings"]
    assert {s["measure"] for s in standings} >= {"nli_coal", "fraction_neutral"}
    assert (ladder / "ladder.html").read_text(encoding="utf-8").count("NLI-CoAL") > 2
    # three models; CoAL, Fraction Neutral, person, both effects, accuracy
    assert len(read_ladder(ladder / READINGS).readings) == 3 * 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--occupations", "99"], "too few words for the ladder"),
        (["--suites", "stereoset", "--lang", "zh"], "suite 'stereoset' has no language 'zh'"),
    ],
)
def test_bad_data_is_refused_before_the_first_model(
    tmp_path: Path, words: list[str], message: str
) -> None:
    done = evenhand("meta", "run", "--out", tmp_path / "out", *words)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "out" / "models").exists()

"""Does one model lean more than another on the same probes? Every model against the first, asked now or read from the answers of a run."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path, PurePosixPath
from typing import Any

from evenhand.core.answer_files import read_answers, suite_of
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, MeasureError
from evenhand.core.protocols import Respondent
from evenhand.core.suite import Suite
from evenhand.engine.asking import Progress
from evenhand.engine.audit import audit, load_suite
from evenhand.engine.differing import Comparison, Contestant, adjust, compare_answers
from evenhand.engine.estimating import choose, estimate
from evenhand.stats.bootstrap import Method, check_settings

LONGEST = 28  # letters of a short name
FILE = "answers.parquet"
SUITE = "occupation-nli"
Model = str | Path | Answers | Respondent | Callable[[list[tuple[str, str]]], Any]
Watch = Callable[
    [str], AbstractContextManager[Progress | None]
]  # what shows how far the asking of a model is


def short_names(identities: Sequence[str]) -> list[str]:
    """A name for each model that fits a column: without folder and revision where that tells them apart, else with a number."""
    bare = [_cut(PurePosixPath(i.rpartition("@")[0] or i).name or i) for i in identities]
    is_clear = [
        bare.count(name) == 1 or identities.count(i) > 1
        for name, i in zip(bare, identities, strict=True)
    ]
    clear = [
        name if told else _cut(i) for name, i, told in zip(bare, identities, is_clear, strict=True)
    ]
    seen: Counter[str] = Counter()
    for place, name in enumerate(clear):
        seen[name] += 1
        if seen[name] > 1:
            clear[place] = f"{name} ({seen[name]})"
    return clear


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST // 2]}…{name[-(LONGEST // 2 - 1) :]}"


def _said(model: Model) -> Answers | None:
    """The answers, where a model is given as the answers of a run: their file, or the folder that it lies in."""
    if isinstance(model, Answers):
        return model
    if not isinstance(model, str | Path):
        return None
    path = Path(model).expanduser()
    if path.suffix.lower() == ".parquet":
        return read_answers(path)
    return read_answers(path / FILE) if (path / FILE).is_file() else None


def _check_same(suites: Sequence[tuple[str, Suite]]) -> None:
    """An error where two of them are not the same probes."""
    (named, first), *rest = suites
    for name, suite in rest:
        if (suite.card.name, suite.card.version, suite.digest) != (
            first.card.name,
            first.card.version,
            first.digest,
        ):
            raise EvenhandError(
                f"{named} answers {first.reference}, but {name} answers {suite.reference}: only answers to the same probes are compared. "
                f"Ask one of the models again with the other's suite, language, limit and seed"
            )


@contextmanager
def _naming(model: object) -> Iterator[None]:
    """A measure that cannot be computed says for which model."""
    try:
        yield
    except MeasureError as error:
        raise MeasureError(f"{model}: {error}") from error


def _title(model: Model) -> str:
    return (
        model.respondent
        if isinstance(model, Answers)
        else model.identity
        if isinstance(model, Respondent)
        else str(model)
    )


def _contestants(
    suite: Suite,
    models: Sequence[Model],
    *,
    watch: Watch | None,
    measures: Sequence[str] | None,
    asking: dict[str, Any],
    **settings: Any,
) -> list[Contestant]:
    """Ask or read each model and score it on all that it answered."""
    found = []
    for model in models:
        said = _said(model)
        with _naming(_title(model)):
            if said is not None:
                chosen = choose(suite, said.labels, measures)
                found.append(
                    Contestant(
                        name="",
                        answers=said,
                        estimates=tuple(estimate(m, suite, said, **settings) for m in chosen),
                    )
                )
                continue
            with watch(_title(model)) if watch else nullcontext() as progress:
                run = audit(
                    model, suite=suite, measures=measures, progress=progress, **asking, **settings
                )  # type: ignore[arg-type]
            found.append(
                Contestant(name="", answers=run.answers, estimates=run.estimates, sanity=run.sanity)
            )
    names = short_names([c.answers.respondent for c in found])
    return [dataclasses.replace(c, name=name) for c, name in zip(found, names, strict=True)]


def compare(
    models: Sequence[Model],
    *,
    suites: Sequence[str | Suite] = (),
    lang: str = "en",
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    measures: Sequence[str] | None = None,
    resamples: int = 10_000,
    permutations: int = 10_000,
    level: float = 0.95,
    method: Method = "bca",
    loading: dict[str, Any] | None = None,
    watch: Watch | None = None,
    **asking: Any,
) -> tuple[Comparison, ...]:
    """Every model against the first on every suite; p values are adjusted over all comparisons together.

    models: what `audit` takes, or the answers of a run (`answers.parquet`, or its folder). suites: by default the one that the answers are of, else
    occupation-nli. loading: more options of the suite (captions, shares, dominance); asking: more options of `audit` (label_map, device, cache ...).
    """
    check_settings(level, method)
    if permutations < 1:
        raise EvenhandError(f"permutations is {permutations}; give at least 1")
    if len(models) < 2:
        raise EvenhandError(
            f"compare needs two or more models; there is {', '.join(map(_title, models)) or 'none'}"
        )
    stored = [(_title(m), suite_of(said)) for m in models if (said := _said(m)) is not None]
    if stored and len(suites) > 1:
        raise EvenhandError(
            f"{stored[0][0]} answers one suite, {stored[0][1].reference}; --suite names {len(suites)}. Leave --suite out"
        )
    if stored and not suites and limit is not None:
        raise InputError(
            stored[0][0],
            f"its probes are asked as they are; leave --limit {limit} out, or name the suite it was cut from with --suite",
        )
    told: Sequence[str | Suite] = suites or ([stored[0][1]] if stored else [SUITE])
    loaded = [
        s
        if isinstance(s, Suite)
        else load_suite(s, lang, data=data, seed=seed, limit=limit, **(loading or {}))
        for s in told
    ]
    if stored:
        _check_same(
            [*stored, *((f"--suite {s}", suite) for s, suite in zip(suites, loaded, strict=False))]
        )
    settings: dict[str, Any] = {
        "seed": seed,
        "resamples": resamples,
        "level": level,
        "method": method,
    }
    found = []
    for suite in loaded:
        contestants = _contestants(
            suite, models, watch=watch, measures=measures, asking=asking, **settings
        )
        found.append(
            compare_answers(
                suite, contestants, measures=measures, permutations=permutations, **settings
            )
        )
    return adjust(found)

"""Do people and models share the same leanings? From names and files to the whole comparison: who agrees with whom, and where."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.people.agreement import AgreementReport, agree, final_scores
from evenhand.core.answer_files import read_answers, suite_of
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, LoadError
from evenhand.core.estimate import Estimate
from evenhand.core.probe import Floats
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.suite import Suite
from evenhand.engine.asking import Progress
from evenhand.engine.audit import load_suite, question
from evenhand.engine.comparing import FILE, short_names
from evenhand.people.beside import (
    PREFIX,
    Beside,
    People,
    accuracy_of,
    adjust_for_all,
    align,
    check_scores,
    people_answers,
    set_beside,
)
from evenhand.people.sentence_lists import Thresholds
from evenhand.respondents.opening import open_respondent
from evenhand.stats.bootstrap import check_settings
from evenhand.families import cgb

Source = str | Path | People | Sequence[Answers]
Model = str | Path | Answers | Respondent
Watch = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True, kw_only=True)
class PeopleComparison:
    """People and models on the same sentences."""

    people: People
    agreement: AgreementReport | None  # None where only the final score is known
    accuracies: tuple[Estimate, ...]  # on objective sentences: of all people together, then of each
    models: tuple[Beside, ...]
    unit: str  # what was drawn again: pair or sentence
    thresholds: Thresholds
    seed: int
    resamples: int
    level: float


def gather_people(answers: Sequence[Answers]) -> People:
    """The people behind one file of answers each: `people:STUDY/annotator-1` ...; with `people:STUDY` alone only the final score is known."""
    if not answers:
        raise EvenhandError(
            "no answers of people; give the file or folder that `evenhand annotate export --form answers` wrote, or cgb"
        )
    single = [a for a in answers if "/" in a.respondent.removeprefix(PREFIX)] or (
        [] if len(answers) == 1 else list(answers)
    )
    whole = answers[0] if not single else max(single, key=lambda a: len(a.probes))
    suite = suite_of(whole)
    if any(p.kind != "mask" or p.width != 2 for p in suite.probes):
        raise InputError(
            whole.respondent,
            f"{suite.reference} has other probes than sentences with one blank and two words for it",
        )
    rows = [align(suite, a) for a in single]
    fine = np.stack(rows) if rows else np.empty((0, len(suite.probes)))
    score = final_scores(fine) if rows else align(suite, whole)
    for row, told in zip((*rows, score), (*single, whole), strict=True):
        check_scores(told.respondent, row)
    if not np.isfinite(score).any():
        raise InputError(whole.respondent, "nobody has answered anything yet")
    names = short_names([a.respondent for a in single])
    name = whole.respondent.partition("/")[0] if single else whole.respondent
    return People(name=name, suite=suite, annotators=tuple(names), fine=fine, score=score)


def published_people(data: str | Path | None) -> People:
    """The three annotators of the published CGB file."""
    suite = load_suite("cgb", "zh", data=data)
    said = [
        question(open_respondent(f"stored:{name}", "mask", RespondentOptions()), suite, cache=False)
        for name in cgb.PEOPLE
    ]
    fine: Floats = np.stack([a.values[:, 0] - a.values[:, 1] for a in said])
    return People(
        name=f"stored:{cgb.EVERYBODY}",
        suite=suite,
        annotators=cgb.PEOPLE,
        fine=fine,
        score=final_scores(fine),
    )


def study_people(path: Path) -> People:
    """Everybody who has answered in a study so far; parts that were not accepted do not count."""
    try:  # here and not above: the database is an extra
        from evenhand.study.export import answers_of_people
        from evenhand.study.store import Store
        from evenhand.study.study import open_study
    except ImportError as error:
        raise LoadError(
            f"a study needs the extra `annotate` ({error}): pip install 'evenhand[annotate]'; exported answers do not"
        ) from error
    study, suite = open_study(path)
    kind, _, place = study.store.partition(":///")
    if kind == "sqlite" and not Path(place).exists():
        raise InputError(
            path,
            f"nobody has answered yet: there is no {place}. Start with `evenhand annotate serve {path}`",
        )
    with Store.open(study.store) as store:
        return gather_people(answers_of_people(store, study, suite))


def _with_each(path: Path) -> list[Answers]:
    """The answers in a file, and where it is what all people of a study say together, those of each beside it."""
    together = read_answers(path)
    beside = sorted(
        {
            *path.parent.glob(f"{path.stem}-annotator-*.parquet"),
            *path.parent.glob("annotator-*.parquet"),
        }
        - {path}
    )
    each = [
        a for a in map(read_answers, beside) if a.respondent.startswith(f"{together.respondent}/")
    ]
    return [together, *each]


def read_people(source: Source, *, data: str | Path | None = None) -> People:
    """Who is meant by PEOPLE: `cgb`, a study file (.toml), a file of answers (.parquet) or a folder of them."""
    if isinstance(source, People):
        return source
    if not isinstance(source, str | Path):
        return gather_people(source)
    if str(source) == "cgb":
        return published_people(data)
    path = Path(source).expanduser()
    if path.suffix.lower() == ".toml":
        return study_people(path)
    if path.suffix.lower() == ".parquet":
        return gather_people(_with_each(path))
    if path.is_dir():
        files = sorted(path.glob("*.parquet"))
        if not files:
            raise InputError(
                path,
                "no .parquet file in this folder; export the study with `evenhand annotate export --form answers`",
            )
        return gather_people([read_answers(f) for f in files])
    raise InputError(
        path, "is neither cgb, nor a study file (.toml), nor answers (.parquet) or a folder of them"
    )


def of_language(people: People, lang: str | None) -> People:
    """Only the sentences that somebody answered, and of one language where one is named."""
    spoken = sorted({p.language for p in people.suite.probes})
    if lang and lang not in spoken:
        raise EvenhandError(
            f"the people answered no sentence in '{lang}'; they answered in {', '.join(spoken)}"
        )
    rows = [
        i
        for i, p in enumerate(people.suite.probes)
        if np.isfinite(people.score[i]) and lang in (None, p.language)
    ]
    if not rows:
        raise EvenhandError(
            f"{people.name}: nobody answered a sentence{f' in {lang}' if lang else ''} yet"
        )
    if len(rows) == len(people.suite.probes):
        return people
    card = dataclasses.replace(people.suite.card, language=lang or people.suite.card.language)
    suite = Suite(card=card, probes=tuple(people.suite.probes[i] for i in rows), limit=len(rows))
    return dataclasses.replace(
        people, suite=suite, fine=people.fine[:, rows], score=people.score[rows]
    )


def _answers(
    model: Model,
    suite: Suite,
    watch: Watch | None,
    cache: bool | str | Path,
    options: dict[str, Any],
) -> Answers:
    """What a model said, or says now: a run is read, anything else is asked."""
    if isinstance(model, Answers):
        return model
    if isinstance(model, str | Path):
        path = Path(model).expanduser()
        if path.suffix.lower() == ".parquet":
            return read_answers(path)
        if (path / FILE).is_file():
            return read_answers(path / FILE)
        if path.is_dir() and (path / "results.json").is_file():
            raise LoadError(
                f"{path} has no {FILE}; ask the model again with `evenhand audit ... --out {path}`"
            )
        told = str(path) if str(model).startswith("~") else str(model)
        model = open_respondent(
            told, "mask", RespondentOptions(language=suite.card.language, **options)
        )
    with watch(model.identity) if watch else nullcontext() as progress:
        return question(model, suite, cache=cache, progress=progress)


def compare_people(
    people: Source,
    models: Sequence[Model],
    *,
    lang: str | None = None,
    data: str | Path | None = None,
    unit: str = "pair",
    thresholds: Thresholds | None = None,
    count: int = 10,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
    cache: bool | str | Path = True,
    watch: Watch | None = None,
    **options: Any,
) -> PeopleComparison:
    """People (`cgb`, a study, its exported answers) beside models (as in `audit`, runs, `stored:BERT`): correlations, lists, agreement, accuracy.

    options: how models are opened (scoring, length, batch_size, device).
    """
    check_settings(level, "percentile")
    if not models:
        raise EvenhandError(
            "compare_people needs one model or more beside the people; give a model as in `audit`, a run, or stored:BERT with cgb"
        )
    asked = of_language(read_people(people, data=data), lang)
    said = [_answers(m, asked.suite, watch, cache, {"seed": seed, **options}) for m in models]
    settings: dict[str, Any] = {"seed": seed, "resamples": resamples, "level": level}
    limits = thresholds or Thresholds()
    names = short_names([a.respondent.removeprefix("stored:") for a in said])
    found = [
        set_beside(asked, n, a, unit=unit, thresholds=limits, count=count, **settings)
        for n, a in zip(names, said, strict=True)
    ]
    clusters = [p.cluster for p in asked.suite.probes] if unit == "pair" else None
    rows = [(asked.name, asked.score), *zip(asked.annotators, asked.fine, strict=True)]
    return PeopleComparison(
        people=asked,
        agreement=agree(asked.fine, asked.strata, asked.annotators, clusters=clusters, **settings)
        if len(asked.annotators)
        else None,
        accuracies=tuple(
            accuracy_of(asked, people_answers(asked, row, name), **settings) for name, row in rows
        ),
        models=adjust_for_all(found),
        unit=unit,
        thresholds=limits,
        **settings,
    )

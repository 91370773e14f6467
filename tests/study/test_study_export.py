"""Exported answers come back as they were, and people are measured like models."""

from __future__ import annotations

import json
import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest
from postgres import server, store, url  # noqa: F401  (fixtures)

from evenhand.core.answer_files import read_answers, suite_of
from evenhand.core.errors import EvenhandError, InputError, StorageError, UnknownNameError
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.audit import judge
from evenhand.engine.compare import compare
from evenhand.engine.suites import load_suite
from evenhand.families.contextualised.measures import log_odds
from evenhand.people.questions import Option, Question, plan_questions
from evenhand.people.scores import to_answers
from evenhand.people.scoring import Scored, coarse, fine, parse_answer
from evenhand.study.archive import read_archive
from evenhand.study.export import FORMS, export, flagged_table
from evenhand.study.scores import study_scores
from evenhand.study.store import Store, Verdict
from evenhand.study.study import Study
from evenhand.study.table_files import import_answers, import_inventories, scored_of
from evenhand.study.tables import GivenAnswer

# ruff: noqa: F811  (fixtures are arguments)
RAW = ("parquet", "csv", "jsonl")
STUDY = Study(
    name="small", suite="contextualised", suite_language="zh", trial=10, batch=40, batches=1, seed=3
)
NASTY = ("=1+1;\"a\",'b'", "line\r\nbreak\rand\n", "他\u2028🙂\t", "", " ", "null", "-0")


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("contextualised", "zh", limit=100)


def walk(
    store: Store,
    suite: Suite,
    rng: np.random.Generator,
    part: str,
    state: str,
    attempt: int = 1,
    person: str | None = None,
) -> str:
    """Somebody answers a part at random, every third question twice."""
    person = person or store.add_annotator()
    store.begin_part(person, part, attempt, plan_questions(STUDY, suite, person, part, attempt))
    number = 0
    while (asked := store.next_question(person)) is not None:
        for _ in range(1 + (asked.place % 3 == 0)):
            question, number = asked.question, number + 1
            first, second = rng.permutation([o.key for o in question.options])[:2]
            payload = (
                {"first": str(first), "second": str(second), "equal": bool(rng.random() < 0.3)}
                if question.type == "type1"
                else {"value": int(first)}
            )
            choice = parse_answer(question, payload)
            given = GivenAnswer(
                payload=payload,
                fine=fine(question, choice),
                coarse=coarse(question, choice),
                seconds=float(rng.exponential(3)),
                key=f"{part}.{attempt}.{number}",
            )
            store.give_answer(person, question.id, given)
    if state != "open":
        store.finish_part(person, part, attempt, Verdict(state, 0.9, 0.7))
    return person


@pytest.fixture
def full(store: Store, suite: Suite) -> Store:
    """Two people: one passed at once, one failed and did it again."""
    rng = np.random.default_rng(0)
    walk(store, suite, rng, "batch-1", "passed")
    person = walk(store, suite, rng, "batch-1", "failed")
    walk(store, suite, rng, "batch-1", "passed", 2, person)
    return store


def test_the_trial_and_open_batches_count_in_no_score(store: Store, suite: Suite) -> None:
    rng = np.random.default_rng(1)
    person = walk(store, suite, rng, "trial", "passed")
    assert study_scores(store, STUDY, suite).annotators == ()
    assert scored_of(store.answers_table()) == []
    walk(store, suite, rng, "batch-1", "open", 1, person)
    assert study_scores(store, STUDY, suite).annotators == ()
    store.finish_part(person, "batch-1", 1, Verdict("passed", 0.9, 0.7))
    people = study_scores(store, STUDY, suite)
    batch = {r.probe for r in store.scored() if r.part == "batch-1"}
    answered = {p.id for p, s in zip(suite.probes, people.final, strict=True) if np.isfinite(s)}
    assert answered == batch
    assert {r.part for r in scored_of(store.answers_table())} == {"batch-1"}


@pytest.mark.parametrize("form", RAW)
def test_raw_rows_come_back_without_loss(
    full: Store, suite: Suite, tmp_path: Path, form: str
) -> None:
    table = flagged_table(full, suite)
    assert table.drop("flags").equals(full.answers_table())
    out = tmp_path / "new" / f"answers.{form}"
    assert export(full, STUDY, suite, out, form) == (out,)
    back = import_answers(out)
    assert back.equals(table, null_equal=False) and back.schema == table.schema
    assert (table["version"] == 2).sum() == sum(
        1 for i in table["place"].to_list() if i % 3 == 0
    ) / 2  # changed answers are there, both versions
    row = back.row(0, named=True)
    [asked] = [
        q
        for q in plan_questions(STUDY, suite, row["annotator"], "batch-1", 1)
        if q.id == row["question"]
    ]
    assert (row["shown"], json.loads(row["options"])) == (
        asked.shown,
        [list(o) for o in asked.options],
    )  # in the order in which they were shown
    assert row["given_at"].endswith("+00:00") and out.stat().st_mode & stat.S_IROTH


@pytest.mark.parametrize("form", RAW)
def test_texts_of_every_kind_come_back(
    store: Store, suite: Suite, tmp_path: Path, form: str
) -> None:
    me = store.add_annotator()
    options = (Option("1", 'a"b'), Option("2", "c,\nd"))
    asked = [
        Question(
            id=f"q{i}",
            probe=text,
            type="type2",
            role="measure",
            shown=text,
            options=options,
            gender="",
        )
        for i, text in enumerate(NASTY)
    ]
    store.begin_part(me, "trial", 1, asked)
    for i in range(len(NASTY)):
        given = GivenAnswer(
            payload={"value": NASTY[i]},
            fine=1 / 3,
            coarse=-1.0,
            seconds=1e-7 * i,
            key=f"'{i}\"",
            reason=NASTY[i],
        )
        store.give_answer(me, f"q{i}", given)
    export(store, STUDY, suite, tmp_path / f"a.{form}", form)
    back = import_answers(tmp_path / f"a.{form}")
    assert back.drop("flags").equals(store.answers_table(), null_equal=False)
    assert back["shown"].to_list() == back["reason"].to_list() == list(NASTY)


@pytest.mark.parametrize("form", RAW)
def test_inventories_are_written_beside(
    full: Store, suite: Suite, tmp_path: Path, form: str
) -> None:
    person = full.annotators()[1].id
    full.answer_inventory(person, NASTY[0], {NASTY[1]: 1 / 3, NASTY[3]: 4}, "first")
    full.answer_inventory(person, NASTY[0], {NASTY[1]: 2}, "changed")
    written = export(full, STUDY, suite, tmp_path / f"all.{form}", form)
    assert [path.name for path in written] == [f"all.{form}", f"all-inventories.{form}"]
    back = import_inventories(written[1])
    assert back.equals(full.inventory_table(), null_equal=False) and back["value"].to_list() == [
        1 / 3,
        4,
        2,
    ]
    assert import_answers(written[0]).drop("flags").equals(full.answers_table())
    with pytest.raises(InputError, match=r"all-inventories.\w+: lacks the columns part, attempt"):
        import_answers(written[1])


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("form", [*RAW, "archive"])
def test_a_zip_is_an_archive_of_tables_in_a_form(
    full: Store, suite: Suite, tmp_path: Path, form: str
) -> None:
    out = tmp_path / "study.zip"
    assert export(full, STUDY, suite, out, form) == (out,)
    inner = "parquet" if form == "archive" else form
    with zipfile.ZipFile(out) as pack:
        assert {Path(name).suffix for name in pack.namelist()} == {".json", f".{inner}"}
        assert (len(pack.namelist()), json.loads(pack.read("manifest.json"))["form"]) == (10, inner)
    with Store.open(f"sqlite:///{tmp_path}/other.db") as other:
        assert read_archive(other, out)["answers"] == full.answers_table().height
        assert other.answers_table().equals(full.answers_table())


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("form", RAW)
def test_nothing_yet_is_an_empty_table(
    store: Store, suite: Suite, tmp_path: Path, form: str
) -> None:
    assert export(store, STUDY, suite, tmp_path / f"a.{form}", form) == (tmp_path / f"a.{form}",)
    assert import_answers(tmp_path / f"a.{form}").drop("flags").equals(store.answers_table())
    with pytest.raises(EvenhandError, match="nobody has answered anything in 'small' yet"):
        export(store, STUDY, suite, tmp_path / "b", "answers")


def slow_score(rows: list[Scored], person: str | None, probe: str) -> float:
    """Mean within a type, over types, over people: written out."""
    people = []
    for who in sorted({r.annotator for r in rows if person in (None, r.annotator)}):
        types = []
        for kind in ("type1", "type2"):
            scores = [r.fine for r in rows if (r.annotator, r.probe, r.type) == (who, probe, kind)]
            types += [sum(scores) / len(scores)] if scores else []
        people += [sum(types) / len(types)] if types else []
    return sum(people) / len(people) if people else float("nan")


def test_people_answer_in_the_form_of_models(full: Store, suite: Suite, tmp_path: Path) -> None:
    together, *each = to_answers(study_scores(full, STUDY, suite))
    people = [a.id for a in full.annotators()]
    assert [a.respondent for a in (together, *each)] == [
        "people:small",
        "people:small/annotator-1",
        "people:small/annotator-2",
    ]
    rows = scored_of(full.answers_table())
    assert sorted(rows) == sorted(
        r for r in full.scored() if (r.annotator, r.attempt) != (people[1], 1)
    )  # the failed attempt does not count
    for answers, person in zip((together, *each), (None, *people), strict=True):
        expected = [slow_score(rows, person, probe.id) for probe in suite.probes]
        np.testing.assert_allclose(
            answers.values[:, 0, 0] - answers.values[:, 1, 0], expected, rtol=0, atol=1e-12
        )
        silent = int(np.isnan(expected).sum())
        assert 0 < silent < len(expected) and answers.unanswered == {"not answered yet": silent}
    written = export(full, STUDY, suite, tmp_path / "people", "answers")
    assert [path.name for path in written] == [
        "answers.parquet",
        "annotator-1.parquet",
        "annotator-2.parquet",
    ]
    back = read_answers(written[0])
    np.testing.assert_array_equal(back.values, together.values)
    assert (back.respondent, back.options, back.scale) == (
        "people:small",
        ("male", "female"),
        "fine scores",
    )


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_measure_and_compare_take_people(full: Store, suite: Suite, tmp_path: Path) -> None:
    first, *each = export(full, STUDY, suite, tmp_path / "out.parquet", "answers")
    assert [path.name for path in (first, *each)] == [
        "out.parquet",
        "out-annotator-1.parquet",
        "out-annotator-2.parquet",
    ]
    together = read_answers(first)
    run = judge(suite_of(together), together, Settings(resamples=200))
    [bias] = [e for e in run.estimates if e.measure == "pb_bias"]
    odds = log_odds(together.values)[[p.stratum == "MS" for p in together.probes]]
    assert bias.value == pytest.approx(np.nanmean(np.abs(odds)))
    [settled] = [b for b in run.breakdowns if (b.measure, b.by) == ("objective_accuracy", "type")]
    is_answered = [
        p.stratum == "OS" and bool(answered)
        for p, answered in zip(together.probes, together.is_answered, strict=True)
    ]
    assert (
        sum(g.probes for g in settled.groups)
        == sum(is_answered)
        < sum(p.stratum == "OS" for p in together.probes)
    )
    result = compare(
        [str(path) for path in each], settings=Settings(resamples=200, permutations=200)
    )
    assert "annotator-1" in str(result) and "annotator-2" in str(result)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_exports_that_cannot_be(full: Store, suite: Suite, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean parquet"):
        export(full, STUDY, suite, tmp_path / "a", "parket")
    with pytest.raises(InputError, match=r"a.csv: an archive is a .zip"):
        export(full, STUDY, suite, tmp_path / "a.csv", "archive")
    with pytest.raises(InputError, match=r"a.zip: a .zip is an archive; name a folder"):
        export(full, STUDY, suite, tmp_path / "a.zip", "answers")
    (tmp_path / "file").write_text("x")
    for form in FORMS:
        with pytest.raises(StorageError, match="cannot write"):
            export(
                full,
                STUDY,
                suite,
                tmp_path / "file" / ("a.zip" if form == "archive" else "a.parquet"),
                form,
            )
    assert sorted(
        path.name for path in tmp_path.iterdir() if not path.name.startswith("study.db")
    ) == ["file"]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_files_that_are_no_export(full: Store, suite: Suite, tmp_path: Path) -> None:
    def refused(name: str, text: str | bytes) -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(InputError, match=name) as raised:
            import_answers(path)
        return str(raised.value)

    export(full, STUDY, suite, tmp_path / "good.csv", "csv")
    head, first, *rest = (tmp_path / "good.csv").read_text().split("\n")
    assert "no form of exported answers" in refused("a.xlsx", "x")
    assert "lacks the columns" in refused("b.csv", "id,annotator\n1,x\n")
    assert "not what evenhand annotate export wrote" in refused("c.parquet", b"PAR1 not really")
    assert "not what evenhand annotate export wrote" in refused("d.jsonl", "{not json}\n")
    assert "the same id twice" in refused("e.csv", "\n".join((head, first, first, *rest)))
    assert "has unknown columns (mine)" in refused("i.csv", f'{head},"mine"\n{first},1\n')
    assert "wrong kind" in refused("f.csv", "\n".join((head, "x" + first, *rest)))
    assert "lacks the columns" in refused("g.csv", b"\xff\xfe\x00bad")
    assert "is missing" in refused(
        "h.csv", "\n".join((head, first.replace('"batch-1"', "", 1), *rest))
    )
    with pytest.raises(InputError, match="No such file"):
        import_answers(tmp_path / "nothing.csv")

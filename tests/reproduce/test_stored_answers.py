"""Answers in small files: what is read is what was written, and nothing else is taken."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evenhand.core.answers import Answers, Silence, Status
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite
from evenhand.engine.ask import ask_suite
from evenhand.engine.suites import limited, load_suite
from evenhand.reproduce import stored_answers as stored
from evenhand.respondents.fixed import RESPONDENT


@pytest.fixture(scope="module")
def whole() -> Suite:
    return load_suite("occupation-nli")


@pytest.fixture(scope="module")
def suite(whole: Suite) -> Suite:
    return limited(whole, 120, 0)


def answers_to(suite: Suite, name: str = "fixed:random") -> Answers:
    return ask_suite(RESPONDENT.open(name, RespondentOptions()), suite)


def file_of(folder: Path, *answers: Answers) -> Path:
    (model,) = stored.join((a.suite, stored.pack(a)) for a in answers)
    path = folder / stored.file_name(model.respondent)
    path.write_bytes(stored.packed_bytes(model))
    return path


def test_what_is_read_is_what_was_packed(whole: Suite, suite: Suite, tmp_path: Path) -> None:
    given = answers_to(suite)
    values = given.values.copy()
    values[3] = np.nan
    silence = Silence(status=Status.REFUSED, reason="would not say")
    given = replace(given, values=values, silences={3: silence}, remarks=("by hand",))
    path = file_of(tmp_path, given)
    (packed,) = stored.read_packed(path).answers
    assert packed.digest == stored.pack(given).digest
    read = stored.unpack(packed, whole, str(path))
    assert np.array_equal(read.values, given.values, equal_nan=True)
    for name in ("respondent", "suite", "probes", "options", "labels", "scale", "traits"):
        assert getattr(read, name) == getattr(given, name), name
    for name in ("silences", "factors", "within", "whole", "remarks", "statuses"):
        assert getattr(read, name) == getattr(given, name), name
    assert path.read_bytes() == stored.packed_bytes(stored.read_packed(path))


def test_the_file_has_no_text_of_the_suite(suite: Suite, tmp_path: Path) -> None:
    with zipfile.ZipFile(file_of(tmp_path, answers_to(suite))) as pack_file:
        content = b"".join(pack_file.read(name) for name in pack_file.namelist()).decode("latin-1")
    assert not any(text in content for probe in suite.probes for text in probe.texts)
    assert suite.reference in content


def test_numbers_are_kept_to_the_last_digit(suite: Suite, tmp_path: Path) -> None:
    given = answers_to(suite)
    for values in (given.values / 3, given.values.astype(np.float32).astype(np.float64)):
        path = file_of(tmp_path, replace(given, values=values))
        assert np.array_equal(stored.read_packed(path).answers[0].values, values)


def test_the_signature_names_suite_model_and_traits(suite: Suite) -> None:
    packed = stored.pack(answers_to(suite))
    assert f"suite:{suite.reference}|lang:en|model:fixed:random" in packed.signature
    assert packed.signature.endswith(f"probes:{len(suite.probes)}")


@pytest.mark.parametrize("place", [0.05, 0.4, 0.8])
def test_a_damaged_file_is_refused(suite: Suite, tmp_path: Path, place: float) -> None:
    path = file_of(tmp_path, answers_to(suite))
    raw = bytearray(path.read_bytes())
    raw[int(len(raw) * place)] ^= 0xFF
    path.write_bytes(bytes(raw))
    with pytest.raises(InputError, match="is damaged or was changed"):
        stored.read_packed(path)


def rewritten(path: Path, **changes: object) -> None:
    """The same file with other fields of its first suite, whole as a zip file."""
    with zipfile.ZipFile(path) as pack_file:
        parts = {name: pack_file.read(name) for name in pack_file.namelist()}
    manifest = json.loads(parts[stored.MANIFEST])
    manifest["suites"][0] |= changes
    parts[stored.MANIFEST] = json.dumps(manifest).encode()
    with zipfile.ZipFile(path, "w") as pack_file:
        for name, content in parts.items():
            pack_file.writestr(name, content)


@pytest.mark.parametrize(
    "changes",
    [
        {"traits": {"labels": "another order"}},
        {"labels": ["contradiction", "neutral", "entailment"]},
        {"suite": "occupation-nli@9.9#000000000000"},
        {"signature": "model:somebody else"},
        {"probes": 3},
    ],
)
def test_a_changed_statement_is_refused(
    suite: Suite, tmp_path: Path, changes: dict[str, object]
) -> None:
    path = file_of(tmp_path, answers_to(suite))
    rewritten(path, **changes)
    with pytest.raises(InputError, match="is damaged or was changed"):
        stored.read_packed(path)


def test_no_pickle_is_opened(suite: Suite, tmp_path: Path) -> None:
    path = file_of(tmp_path, answers_to(suite))
    array = io.BytesIO()
    np.save(array, np.asarray([{"a": 1}], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(path) as pack_file:
        manifest = pack_file.read(stored.MANIFEST)
    with zipfile.ZipFile(path, "w") as pack_file:
        pack_file.writestr(stored.MANIFEST, manifest)
        pack_file.writestr("0.npy", array.getvalue())
    with pytest.raises(InputError, match="is damaged or was changed"):
        stored.read_packed(path)


def test_answers_to_another_version_are_refused(whole: Suite, suite: Suite, tmp_path: Path) -> None:
    path = file_of(tmp_path, answers_to(suite))
    (packed,) = stored.read_packed(path).answers
    first = replace(whole.probes[0], texts=("Another premise.", "Another hypothesis."))
    places = {p.id: p for p in whole.probes} | {
        suite.probes[0].id: replace(first, id=suite.probes[0].id)
    }
    other = Suite(card=whole.card, probes=tuple(places.values()))
    with pytest.raises(InputError, match="other probes, or another version"):
        stored.unpack(packed, other, str(path))
    newer = Suite(card=replace(whole.card, version="2.0"), probes=whole.probes)
    with pytest.raises(InputError, match=r"occupation-nli@2\.0"):
        stored.unpack(packed, newer, str(path))


def test_answers_to_the_whole_serve_a_part_but_not_the_reverse(whole: Suite) -> None:
    middle, small = limited(whole, 240, 0), limited(whole, 24, 0)
    given = answers_to(middle)
    packed = stored.pack(given)
    if {p.id for p in small.probes} <= {p.id for p in middle.probes}:
        part = stored.of_suite(packed, whole, small, "x")
        rows = [given.probes.index(p) for p in small.probes]
        assert np.array_equal(part.values, given.values[rows])
        assert (part.suite, part.whole) == (small.reference, len(whole.probes))
    with pytest.raises(InputError, match="the same --limit and --seed"):
        stored.of_suite(packed, whole, whole, "x")


def test_two_answers_of_one_model_to_one_suite_are_refused(suite: Suite) -> None:
    packed = stored.pack(answers_to(suite))
    with pytest.raises(InputError, match="give one of them"):
        stored.join([("one", packed), ("two", packed)])


def test_an_empty_folder_and_a_wrong_name_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no answers"):
        stored.read_stored(tmp_path)
    with pytest.raises(InputError, match="is neither a folder"):
        stored.read_stored(tmp_path / "nowhere")
    with pytest.raises(InputError, match="there is no such file"):
        stored.read_stored(tmp_path / f"x{stored.SUFFIX}")


def test_one_file_holds_one_model(suite: Suite, tmp_path: Path) -> None:
    for name in ("fixed:random", "fixed:fair"):
        file_of(tmp_path, answers_to(suite, name))
    with pytest.raises(EvenhandError, match="the runs are of 2 models"):
        stored.pack_runs([tmp_path], tmp_path / f"one{stored.SUFFIX}")
    with pytest.raises(EvenhandError, match="name a folder"):
        stored.pack_runs([tmp_path], tmp_path / "one.zip")
    files = stored.pack_runs([tmp_path], tmp_path / "out")
    assert sorted(path.name for path in files) == [
        "fixed-fair.answers.zip",
        "fixed-random@0.answers.zip",
    ]

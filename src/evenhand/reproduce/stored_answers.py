"""The answers of a model in one small file, for exchange: all its suites, without their texts.

A zip file with `manifest.json` and one array per suite. The probes are named by the digest of the
suite that was asked, so that whoever has the suite can read the answers; of a suite that was cut
the ids of its probes are kept too. Each suite's answers carry a signature and a SHA-256 of all that
is said of them, which is checked when they are read. Readings behind a mean are left out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import __version__
from evenhand.core.answer_files import FILE, read_answers, suite_of
from evenhand.core.answers import Answers, Silence, Status
from evenhand.core.document import Column, Document, Row, Section, Signatures, Table
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import Floats
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.core.text import counted

SUFFIX = ".answers.zip"
FORMAT = "evenhand answers 1"
MANIFEST = "manifest.json"
LARGEST = 256 * 2**20  # bytes of a manifest: far more than any suite needs
_MOMENT = (1980, 1, 1, 0, 0, 0)  # of every entry, so that equal answers are equal files
_HEAD = 4096  # bytes that an array may have beside its numbers


@dataclass(frozen=True, kw_only=True)
class PackedAnswers:
    """The answers of a model to one suite, without the texts of its probes."""

    respondent: str
    suite: str  # its reference: name@version#digest, then /limit where it was cut
    language: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    scale: str
    traits: Mapping[str, str]
    values: Floats  # (probe, option, label), in the order of the suite
    silences: Mapping[int, Silence] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()  # of the probes of a suite that was cut; else empty

    @property
    def name(self) -> str:
        """The name of the suite."""
        return self.suite.partition("@")[0]

    @property
    def meaning(self) -> dict[str, Any]:
        """All that is said of the numbers, as plain data."""
        return {
            "respondent": self.respondent,
            "suite": self.suite,
            "language": self.language,
            "probes": len(self.values),
            "options": list(self.options),
            "labels": list(self.labels),
            "scale": self.scale,
            "traits": dict(sorted(self.traits.items())),
            "silences": {
                str(row): [str(s.status), s.reason] for row, s in sorted(self.silences.items())
            },
            "remarks": list(self.remarks),
            "ids": list(self.ids),
            "signature": self.signature,
        }

    @property
    def signature(self) -> str:
        """One line that names what was asked, who answered, and how."""
        fields = {
            "suite": self.suite,
            "lang": self.language,
            "model": self.respondent,
            **dict(sorted(self.traits.items())),
            "scale": self.scale,
            "probes": len(self.values),
        }
        return str(Signature.of(**fields))

    @property
    def digest(self) -> str:
        """SHA-256 of the meaning and of every number; every NaN counts as the same."""
        state = hashlib.sha256(
            json.dumps(self.meaning, sort_keys=True, ensure_ascii=False).encode()
        )
        state.update(str(self.values.shape).encode())
        numbers = np.where(np.isnan(self.values), np.nan, self.values)
        state.update(numbers.astype("<f8").tobytes())
        return state.hexdigest()


@dataclass(frozen=True, kw_only=True)
class PackedModel:
    """A model with its answers to one or several suites."""

    respondent: str
    source: str  # the file or folder that they come from
    answers: tuple[PackedAnswers, ...]

    def to(self, suite: Suite) -> PackedAnswers | None:
        """Its answers to the suite of this name and language; None where it has none."""
        wanted = (suite.card.name, suite.card.language)
        return next((a for a in self.answers if (a.name, a.language) == wanted), None)


def pack(answers: Answers) -> PackedAnswers:
    """The answers without the texts of their probes.

    Raises InputError where the probes are not those of the suite that was asked.
    """
    suite = suite_of(answers)
    return PackedAnswers(
        respondent=answers.respondent,
        suite=answers.suite,
        language=suite.card.language,
        options=answers.options,
        labels=answers.labels,
        scale=answers.scale,
        traits=dict(answers.traits),
        values=answers.values,
        silences=dict(answers.silences),
        remarks=answers.remarks,
        ids=() if answers.whole is None else tuple(p.id for p in answers.probes),
    )


def unpack(packed: PackedAnswers, suite: Suite, source: str) -> Answers:
    """The answers to the suite, which is the whole one.

    Raises InputError where they were given to another version of it.
    """
    asked = suite
    if packed.ids:
        probes = {p.id: p for p in suite.probes}
        limit = packed.suite.rpartition("/")[2]
        asked = Suite(
            card=suite.card,
            probes=tuple(probes[i] for i in packed.ids if i in probes),
            limit=int(limit) if limit.isdecimal() else None,
            whole=len(suite.probes),
        )
    if asked.reference != packed.suite or len(asked.probes) != len(packed.values):
        raise InputError(
            source,
            f"has answers to {packed.suite}, and the suite here is {asked.reference}: other "
            "probes, or another version; take answers to this one, or the version of evenhand and "
            "the data that they were given with",
        )
    return Answers(
        respondent=packed.respondent,
        suite=asked.reference,
        probes=asked.probes,
        options=packed.options,
        labels=packed.labels,
        values=packed.values,
        scale=packed.scale,
        traits=packed.traits,
        silences=packed.silences,
        factors=suite.card.factors,
        within=suite.card.within,
        whole=asked.whole,
        remarks=packed.remarks,
    )


def of_suite(packed: PackedAnswers, whole: Suite, wanted: Suite, source: str) -> Answers:
    """The answers to a suite that may be cut from the whole one.

    Raises InputError where they are to another version, or leave out some of its probes.
    """
    answers = unpack(packed, whole, source)
    if answers.suite == wanted.reference:
        return answers
    rows = {p.id: row for row, p in enumerate(answers.probes)}
    missing = sum(p.id not in rows for p in wanted.probes)
    if missing:
        raise InputError(
            source,
            f"has answers to {len(rows):,} of the {len(whole.probes):,} probes of "
            f"{whole.card.name}, and {missing:,} of those asked here are not among them; ask with "
            "the same --limit and --seed",
        )
    chosen = answers.select([rows[p.id] for p in wanted.probes])
    return dataclasses.replace(chosen, suite=wanted.reference, whole=wanted.whole)


def packed_bytes(model: PackedModel) -> bytes:
    """The content of the file of a model."""
    raw = io.BytesIO()
    entries = []
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as pack_file:
        for place, answers in enumerate(model.answers):
            name = f"{place}.npy"
            array = io.BytesIO()
            np.save(array, _compact(answers.values), allow_pickle=False)
            _write(pack_file, name, array.getvalue())
            entries.append({**answers.meaning, "values": name, "digest": answers.digest})
        manifest = {
            "format": FORMAT,
            "evenhand": __version__,
            "respondent": model.respondent,
            "suites": entries,
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"
        _write(pack_file, MANIFEST, text.encode())
    return raw.getvalue()


def _compact(values: Floats) -> Any:
    """The numbers in half the space where nothing is lost by it."""
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return narrow if np.array_equal(narrow.astype(np.float64), values, equal_nan=True) else values


def _write(pack_file: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = zipfile.ZIP_DEFLATED
    pack_file.writestr(entry, content)


def _read(pack_file: zipfile.ZipFile, name: str, most: int) -> bytes:
    """One entry. Raises ValueError where it is larger than it can be."""
    size = pack_file.getinfo(name).file_size
    if size > most:
        raise ValueError(f"{name} has {size:,} bytes, and at most {most:,} are expected")
    return pack_file.read(name)


def read_packed(path: Path) -> PackedModel:
    """The answers in a file that `packed_bytes` wrote. Raises InputError where it is not whole."""
    try:
        with zipfile.ZipFile(path) as pack_file:
            manifest = json.loads(_read(pack_file, MANIFEST, LARGEST))
            if manifest["format"] != FORMAT:
                raise InputError(
                    path,
                    f"is of the form {manifest['format']!r}, and this evenhand reads {FORMAT!r}: "
                    "install the version that wrote it",
                )
            answers = tuple(_read_entry(path, pack_file, entry) for entry in manifest["suites"])
            respondent = str(manifest["respondent"])
    except FileNotFoundError as error:
        raise InputError(path, "there is no such file") from error
    except InputError:
        raise
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError, EOFError) as error:
        raise _damaged(path, str(error) or type(error).__name__) from error
    if {a.respondent for a in answers} != {respondent}:
        raise _damaged(path, "its parts name other models")
    return PackedModel(respondent=respondent, source=str(path), answers=answers)


def _read_entry(path: Path, pack_file: zipfile.ZipFile, entry: Mapping[str, Any]) -> PackedAnswers:
    shape = (int(entry["probes"]), len(entry["options"]), len(entry["labels"]))
    content = _read(pack_file, entry["values"], int(np.prod(shape)) * 8 + _HEAD)
    values = np.load(io.BytesIO(content), allow_pickle=False).astype(np.float64)
    if values.shape != shape:
        raise ValueError(f"{entry['values']} has the shape {values.shape}, expected {shape}")
    packed = PackedAnswers(
        respondent=entry["respondent"],
        suite=entry["suite"],
        language=entry["language"],
        options=tuple(entry["options"]),
        labels=tuple(entry["labels"]),
        scale=entry["scale"],
        traits=dict(entry["traits"]),
        values=values,
        silences={
            int(row): Silence(status=Status(status), reason=reason)
            for row, (status, reason) in entry["silences"].items()
        },
        remarks=tuple(entry["remarks"]),
        ids=tuple(entry["ids"]),
    )
    if packed.digest != entry["digest"] or packed.signature != entry["signature"]:
        raise _damaged(path, f"the answers to {packed.suite} do not have the digest they state")
    return packed


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(path, f"is damaged or was changed ({reason}); take another copy")


def is_stored(reference: str) -> bool:
    """Whether the name of a model is that of a file of answers, or of the folder of a run."""
    path = Path(reference).expanduser()
    is_file = reference.endswith(SUFFIX) or path.suffix.lower() == ".parquet"
    return is_file or (path / FILE).is_file()


def read_stored(path: Path) -> list[PackedModel]:
    """The models whose answers lie in a packed file, a run, or a folder of both.

    Raises InputError where there are none, a file is damaged, or a model answers a suite twice.
    """
    path = path.expanduser()
    if path.name.endswith(SUFFIX):
        return [read_packed(path)]
    if path.suffix.lower() == ".parquet" or (path / FILE).is_file():
        return join([(str(path), pack(read_answers(path)))])
    if not path.is_dir():
        raise InputError(path, f"is neither a folder, nor a file *{SUFFIX}, nor a run")
    packed = [read_packed(file) for file in sorted(path.glob(f"*{SUFFIX}"))]
    runs = [folder for folder in sorted(path.iterdir()) if (folder / FILE).is_file()]
    parts = [(model.source, answers) for model in packed for answers in model.answers]
    parts += [(str(folder), pack(read_answers(folder))) for folder in runs]
    if not parts:
        raise InputError(
            path, f"holds no answers: neither files *{SUFFIX} (`evenhand answers pack`) nor runs"
        )
    return join(parts)


def join(parts: Iterable[tuple[str, PackedAnswers]]) -> list[PackedModel]:
    """One model per respondent from (source, answers); the order is that of their first part.

    Raises InputError where two parts are answers of one model to one suite.
    """
    models: dict[str, dict[tuple[str, str], tuple[str, PackedAnswers]]] = {}
    for source, answers in parts:
        known = models.setdefault(answers.respondent, {})
        key = (answers.name, answers.language)
        if key in known:
            raise InputError(
                source,
                f"has answers of {answers.respondent} to {answers.suite}, and so has "
                f"{known[key][0]}; give one of them",
            )
        known[key] = (source, answers)
    return [
        PackedModel(
            respondent=respondent,
            source=next(iter(known.values()))[0],
            answers=tuple(answers for _, answers in known.values()),
        )
        for respondent, known in models.items()
    ]


def file_name(respondent: str) -> str:
    """The name of the file of a model: `default@02e3db50a3c6.answers.zip`."""
    return re.sub(r"[^A-Za-z0-9@._-]+", "-", respondent).strip("-.") + SUFFIX


def pack_runs(runs: Sequence[Path], out: Path) -> dict[Path, PackedModel]:
    """The file that each model of these runs is to be written to.

    out: a file that ends in .answers.zip, for a single model, or a folder. Raises InputError where
    a run cannot be read, EvenhandError where one file is to hold several models.
    """
    models = join(
        (model.source, answers)
        for run in runs
        for model in read_stored(run)
        for answers in model.answers
    )
    if out.name.endswith(SUFFIX):
        if len(models) > 1:
            names = ", ".join(model.respondent for model in models)
            raise EvenhandError(
                f"the runs are of {len(models)} models ({names}), and {out} is one file; name a "
                "folder with --out"
            )
        return {out: models[0]}
    if out.suffix in (".zip", ".parquet", ".json") or out.is_file():
        raise EvenhandError(f"--out is '{out}'; name a folder, or a file that ends in {SUFFIX}")
    return {out / file_name(model.respondent): model for model in models}


def packs_document(models: Mapping[str, PackedModel]) -> Document:
    """Whose answers files hold, and to which suites, by the name of the file."""
    rows = [
        Row(cells=(path, model.respondent, a.suite, a.language, len(a.values), a.digest[:12]))
        for path, model in models.items()
        for a in model.answers
    ]
    table = Table(
        name="answers",
        title="Answers by suite",
        columns=(
            Column(title="file"),
            Column(title="model"),
            Column(title="suite"),
            Column(title="language"),
            Column(title="probes", form="count"),
            Column(title="SHA-256"),
        ),
        rows=tuple(rows),
    )
    signatures = Signatures(
        lines=tuple(a.signature for model in models.values() for a in model.answers)
    )
    return Document(
        name="answers",
        title="Stored answers",
        subtitle=counted(len(models), "model"),
        lead=(),
        sections=(
            Section(name="answers", title="Answers", blocks=(table, signatures), is_brief=True),
        ),
    )


def packs_fields(models: Mapping[str, PackedModel]) -> list[dict[str, Any]]:
    """The same as plain data."""
    return [
        {
            "file": path,
            "model": model.respondent,
            "suites": [
                {
                    "suite": a.suite,
                    "language": a.language,
                    "probes": len(a.values),
                    "digest": a.digest,
                    "signature": a.signature,
                }
                for a in model.answers
            ],
        }
        for path, model in models.items()
    ]

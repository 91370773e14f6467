"""A run as a record of Every Eval Ever, schema 0.3.0: scores with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.account import RANDOM, answered_count
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.core.text import number
from evenhand.core.validity import reservation_texts
from evenhand.engine.results import environment
from evenhand.publish.published import left_out, published_estimates

SCHEMA = "0.3.0"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_UNITS = {"share": "proportion", "log-odds": "log-odds"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a record says that a run does not know.

    created: seconds since 1970. name: how the model is called on the Hub, `org/model`.
    organization: who measured. relationship: of those to the makers of the model.
    """

    created: float
    name: str = ""
    organization: str = "unknown"
    relationship: str = "other"

    def __post_init__(self) -> None:
        if self.relationship not in RELATIONSHIPS:
            raise EvenhandError(
                f"'{self.relationship}' is not a relationship; use {', '.join(RELATIONSHIPS)}"
            )


def record_fields(run: Run, record: Record) -> dict[str, Any]:
    """The record as plain data, keys in the order of the schema."""
    identity, _, revision = run.answers.respondent.rpartition("@")
    model = record.name or identity or run.answers.respondent
    created = f"{record.created:.6f}".rstrip("0").rstrip(".")
    suite = run.suite
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"{suite.card.name}/{model}/{created}",
        "retrieved_timestamp": created,
        "source_metadata": {
            "source_name": "evenhand",
            "source_type": "evaluation_run",
            "source_organization_name": record.organization,
            "evaluator_relationship": record.relationship,
            "additional_details": _texts(
                {f"not computed: {k}": v for k, v in left_out(run).items()}
            ),
        },
        "model_info": {
            "name": model.rpartition("/")[2] or model,
            "id": model,
            **({"developer": model.partition("/")[0]} if model.count("/") == 1 else {}),
            "additional_details": {
                **_texts(run.answers.traits),
                "identity": run.answers.respondent,
                **({"revision": revision} if identity else {}),
                "deployment_type": "unknown",
                "model_availability": "unknown",
            },
        },
        "eval_library": {
            "name": "evenhand",
            "version": __version__,
            "additional_details": _texts(environment()),
        },
        "evaluation_results": [_result(run, e) for e in published_estimates(run)],
    }


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Details, whose values must be texts."""
    return {str(key): str(value) for key, value in values.items()}


def _result(run: Run, estimate: Estimate) -> dict[str, Any]:
    card, suite = run.suite.card, run.suite
    return {
        "evaluation_result_id": f"{card.name}#{suite.digest}/{estimate.measure}",
        "evaluation_name": f"{card.name}/{estimate.measure}",
        "source_data": {
            "dataset_name": card.name,
            "source_type": "other",
            "additional_details": {
                "version": card.version,
                "digest": suite.digest,
                "language": card.language,
                "probes": str(len(suite.probes)),
                **({"cut_from": str(suite.whole)} if suite.whole is not None else {}),
                "source": card.source,
                "licence": card.licence,
                "citation": card.citation,
            },
        },
        "metric_config": _metric(run, estimate),
        "score_details": {
            "score": estimate.value,
            "details": _details(run, estimate),
            "uncertainty": _uncertainty(run, estimate),
        },
    }


def _metric(run: Run, estimate: Estimate) -> dict[str, Any]:
    measure = catalog.measure(estimate.measure)
    low, high = measure.card.range
    guess = run.baseline(RANDOM, measure.name)
    parameters: dict[str, float] = {"best": measure.fair}
    if measure.worst is not None:
        parameters["worst"] = measure.worst
    if guess is not None and math.isfinite(guess.value):
        parameters["random"] = guess.value
    return {
        "evaluation_description": measure.card.question,
        "metric_id": f"evenhand.{measure.name}",
        "metric_name": measure.card.title,
        "metric_unit": _UNITS[measure.unit],
        "metric_parameters": parameters,
        "lower_is_better": is_lower_better(estimate.measure),
        "score_type": "continuous",
        "min_score": _bound(low),
        "max_score": _bound(high),
        "additional_details": {
            "better": f"nearer to {measure.fair:g}, which is {measure.best}",
            "formula": measure.card.formula,
            "caveat": measure.card.caveat,
            "citation": measure.card.citation,
        },
    }


def is_lower_better(name: str) -> bool:
    """Whether less is better, which the schema asks of every measure.

    Where the best value lies inside the range, the answer is for the side of the stereotype; the
    details of the record have the best value itself.
    """
    measure = catalog.measure(name)
    if measure.worst is not None:
        return measure.worst > measure.fair
    low, high = measure.card.range
    return measure.fair < high and not (math.isfinite(low) and measure.fair > low)


def _bound(value: float) -> float | str:
    if math.isfinite(value):
        return value
    return "Infinity" if value > 0 else "-Infinity"


def _details(run: Run, estimate: Estimate) -> dict[str, str]:
    details = {
        "target": estimate.target,
        "coverage": repr(estimate.coverage),
        "ties": str(estimate.ties),
        "signature": estimate.signature,
    }
    if estimate.is_exact:
        details["interval"] = "exact: all probes of the set were asked, and it is about them"
    for place, reason in enumerate(reservation_texts(run, estimate), 1):
        details[f"reservation_{place}"] = reason
    for name, part in estimate.parts.items():
        if math.isfinite(part.value):
            details[f"part_{name}"] = number(part.value)
    return details


def _uncertainty(run: Run, estimate: Estimate) -> dict[str, Any]:
    """The interval where there is one; an exact value has none."""
    known: dict[str, Any] = {"num_samples": answered_count(estimate)}
    if estimate.is_exact or not estimate.interval.has_bounds:
        return known
    is_drawn = estimate.target == "new items" and estimate.has_variation
    if is_drawn:
        known["num_bootstrap_samples"] = run.settings.resamples
    return {
        "confidence_interval": {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": estimate.level,
            "method": _method(run, estimate, is_drawn=is_drawn),
        },
        **known,
    }


def _method(run: Run, estimate: Estimate, *, is_drawn: bool) -> str:
    about = f"about {estimate.target}"
    factors = " x ".join(run.suite.card.factors)
    if is_drawn:
        return f"{run.settings.method} bootstrap of {factors}, {about}"
    if estimate.target == "this set":
        return f"jackknife of the probes that were drawn, {about}"
    return f"what so many {factors} without variation cannot exclude, {about}"

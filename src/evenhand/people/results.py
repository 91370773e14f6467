"""A comparison of people and models as plain data: the content of people.json."""

from __future__ import annotations

from typing import Any

from evenhand import __version__
from evenhand.core.estimate import Estimate
from evenhand.core.plain import plain
from evenhand.engine.results import environment
from evenhand.people import wording
from evenhand.people.agreement import AgreementReport, PeoplePair
from evenhand.people.compare import ComparedModel, Correlation, PeopleComparison
from evenhand.people.sentence_lists import SentenceList


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        **plain(estimate.interval),
        "sentences": estimate.probes,
        "coverage": plain(estimate.coverage),
        "note": estimate.note,
        "signature": estimate.signature,
    }


def _pair(pair: PeoplePair) -> dict[str, Any]:
    return {
        "first": pair.first,
        "second": pair.second,
        "stratum": pair.stratum,
        "pearson": plain(pair.pearson),
        "p_sentences": plain(pair.p),
        "sentences": pair.sentences,
        "note": pair.note,
    }


def agreement_fields(agreement: AgreementReport) -> dict[str, Any]:
    """The agreement of people as plain data; NaN as null, with its reason beside it."""
    settings = agreement.settings
    return {
        "annotators": list(agreement.names),
        "seed": settings.seed,
        "resamples": settings.resamples,
        "level": settings.level,
        "unit": agreement.unit,
        "pairs_interval": "percentile" if agreement.is_drawn else "fisher",
        "pairs": [_pair(p) for p in agreement.pairs],
        "others": [_pair(p) for p in agreement.others],
        "alpha": {
            a.stratum: {**plain(a.interval), "sentences": a.sentences, "note": a.note}
            for a in agreement.alphas
        },
        "everybody": plain(agreement.everybody),
        "leanings": plain(agreement.leanings),
    }


def _correlation(correlation: Correlation) -> dict[str, Any]:
    return {
        **plain(correlation.interval),
        "p": plain(correlation.p),
        "adjusted": plain(correlation.adjusted),
        "p_sentences": plain(correlation.p_sentences),
        "signature": correlation.signature,
    }


def _listing(listing: SentenceList, definition: str) -> dict[str, Any]:
    return {
        "definition": definition,
        "total": listing.total,
        "sentences": [
            {"id": s.probe.id, "texts": list(s.probe.texts), "people": s.people, "pb": s.odds}
            for s in listing.sentences
        ],
    }


def _model(comparison: PeopleComparison, model: ComparedModel) -> dict[str, Any]:
    definitions = wording.list_definitions(comparison)
    return {
        "name": model.name,
        "identity": model.answers.respondent,
        "traits": dict(sorted(model.answers.traits.items())),
        "asked": model.asked,
        "both": len(model.people),
        "coverage": plain(model.coverage),
        "clusters": model.clusters,
        "pearson": _correlation(model.pearson),
        "spearman": _correlation(model.spearman),
        "is_shown": comparison.is_shown(model),
        "same_side": plain(model.same_side),
        "accuracy": _estimate(model.accuracy),
        "lists": {
            name: _listing(listing, definitions[name])
            for name, listing in model.lists.by_name().items()
        },
        "note": model.note,
    }


def people_fields(comparison: PeopleComparison) -> dict[str, Any]:
    """The comparison as plain data, keys in a fixed order."""
    people, settings = comparison.people, comparison.settings
    suite, accuracies = people.suite, comparison.accuracies
    return {
        "evenhand": __version__,
        "seed": settings.seed,
        "resamples": settings.resamples,
        "level": settings.level,
        "unit": comparison.unit,
        "correction": "benjamini-hochberg",
        "suite": {
            "name": suite.card.name,
            "version": suite.card.version,
            "language": suite.card.language,
            "reference": suite.reference,
            "sentences": {noun: people.strata.count(s) for s, noun in wording.STRATA.items()},
        },
        "people": {
            "name": people.identity,
            "annotators": list(people.names),
            "accuracy": _estimate(accuracies[0]),
            "accuracies": {
                name: _estimate(e) for name, e in zip(people.names, accuracies[1:], strict=True)
            },
        },
        "agreement": agreement_fields(comparison.agreement) if comparison.agreement else None,
        "thresholds": plain(comparison.thresholds),
        "models": [_model(comparison, m) for m in comparison.models],
        "lead": wording.lead(comparison),
        "notes": wording.notes(comparison),
        "environment": environment(),
    }

"""What do people and models look like on one page? What can be said, models against people, people among themselves, right answers, and the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand import __version__
from evenhand.people.beside import Beside
from evenhand.people.compare import PeopleComparison
from evenhand.people.sentence_lists import Sentence
from evenhand.report import people_wording as wording
from evenhand.report.html import language_name, templates
from evenhand.report.numbers import number
from evenhand.report.people_tables import about, grids, lists_of, model_says, people_say, signatures
from evenhand.report.picture import Figure


def _sentence(found: Sentence) -> dict[str, Any]:
    return {
        "around": found.probe.around,
        "words": found.probe.texts[1:3],
        "people": number(found.people),
        "people_say": people_say(found),
        "odds": number(found.odds),
        "model_says": model_says(found),
        "lang": found.probe.language,
    }


def _model(found: PeopleComparison, model: Beside) -> dict[str, Any]:
    told = wording.definitions(found)
    return {
        "name": model.name,
        "identity": model.answers.respondent,
        "verdict": wording.verdict(found, model),
        "lists": [
            {
                "title": wording.LISTS[name],
                "total": listing.total,
                "definition": told[name],
                "sentences": [_sentence(s) for s in listing.sentences],
            }
            for name, listing in lists_of(model)
        ],
    }


def to_html(found: PeopleComparison, figures: Sequence[Figure]) -> str:
    """The comparison as one HTML page."""
    card = found.people.suite.card
    lead = [line.replace("r = ", "r\u00a0=\u00a0") for line in wording.lead(found)]
    facts = {
        "version": __version__,
        "about": about(found),
        "language": language_name(card.language),
        "lang": card.language,
        "lead": lead,
        "figures": {f.name: f for f in figures},
        "grids": {g.name: g for g in grids(found)},
        "models": [_model(found, m) for m in found.models],
        "method": wording.method(found),
        "notes": wording.notes(found),
        "signatures": signatures(found),
        "level": f"{found.level * 100:g}",
        "seed": found.seed,
    }
    return str(templates().get_template("people.html").render(**facts))

"""The owner's view of a study of objective sentences: agreement, and disagreements to resolve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.probe import GENDERS, Probe
from evenhand.core.text import number, percent
from evenhand.study.objective import VERDICTS, Piece, pieces_of
from evenhand.study.objective_results import Judged, judge_candidates, objective_status
from evenhand.study.site import Site
from evenhand.study.wording import Words

MOST = 50  # disagreements on one page


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A verdict as a button: what it is called, and whether it stands."""

    verdict: str
    text: str
    is_chosen: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementRow:
    """A sentence that raters judged differently."""

    probe: str
    pieces: tuple[Piece, ...]
    said: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingRows:
    """All that the owner's page says about verdicts."""

    language: str  # of the sentences
    agreement: str
    agreement_note: str
    alpha: str
    alpha_note: str
    settled: str
    settled_note: str
    unresolved: tuple[DisagreementRow, ...]
    unresolved_count: int
    resolved: tuple[DisagreementRow, ...]
    resolved_count: int


def rating_rows(site: Site, words: Words) -> RatingRows:
    """Agreement so far, and every disagreement with its buttons, at most MOST of each kind."""
    judged = judge_candidates(site.suite, site.store)
    status = objective_status(site.study.name, judged)
    disputed = [one for one in judged if one.is_disputed]
    alpha_note = words("owner_alpha_verdicts")
    if np.isnan(status.alpha):
        alpha_note = words("owner_same" if status.shared else "owner_alone")
    counts = " · ".join(
        words(f"owner_verdict_{verdict}", count=status.settled[verdict]) for verdict in VERDICTS
    )
    return RatingRows(
        language=site.suite.card.language,
        agreement="–" if np.isnan(status.agreement) else percent(status.agreement, 1),
        agreement_note=words("owner_alike", alike=status.alike, shared=status.shared),
        alpha="–" if np.isnan(status.alpha) else number(status.alpha),
        alpha_note=alpha_note,
        settled=f"{sum(status.settled[gender] for gender in GENDERS)} / {status.candidates}",
        settled_note=counts,
        unresolved=_rows([one for one in disputed if not one.resolution], words),
        unresolved_count=status.unresolved,
        resolved=_rows([one for one in disputed if one.resolution], words),
        resolved_count=status.resolved,
    )


def _rows(judged: Sequence[Judged], words: Words) -> tuple[DisagreementRow, ...]:
    return tuple(_row(one, words) for one in judged[:MOST])


def _row(one: Judged, words: Words) -> DisagreementRow:
    said = (
        words("owner_said", number=name.rpartition("-")[2], verdict=_text(one.probe, v, words))
        for name, v in one.verdicts.items()
    )
    return DisagreementRow(
        probe=one.probe.id,
        pieces=tuple(pieces_of(one.probe)),
        said=" · ".join(said),
        choices=tuple(
            Choice(verdict=v, text=_text(one.probe, v, words), is_chosen=one.resolution == v)
            for v in VERDICTS
        ),
    )


def _text(probe: Probe, verdict: str, words: Words) -> str:
    """A verdict in the words of a rater's page."""
    if verdict in GENDERS:
        return words("objective_only", word=probe.texts[1 + GENDERS.index(verdict)])
    return words(f"objective_{verdict}")

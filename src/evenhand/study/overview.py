"""How does a study stand? Everybody's parts with their control questions, and how far people agree so far."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.people.questions import TRIAL
from evenhand.study.rows import Event, Invitation, Progress
from evenhand.study.tables import FAILED, PASSED
from evenhand.study.tally import tally
from evenhand.study.wording import Words
from evenhand.stats.agreement import krippendorff_alpha
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE

if TYPE_CHECKING:
    from evenhand.study.site import Site


def people_rows(site: Site, words: Words) -> list[dict[str, Any]]:
    """One entry an annotator: state, parts, invitations."""
    progress, invitations, paces = (
        site.store.progress(),
        site.store.invitations(),
        site.store.paces(),
    )
    rows = []
    for person in site.store.annotators():
        parts = [p for p in progress if p.part.annotator == person.id]
        rows.append(
            {
                "id": person.id,
                "number": person.number,
                "state": words(f"state_{person.state}"),
                "parts": [part_row(site, p, paces, words) for p in parts],
                "answers": sum(p.answered for p in parts),
                "links": [link_row(i, words) for i in invitations if i.annotator == person.id],
            }
        )
    return rows


def part_row(
    site: Site, progress: Progress, paces: Mapping[tuple[str, str, int], float], words: Words
) -> dict[str, Any]:
    """How a part of somebody stands."""
    part, study = progress.part, site.study
    result = {PASSED: "owner_passed", FAILED: "owner_failed"}.get(part.state, "owner_open")
    return {
        "name": words.part(part.part),
        "attempt": part.attempt,
        "answered": progress.answered,
        "size": part.size,
        "result": words(result),
        "accuracy": _percent(part.accuracy),
        "is_accurate": part.accuracy is None or part.accuracy >= study.least_accuracy,
        "consistency": _percent(part.consistency),
        "is_consistent": part.part == TRIAL
        or part.consistency is None
        or part.consistency >= study.least_consistency,
        "seconds": "–"
        if (pace := paces.get((part.annotator, part.part, part.attempt))) is None
        else f"{pace:.1f}",
    }


def link_row(invitation: Invitation, words: Words) -> dict[str, Any]:
    """How an invitation stands."""
    is_expired = invitation.expires <= datetime.now(UTC).isoformat(timespec="microseconds")
    is_open = invitation.revoked is None and not is_expired
    told = (
        words("owner_valid", day=invitation.expires[:10])
        if is_open
        else words("owner_revoked" if invitation.revoked else "owner_expired")
    )
    return {"id": invitation.id, "told": told, "is_open": is_open}


def agreement_so_far(site: Site, words: Words) -> list[dict[str, Any]]:
    """Alpha of the coarse scores (the signs) on measuring and on objective sentences."""
    held = tally(site.store, site.suite)
    found = []
    for stratum, word in ((MEASURING, "owner_measuring"), (OBJECTIVE, "owner_objective")):
        signs = np.sign(held.of(stratum))
        alpha, note = krippendorff_alpha(signs)
        shared = int((np.isfinite(signs).sum(axis=0) > 1).sum())
        told = "–" if np.isnan(alpha) else f"{alpha:.2f}"
        why = (
            words("owner_sentences", count=shared, people=len(held.names))
            if not note
            else words("owner_same" if shared else "owner_alone")
        )
        found.append({"name": words(word), "alpha": told, "note": why})
    return found


def shown_event(event: Event) -> dict[str, str]:
    """A line of the log, as the page shows it."""
    return {
        "at": event.at[:19].replace("T", " "),
        "kind": event.kind,
        "annotator": (event.annotator or "")[:8],
        "detail": event.detail,
    }


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"

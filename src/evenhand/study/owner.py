"""Pages of a study's owner, behind a login: progress, quality, invitations, exports, the log."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Semaphore
from typing import NamedTuple

import numpy as np
from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from evenhand.core.files import write_atomic
from evenhand.core.probe import GENDERS
from evenhand.core.suite import card_path, write_suite
from evenhand.core.text import number
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.people.plan import TRIAL
from evenhand.people.quality import FLAGS, PartName
from evenhand.people.scoring import reached_percent
from evenhand.stats.agreement import krippendorff_alpha
from evenhand.study.export import ANSWERS, ARCHIVE, FORMS, export
from evenhand.study.objective import VERDICT, VERDICTS
from evenhand.study.objective_results import judge_candidates, objective_suite
from evenhand.study.owner_rating import rating_rows
from evenhand.study.scores import part_flags, study_scores
from evenhand.study.security import LoginError, PageError, address_of, check_rate
from evenhand.study.site import Cookie, Site, go, new_nonce
from evenhand.study.table_files import as_bytes
from evenhand.study.tables import FAILED, PASSED, Event, Invitation, PartProgress
from evenhand.study.tokens import OWNER_SECONDS, ExpiredTokenError, TokenError
from evenhand.study.wording import Words

OWNER, VISIT = "evenhand_owner", "evenhand_visit"
PATH = "/owner"
LOGIN = f"{PATH}/login"
MOST_DAYS = 730
SHORTEST = 10  # letters of a password
# offered where the study has inventories; a separate download, as a browser takes one file at once
INVENTORIES = "inventories"
CONTROLS = "controls"  # offered where objective sentences are judged: those that are settled
_SUFFIXES = {ANSWERS: "parquet", ARCHIVE: "zip", INVENTORIES: "csv", CONTROLS: "jsonl"}
_HASHER = PasswordHasher()


class Visit(NamedTuple):
    """An owner who is logged in."""

    name: str
    nonce: str


def hash_password(password: str) -> str:
    """The argon2 hash that the store keeps."""
    return str(_HASHER.hash(password))


def is_right(hashed: str | None, password: str) -> bool:
    """Whether it is the password.

    Takes equally long where there is no such owner (None), so that names cannot be guessed.
    """
    try:
        _HASHER.verify(hashed or _nobody(), password)
        return hashed is not None
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    return hash_password(new_nonce())


def fingerprint(hashed: str) -> str:
    """What a session remembers of the hash: it ends when the password changes."""
    return hashlib.sha256(hashed.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class PartRow:
    """The state of one person's part, as the page shows it."""

    name: str
    attempt: int
    answered: int
    size: int
    result: str
    accuracy: str
    is_accurate: bool
    consistency: str
    is_consistent: bool
    seconds: str
    flags: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """The state of an invitation."""

    id: str
    text: str
    is_open: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """An annotator with parts and invitations."""

    id: str
    number: int
    state: str
    answers: int
    parts: tuple[PartRow, ...]
    links: tuple[LinkRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementRow:
    """Alpha of one stratum so far."""

    name: str
    alpha: str
    note: str


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{reached_percent(share)} %"


def person_rows(site: Site, words: Words) -> list[PersonRow]:
    """One row per annotator: state, parts, invitations."""
    store = site.store
    progress, invitations, paces = store.progress(), store.invitations(), store.paces()
    flags = part_flags(store, site.suite)
    rows = []
    for person in store.annotators():
        parts = [p for p in progress if p.part.annotator == person.id]
        rows.append(
            PersonRow(
                id=person.id,
                number=person.number,
                state=words(f"state_{person.state}"),
                answers=sum(p.answered for p in parts),
                parts=tuple(_part_row(site, p, paces, flags, words) for p in parts),
                links=tuple(_link_row(i, words) for i in invitations if i.annotator == person.id),
            )
        )
    return rows


def _part_row(
    site: Site,
    progress: PartProgress,
    paces: Mapping[PartName, float],
    flags: Mapping[PartName, Mapping[str, int]],
    words: Words,
) -> PartRow:
    part, study = progress.part, site.study
    result = {PASSED: "owner_passed", FAILED: "owner_failed"}.get(part.state, "owner_open")
    key = (part.annotator, part.part, part.attempt)
    pace, noticed = paces.get(key), flags.get(key, {})
    is_consistent = part.consistency is None or part.consistency >= study.least_consistency
    return PartRow(
        name=words.part(part.part),
        attempt=part.attempt,
        answered=progress.answered,
        size=part.size,
        result=words(result),
        accuracy=_percent(part.accuracy),
        is_accurate=part.accuracy is None or part.accuracy >= study.least_accuracy,
        consistency=_percent(part.consistency),
        is_consistent=part.part == TRIAL or is_consistent,
        seconds="–" if pace is None else f"{pace:.1f}",
        flags=" · ".join(words(f"flag_{f}", count=noticed[f]) for f in FLAGS if f in noticed),
    )


def _link_row(invitation: Invitation, words: Words) -> LinkRow:
    is_expired = invitation.expires <= datetime.now(UTC).isoformat(timespec="microseconds")
    is_open = invitation.revoked is None and not is_expired
    text = words("owner_revoked" if invitation.revoked else "owner_expired")
    if is_open:
        text = words("owner_valid", day=invitation.expires[:10])
    return LinkRow(id=invitation.id, text=text, is_open=is_open)


def agreement_rows(site: Site, words: Words) -> list[AgreementRow]:
    """Alpha of the coarse scores (the signs) so far, on measuring and on objective sentences."""
    people = study_scores(site.store, site.study, site.suite)
    rows = []
    for stratum, word in ((MEASURING, "owner_measuring"), (OBJECTIVE, "owner_objective")):
        is_in = np.asarray([s == stratum for s in people.strata], dtype=bool)
        signs = np.sign(people.fine[:, is_in])
        alpha, note = krippendorff_alpha(signs)
        shared = int((np.isfinite(signs).sum(axis=0) > 1).sum())
        text = words("owner_sentences", count=shared, people=len(people.annotators))
        if note:
            text = words("owner_same" if shared else "owner_alone")
        value = "–" if np.isnan(alpha) else number(alpha)
        rows.append(AgreementRow(name=words(word), alpha=value, note=text))
    return rows


def _event_row(event: Event) -> dict[str, str]:
    """A line of the log, as the page shows it."""
    return {
        "at": event.at[:19].replace("T", " "),
        "kind": event.kind,
        "annotator": (event.annotator or "")[:8],
        "detail": event.detail,
    }


class OwnerPages:
    """Login, the page with everything, and what can be done there."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._checking = Semaphore(2)  # a password takes 64 MB and much time to check
        _nobody()  # made now, so that the first wrong name takes no longer than the others

    def visit(self, request: Request) -> Visit:
        """Who is logged in.

        Raises LoginError where nobody is, or no longer; PageError for a token made elsewhere.
        """
        site = self._site
        check_rate(site.addresses, address_of(request))
        token = request.cookies.get(OWNER, "")
        if not token:
            raise LoginError("owner: not logged in")
        try:
            name, known, nonce = site.tokens.read_owner(token)
        except ExpiredTokenError as error:
            raise LoginError(f"owner: {error}") from error
        except TokenError as error:
            raise PageError(401, "no_owner", f"owner: {error}") from error
        hashed = site.store.owner(name)
        if hashed is None or fingerprint(hashed) != known:
            raise LoginError("owner: the password was changed")
        return Visit(name, nonce)

    def ask(self, request: Request) -> Response:
        """The login form."""
        check_rate(self._site.addresses, address_of(request))
        return self._draw_login(request)

    def _draw_login(self, request: Request, status: int = 200, problem: str = "") -> Response:
        nonce = new_nonce()
        values = {"problem": problem, "here": LOGIN}
        response = self._site.draw(request, "owner_login.html", values, status=status, nonce=nonce)
        cookie = Cookie(name=VISIT, value=nonce, seconds=3600, same_site="strict", path=PATH)
        self._site.keep(response, request, cookie)
        return response

    def login(self, request: Request) -> Response:
        """Name and password; a few tries a minute for each address and each name."""
        site = self._site
        check_rate(site.addresses, address_of(request))
        allowed = frozenset({"name", "password"})
        fields = site.form(request, request.cookies.get(VISIT, "none"), allowed)
        name, password = fields.get("name", "")[:100], fields.get("password", "")[:1000]
        check_rate(site.logins, address_of(request), "login_wait")
        check_rate(site.names, name, "login_wait")
        hashed = site.store.owner(name)
        if not self._check(hashed, password) or hashed is None:
            # an unknown name may be a password in the wrong field, so it is not logged
            detail = "an unknown name" if hashed is None else f"name {name!r}"
            site.store.log("wrong login", None, detail)
            return self._draw_login(request, 401, site.words(request)("refused_wrong_login"))
        response = go(PATH)
        token = site.tokens.open_owner(name, fingerprint(hashed))
        cookie = Cookie(
            name=OWNER, value=token, seconds=OWNER_SECONDS, same_site="strict", path=PATH
        )
        site.keep(response, request, cookie)
        response.delete_cookie(VISIT, path=PATH)
        return response

    def _check(self, hashed: str | None, password: str) -> bool:
        if not self._checking.acquire(blocking=False):
            raise PageError(429, "login_wait", "too many logins at once", wait=1)
        try:
            return is_right(hashed, password)
        finally:
            self._checking.release()

    def logout(self, request: Request) -> Response:
        """The session ends."""
        visit = self.visit(request)
        self._site.form(request, visit.nonce)
        response = go(LOGIN)
        response.delete_cookie(OWNER, path=PATH)
        return response

    def look(self, request: Request) -> Response:
        """Everything on one page."""
        site, visit = self._site, self.visit(request)
        words, study = site.words(request), site.study
        people = person_rows(site, words)
        invitation = request.query_params.get("invitation", "")
        known = {i.id for i in site.store.invitations()}
        # only the path: the browser (owner.js) adds the address that the owner sees, instead of a
        # host that somebody else may have put into the request
        link = f"/i/{site.tokens.invite(invitation)}" if invitation in known else ""
        values = {
            "here": PATH,
            "people": people,
            "link": link,
            "agreement": [] if self._is_rating else agreement_rows(site, words),
            "rating": rating_rows(site, words) if self._is_rating else None,
            "forms": self._forms(),
            "events": [_event_row(event) for event in site.store.events(30)],
            "study": study,
            "name": visit.name,
            "answers": sum(p.answers for p in people),
            "accuracy": reached_percent(study.least_accuracy),
            "consistency": reached_percent(study.least_consistency),
        }
        return site.draw(request, "owner.html", values, nonce=visit.nonce)

    def invite(self, request: Request) -> Response:
        """A link for a new annotator, or another one for somebody who is there."""
        site, visit = self._site, self.visit(request)
        fields = site.form(request, visit.nonce, frozenset({"days", "annotator"}))
        days = fields.get("days", "")
        is_number = days.isascii() and days.isdigit() and len(days) < 6
        if not is_number or not 1 <= int(days) <= MOST_DAYS:
            raise PageError(422, "bad_form", f"days {days[:20]!r}, not 1 to {MOST_DAYS}")
        annotator = fields.get("annotator") or site.store.add_annotator()
        return go(f"{PATH}?invitation={site.store.invite(annotator, int(days))}")

    def revoke(self, request: Request) -> Response:
        """Revoke a link and end the sessions that it opened."""
        site, visit = self._site, self.visit(request)
        fields = site.form(request, visit.nonce, frozenset({"invitation"}))
        site.store.revoke(fields.get("invitation", "")[:100])
        return go(PATH)

    def resolve(self, request: Request) -> Response:
        """Decide what raters judged differently; only that can be decided."""
        site, visit = self._site, self.visit(request)
        fields = site.form(request, visit.nonce, frozenset({"probe", "verdict"}))
        probe, verdict = fields.get("probe", ""), fields.get("verdict", "")
        disputed = {j.probe.id for j in judge_candidates(site.suite, site.store) if j.is_disputed}
        if not self._is_rating or verdict not in VERDICTS or probe not in disputed:
            detail = f"resolving {probe[:40]!r} as {verdict[:20]!r}"
            raise PageError(422, "bad_answer", detail)
        site.store.resolve(probe, verdict)
        return go(f"{PATH}#verdicts")

    @property
    def _is_rating(self) -> bool:
        return VERDICT in self._site.study.types

    def _forms(self) -> tuple[str, ...]:
        site = self._site
        if self._is_rating:
            judged = judge_candidates(site.suite, site.store)
            has_controls = any(one.settled in GENDERS for one in judged)
            forms = tuple(form for form in FORMS if form != ANSWERS)
            return (*forms, CONTROLS) if has_controls else forms
        return (*FORMS, INVENTORIES) if site.study.inventories else FORMS

    def download(self, request: Request) -> Response:
        """All answers, or all of the study, as a file."""
        site, _ = self._site, self.visit(request)
        form = request.path_params["form"]
        if form not in self._forms():
            raise PageError(404, "not_found", f"export {form[:40]!r}")
        folder = tempfile.TemporaryDirectory(prefix="evenhand-export-")
        out = Path(folder.name) / f"{site.study.name}-{form}.{_SUFFIXES.get(form, form)}"
        written: tuple[Path, ...] = (out,)
        if form == CONTROLS:
            judged = judge_candidates(site.suite, site.store)
            controls = objective_suite(site.study.name, site.suite, judged)
            write_suite(controls, out)
            written = (out, card_path(out))
        elif form == INVENTORIES:
            write_atomic(out, as_bytes(site.store.inventory_table(), "csv"))
        else:
            written = export(site.store, site.study, site.suite, out, form)
        # answers: one file for all together and one for each person; controls: the card beside
        if form in (ANSWERS, CONTROLS):
            out = out.with_suffix(".zip")
            with zipfile.ZipFile(out, "w") as archive:
                for file in written:
                    archive.write(file, file.name)
        return FileResponse(
            out,
            filename=out.name,
            media_type="application/octet-stream",
            background=BackgroundTask(folder.cleanup),
        )

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route(PATH, self.look, methods=["GET"]),
            Route(LOGIN, self.ask, methods=["GET"]),
            Route(LOGIN, self.login, methods=["POST"]),
            Route(f"{PATH}/logout", self.logout, methods=["POST"]),
            Route(f"{PATH}/invite", self.invite, methods=["POST"]),
            Route(f"{PATH}/revoke", self.revoke, methods=["POST"]),
            Route(f"{PATH}/resolve", self.resolve, methods=["POST"]),
            Route(PATH + "/export/{form}", self.download, methods=["GET"]),
        ]

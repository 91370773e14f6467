"""What does the owner of a study see and do? Behind a login: how far everybody is, how good the answers are, invitations, exports, the log."""

from __future__ import annotations

import hashlib
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from threading import Semaphore
from typing import NamedTuple

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from evenhand.study.archive import as_bytes
from evenhand.study.export import ANSWERS, ARCHIVE, FORMS, export
from evenhand.study.overview import agreement_so_far, people_rows, shown_event
from evenhand.study.security import PageError, address_of, refuse_haste
from evenhand.study.site import Site, go, new_nonce
from evenhand.study.tokens import OWNER_SECONDS, TokenError
from evenhand.core.files import write_atomic

OWNER, VISIT = "evenhand_owner", "evenhand_visit"
PATH = "/owner"
MOST_DAYS = 730
SHORTEST = 10  # letters of a password
INVENTORIES = "inventories"  # offered where the study has some; a file of their own, as a browser takes one at a time
_SUFFIXES = {ANSWERS: "parquet", ARCHIVE: "zip", INVENTORIES: "csv"}
_HASHER = PasswordHasher()


class Visit(NamedTuple):
    """An owner who is logged in."""

    name: str
    nonce: str


def hash_password(password: str) -> str:
    """The argon2 hash that the store keeps."""
    return str(_HASHER.hash(password))


def is_right(hashed: str | None, password: str) -> bool:
    """Is it the password? Takes as long where there is no such owner, so that names cannot be found out."""
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


class Owner:
    """The owner's pages."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._checking = Semaphore(2)  # a password takes 64 MB and much time to check
        _nobody()  # made now, so that the first wrong name takes no longer than the others

    def visit(self, request: Request) -> Visit:
        """Who is logged in? Refused where nobody is."""
        site = self._site
        refuse_haste(site.addresses, address_of(request))
        try:
            name, held, nonce = site.tokens.read_owner(request.cookies.get(OWNER, ""))
        except TokenError as error:
            raise PageError(401, "no_owner", f"owner: {error}") from error
        hashed = site.store.owner(name)
        if hashed is None or fingerprint(hashed) != held:
            raise PageError(401, "no_owner", "owner: the password was changed")
        return Visit(name, nonce)

    def ask(self, request: Request) -> Response:
        """The login form."""
        refuse_haste(self._site.addresses, address_of(request))
        return self._draw_login(request)

    def _draw_login(self, request: Request, status: int = 200, problem: str = "") -> Response:
        nonce = new_nonce()
        response = self._site.draw(
            request,
            "owner_login.html",
            status=status,
            nonce=nonce,
            problem=problem,
            here=f"{PATH}/login",
        )
        self._site.keep(response, request, VISIT, nonce, 3600, "strict", PATH)
        return response

    def login(self, request: Request) -> Response:
        """Name and password; a few tries a minute for each address and each name."""
        site = self._site
        refuse_haste(site.addresses, address_of(request))
        fields = site.form(
            request, request.cookies.get(VISIT, "none"), frozenset({"name", "password"})
        )
        name, password = fields.get("name", "")[:100], fields.get("password", "")[:1000]
        refuse_haste(site.logins, address_of(request), "login_wait")
        refuse_haste(site.names, name, "login_wait")
        hashed = site.store.owner(name)
        if not self._check(hashed, password) or hashed is None:
            # a name that is none may be a password in the wrong field: it is not written down
            site.store.log(
                "wrong login", None, "an unknown name" if hashed is None else f"name {name!r}"
            )
            return self._draw_login(request, 401, site.words(request)("refused_wrong_login"))
        response = go(PATH)
        site.keep(
            response,
            request,
            OWNER,
            site.tokens.open_owner(name, fingerprint(hashed)),
            OWNER_SECONDS,
            "strict",
            PATH,
        )
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
        response = go(f"{PATH}/login")
        response.delete_cookie(OWNER, path=PATH)
        return response

    def look(self, request: Request) -> Response:
        """Everything on one page."""
        site, visit = self._site, self.visit(request)
        words, study = site.words(request), site.study
        people = people_rows(site, words)
        invitation = request.query_params.get("invitation", "")
        known = {i.id for i in site.store.invitations()}
        # a path: the browser makes it whole (owner.js) by the address that the owner sees, not by a Host that somebody else may have named
        link = f"/i/{site.tokens.invite(invitation)}" if invitation in known else ""
        return site.draw(
            request,
            "owner.html",
            nonce=visit.nonce,
            here=PATH,
            people=people,
            link=link,
            agreement=agreement_so_far(site, words),
            forms=self._forms(),
            events=[shown_event(event) for event in site.store.events(30)],
            study=study,
            name=visit.name,
            answers=sum(p["answers"] for p in people),
            accuracy=round(100 * study.least_accuracy),
            consistency=round(100 * study.least_consistency),
        )

    def invite(self, request: Request) -> Response:
        """A link for a new annotator, or another one for somebody who is there."""
        site, visit = self._site, self.visit(request)
        fields = site.form(request, visit.nonce, frozenset({"days", "annotator"}))
        told = fields.get("days", "")
        if not (
            told.isascii() and told.isdigit() and len(told) < 6 and 1 <= int(told) <= MOST_DAYS
        ):
            raise PageError(422, "bad_form", f"days {told[:20]!r}, not 1 to {MOST_DAYS}")
        annotator = fields.get("annotator") or site.store.add_annotator()
        return go(f"{PATH}?invitation={site.store.invite(annotator, int(told))}")

    def revoke(self, request: Request) -> Response:
        """Make a link, and the sessions that it opened, worthless."""
        site, visit = self._site, self.visit(request)
        site.store.revoke(
            site.form(request, visit.nonce, frozenset({"invitation"})).get("invitation", "")[:100]
        )
        return go(PATH)

    def _forms(self) -> tuple[str, ...]:
        return (*FORMS, INVENTORIES) if self._site.study.inventories else FORMS

    def download(self, request: Request) -> Response:
        """All answers, or all of the study, as a file."""
        site, _ = self._site, self.visit(request)
        form = request.path_params["form"]
        if form not in self._forms():
            raise PageError(404, "not_found", f"export {form[:40]!r}")
        folder = tempfile.TemporaryDirectory(prefix="evenhand-export-")
        out = Path(folder.name) / f"{site.study.name}-{form}.{_SUFFIXES.get(form, form)}"
        if form == INVENTORIES:
            write_atomic(out, as_bytes(site.store.inventory_table(), "csv"))
        else:
            written = export(site.store, site.study, site.suite, out, form)
        if form == ANSWERS:  # one file for all together and one for each person
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
            Route(f"{PATH}/login", self.ask, methods=["GET"]),
            Route(f"{PATH}/login", self.login, methods=["POST"]),
            Route(f"{PATH}/logout", self.logout, methods=["POST"]),
            Route(f"{PATH}/invite", self.invite, methods=["POST"]),
            Route(f"{PATH}/revoke", self.revoke, methods=["POST"]),
            Route(PATH + "/export/{form}", self.download, methods=["GET"]),
        ]

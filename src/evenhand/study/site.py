"""Site: what all pages of a study share: sessions, languages, forms, cookies and drawing."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Literal
from urllib.parse import parse_qsl

import jinja2
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from evenhand.core.probe import Probe
from evenhand.core.suite import Suite
from evenhand.people.plan import gold_genders, list_parts
from evenhand.study.limits import Buckets, Limits
from evenhand.study.security import PageError, address_of, check_rate
from evenhand.study.store import Store
from evenhand.study.study import Study
from evenhand.study.tokens import SESSION_SECONDS, ExpiredTokenError, Session, TokenError, Tokens
from evenhand.study.wording import Words, language_names

SESSION, LANGUAGE = "evenhand_session", "evenhand_language"
YEAR = 365 * 86400
MOST_FIELDS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A page with a message, and a link to continue."""

    heading: str
    lines: tuple[str, ...]
    link: str = ""
    link_text: str = ""
    leave: str = ""  # the text of the button that ends the session


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie that scripts cannot read."""

    name: str
    value: str
    seconds: int
    same_site: Literal["lax", "strict"] = "lax"
    path: str = "/"


@dataclass(frozen=True, kw_only=True)
class Site:
    """One study and all that its pages need."""

    study: Study
    store: Store
    suite: Suite
    tokens: Tokens
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """trial, batch-1 ..."""
        return list_parts(self.study, self.suite)

    @cached_property
    def gold(self) -> Mapping[str, str]:
        """Probe id -> the gender that is right, for control questions."""
        return gold_genders(self.suite)

    @cached_property
    def probes(self) -> Mapping[str, Probe]:
        """Id -> sentence."""
        return {probe.id: probe for probe in self.suite.probes}

    @cached_property
    def sessions(self) -> Buckets:
        """How often each session asked."""
        return Buckets(self.limits.session)

    @cached_property
    def addresses(self) -> Buckets:
        """How often each address asked without a session."""
        return Buckets(self.limits.address)

    @cached_property
    def logins(self) -> Buckets:
        """How often each address tried to log in."""
        return Buckets(self.limits.login)

    @cached_property
    def names(self) -> Buckets:
        """How often each name was tried, from everywhere."""
        return Buckets(self.limits.name)

    @cached_property
    def _pages(self) -> jinja2.Environment:
        return jinja2.Environment(
            loader=jinja2.PackageLoader("evenhand.study", "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
        )

    def words(self, request: Request) -> Words:
        """The texts in the language that was chosen, else in the study's first."""
        chosen = request.cookies.get(LANGUAGE, "")
        return Words(chosen if chosen in self.study.languages else self.study.languages[0])

    def draw(
        self,
        request: Request,
        page: str,
        values: Mapping[str, object],
        *,
        status: int = 200,
        nonce: str = "",
    ) -> Response:
        """A page in the language of the request; nonce: of the session that its forms belong to."""
        words = self.words(request)
        language = words.language
        shared = {
            "t": words,
            "language": language,
            "languages": language_names(self.study.languages),
            "here": request.url.path,
            "study_title": self.study.title.get(language) or words("study"),
            "csrf": self.tokens.make_form(nonce) if nonce else "",
            "problem": "",
        }
        text = self._pages.get_template(page).render({**shared, **values})
        return HTMLResponse(text, status_code=status)

    def message(
        self,
        request: Request,
        message: Message,
        *,
        status: int = 200,
        nonce: str = "",
        here: str = "",
    ) -> Response:
        """A page with a message; here: the address that the language switch leads to."""
        values = {**asdict(message), "here": here or request.url.path}
        return self.draw(request, "message.html", values, status=status, nonce=nonce)

    def session(self, request: Request) -> Session:
        """Whose request it is.

        Raises PageError without a session and with one that was forged or has ended; refused after
        its invitation was revoked.
        """
        if not (cookie := request.cookies.get(SESSION, "")):
            check_rate(self.addresses, address_of(request))
            raise PageError(401, "no_session", "no session")
        try:
            session = self.tokens.read_session(cookie)
        except TokenError as error:
            check_rate(self.addresses, address_of(request))
            is_old = isinstance(error, ExpiredTokenError)
            detail = "expired session" if is_old else "forged session"
            raise PageError(401, "no_session", detail) from error
        check_rate(self.sessions, session.annotator)
        if self.store.admit(session.invitation) != session.annotator:
            raise PageError(403, "no_session", "foreign session")
        return session

    def form(
        self, request: Request, nonce: str, allowed: frozenset[str] = frozenset()
    ) -> dict[str, str]:
        """The fields of a form that came from a page of this session.

        Raises PageError for a field that comes twice or is not among the allowed ones.
        """
        fields = read_form(request)
        try:
            self.tokens.check_form(fields.pop("csrf", ""), nonce)
        except TokenError as error:
            raise PageError(403, "bad_form", f"form token: {error}") from error
        if strange := sorted(set(fields) - allowed):
            raise PageError(422, "bad_answer", f"unknown field {strange[0][:40]!r}")
        return fields

    def keep(self, response: Response, request: Request, cookie: Cookie) -> None:
        """Set a cookie, for https only where the page was requested over https."""
        response.set_cookie(
            cookie.name,
            cookie.value,
            max_age=cookie.seconds,
            httponly=True,
            secure=request.url.scheme == "https",
            samesite=cookie.same_site,
            path=cookie.path,
        )

    def open_session(
        self, request: Request, response: Response, annotator: str, invitation: str
    ) -> None:
        """Let an annotator in on this device."""
        token = self.tokens.open_session(annotator, invitation)
        self.keep(response, request, Cookie(name=SESSION, value=token, seconds=SESSION_SECONDS))

    def switch(self, request: Request) -> Response | None:
        """Where the address says ?lang=, remember the language and show the same page again."""
        if (wanted := request.query_params.get("lang")) is None or request.method != "GET":
            return None
        response = go(request.url.path)
        if wanted in self.study.languages:
            self.keep(response, request, Cookie(name=LANGUAGE, value=wanted, seconds=YEAR))
        return response


def go(path: str) -> Response:
    """A redirect to another page of this host, by GET."""
    return RedirectResponse("/" + path.lstrip("/\\"), status_code=303)


def new_nonce() -> str:
    """A random number for a form or a key."""
    return secrets.token_urlsafe(12)


def read_form(request: Request) -> dict[str, str]:
    """The fields of an ordinary form, each at most once.

    The body was read, and its length limited, before. Raises PageError where it is another kind of
    request.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise PageError(415, "bad_form", f"content type {kind[:60]!r}")
    try:
        pairs = parse_qsl(
            request.scope["evenhand.body"].decode(),
            keep_blank_values=True,
            max_num_fields=MOST_FIELDS,
            errors="strict",
        )
    except ValueError as error:  # not UTF-8, or too many fields
        raise PageError(400, "bad_form", "a form that cannot be read") from error
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise PageError(422, "bad_answer", "a field was sent twice")
    return fields

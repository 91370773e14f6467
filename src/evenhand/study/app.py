"""The web application of a study: routes, limits, safe headers, and answers to refused requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from evenhand.core.errors import EvenhandError
from evenhand.core.suite import Suite
from evenhand.study.limits import Limits
from evenhand.study.owner import LOGIN, PATH, OwnerPages
from evenhand.study.pages import ConsentPages, InventoryPages, PartPages, QuestionPages
from evenhand.study.security import HEADERS, BodyLimit, LoginError, PageError, SafeHeaders
from evenhand.study.site import SESSION, Message, Site, go
from evenhand.study.store import Store
from evenhand.study.study import Study
from evenhand.study.tables import RefusedError
from evenhand.study.tokens import TokenError, Tokens

THREADS = 10  # requests that are worked on at once
# What the store refuses (and has logged), in the words of the interface.
MESSAGES = {
    "unknown invitation": "bad_invitation",
    "revoked invitation": "revoked",
    "expired invitation": "expired",
    "used key": "bad_form",
    "bad key": "bad_form",
}
NO_WAY_BACK = frozenset({"no_session", "bad_invitation", "revoked", "expired"})


def make_app(
    study: Study, store: Store, suite: Suite, secret: bytes | str, *, limits: Limits | None = None
) -> Starlette:
    """The web application of one study; secret: what signs its tokens."""
    limits = limits or Limits()
    site = Site(study=study, store=store, suite=suite, tokens=Tokens(secret), limits=limits)
    pages = (ConsentPages, InventoryPages, PartPages, QuestionPages, OwnerPages)
    routes = [_switching(site, route) for page in pages for route in page(site).routes()]
    routes.append(Route("/health", lambda _: PlainTextResponse("ok"), methods=["GET"]))
    refusals = Refusals(site)
    app = Starlette(
        routes=[*routes, Mount("/static", StaticFiles(packages=[("evenhand.study", "static")]))],
        middleware=[
            Middleware(SafeHeaders),
            Middleware(
                BodyLimit, most=limits.body, patience=limits.patience, refuse=refusals.answer_now
            ),
        ],
        exception_handlers=refusals.handlers(),
        lifespan=_few_threads,
    )
    # such redirects would go to whatever host the request names
    app.router.redirect_slashes = False
    return app


@asynccontextmanager
async def _few_threads(_: Starlette) -> AsyncIterator[None]:
    """Limit the threads: fewer compete for the interpreter, and the slowest answers get faster."""
    anyio.to_thread.current_default_thread_limiter().total_tokens = THREADS
    yield


def _switching(site: Site, route: Route) -> Route:
    """The same page, which first checks whether another language was chosen."""
    show = cast(Callable[[Request], Response], route.endpoint)

    def endpoint(request: Request) -> Response:
        return site.switch(request) or show(request)

    return Route(route.path, endpoint, methods=sorted(route.methods or ()))


class Refusals:
    """A refused request gets a page with a clear message and a line in the log."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def answer_now(self, request: Request, refusal: PageError) -> ASGIApp:
        """The answer to a request whose body is not even read."""
        return self.refuse(request, refusal)

    def refuse(self, request: Request, error: Exception) -> Response:
        """Whatever a page or a limit refused."""
        refusal = cast(PageError, error)
        self._log(request, refusal.message, refusal.detail)
        return self._draw(request, refusal.status, refusal.message, refusal.wait)

    def lead_to_login(self, request: Request, error: Exception) -> Response:
        """Redirect an owner who opens a page to the login; refuse a form that was sent."""
        return go(LOGIN) if request.method in {"GET", "HEAD"} else self.refuse(request, error)

    def refuse_row(self, request: Request, error: Exception) -> Response:
        """What the store refused; it has logged it."""
        return self._draw(request, 403, MESSAGES.get(cast(RefusedError, error).kind, "not_yours"))

    def refuse_path(self, request: Request, error: Exception) -> Response:
        """No such page, or not by this method.

        Not logged, as robots would fill the log. A trailing slash is removed.
        """
        status, path = cast(HTTPException, error).status_code, request.url.path
        if status == 404 and request.method == "GET" and path.endswith("/") and path.strip("/"):
            return go(path.rstrip("/"))
        return self._draw(request, status, "not_found" if status == 404 else "method")

    def fail(self, request: Request, error: Exception) -> Response:
        """The store could not be reached or written to."""
        self._log(request, "busy", str(error))
        return self._draw(request, 503, "busy")

    def break_down(self, request: Request, error: Exception) -> Response:
        """A bug of the program, whose traceback goes to standard error.

        This answer does not pass SafeHeaders.
        """
        self._log(request, "broken", type(error).__name__)
        response = self._draw(request, 500, "busy")
        response.headers.update({**HEADERS, "cache-control": "no-store"})
        return response

    def _log(self, request: Request, kind: str, detail: str) -> None:
        try:
            annotator = self._site.tokens.read_session(request.cookies.get(SESSION, "")).annotator
        except TokenError:
            annotator = None
        # a link is a secret, even one that was cut off
        path = "/i/..." if request.url.path.startswith("/i/") else request.url.path[:60]
        line = f"{request.method[:10]} {path}: {detail}"
        with suppress(EvenhandError):  # the disk may be full
            self._site.store.log(kind.replace("_", " "), annotator, line)

    def _draw(self, request: Request, status: int, message: str, wait: int = 0) -> Response:
        site, words = self._site, self._site.words(request)
        text = words(f"refused_{message}", wait=wait) if wait else words(f"refused_{message}")
        link = "" if message in NO_WAY_BACK else "/next"
        if request.url.path.startswith(PATH):
            link = LOGIN if message == "no_owner" else PATH
        page = Message(
            heading=words("refused_heading"),
            lines=(text,),
            link=link,
            link_text=words("owner_login" if message == "no_owner" else "refused_back"),
        )
        response = site.message(request, page, status=status, here=link or "/")
        if wait:
            response.headers["retry-after"] = str(wait)
        return response

    def handlers(self) -> dict[type[Exception] | int, Callable[[Request, Exception], Response]]:
        """Which error is answered how."""
        return {
            LoginError: self.lead_to_login,
            PageError: self.refuse,
            RefusedError: self.refuse_row,
            HTTPException: self.refuse_path,
            EvenhandError: self.fail,
            Exception: self.break_down,
        }

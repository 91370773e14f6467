"""How does an annotator come in, agree, pause and leave? Invitation link, consent, and the way to wherever one had stopped."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evenhand.study.security import PageError, address_of, refuse_haste
from evenhand.study.site import SESSION, Site, go
from evenhand.study.steps import CONSENTED, INVITED, next_step
from evenhand.study.tokens import TokenError


class Consent:
    """Coming and going."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def enter(self, request: Request) -> Response:
        """The invitation link: opens a session on this device, as often as need be."""
        site = self._site
        refuse_haste(site.addresses, address_of(request))
        try:
            invitation = site.tokens.read_invitation(request.path_params["token"])
        except TokenError as error:
            raise PageError(403, "bad_invitation", "forged invitation") from error
        annotator = site.store.admit(invitation)
        response = go("/next")
        site.open_session(request, response, annotator, invitation)
        return response

    def go_on(self, request: Request) -> Response:
        """To wherever this annotator had stopped."""
        return go(next_step(self._site, self._site.session(request).annotator))

    def ask(self, request: Request) -> Response:
        """What is this about, and do you agree?"""
        site, session = self._site, self._site.session(request)
        words = site.words(request)
        text = site.study.consent.get(words.language) or words("consent_default")
        paragraphs = [line.strip() for line in text.splitlines() if line.strip()]
        return site.draw(
            request,
            "consent.html",
            nonce=session.nonce,
            paragraphs=paragraphs,
            pay=site.study.pay.get(words.language, ""),
        )

    def agree(self, request: Request) -> Response:
        """Consent was given."""
        site, session = self._site, self._site.session(request)
        if site.form(request, session.nonce, frozenset({"agree"})).get("agree") != "1":
            return go("/consent")
        if site.store.annotator(session.annotator).state == INVITED:
            site.store.set_state(session.annotator, CONSENTED)
        return go("/next")

    def pause(self, request: Request) -> Response:
        """Everything is stored; the link leads back."""
        site, session = self._site, self._site.session(request)
        words, asked = site.words(request), site.store.next_question(session.annotator)
        lines = [words("pause_text")]
        if asked is not None:
            lines.insert(
                0,
                words(
                    "pause_left", part=words.part(asked.part), done=asked.place, total=asked.size
                ),
            )
        return site.message(
            request,
            words("pause_heading"),
            *lines,
            nonce=session.nonce,
            link="/next",
            link_text=words("pause_go"),
            leave=words("pause_leave"),
        )

    def leave(self, request: Request) -> Response:
        """The session on this device ends."""
        site, session = self._site, self._site.session(request)
        site.form(request, session.nonce)
        words = site.words(request)
        response = site.message(request, words("left_heading"), words("left_text"), here="/")
        response.delete_cookie(
            SESSION, httponly=True, samesite="lax", secure=request.url.scheme == "https"
        )
        return response

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/i/{token}", self.enter, methods=["GET"]),
            Route("/", self.go_on, methods=["GET"]),
            Route("/next", self.go_on, methods=["GET"]),
            Route("/consent", self.ask, methods=["GET"]),
            Route("/consent", self.agree, methods=["POST"]),
            Route("/pause", self.pause, methods=["GET"]),
            Route("/leave", self.leave, methods=["POST"]),
        ]

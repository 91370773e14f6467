"""How is a question shown and answered? One a page; words are sent by their place, so that no page tells what they stand for.

An answer is stored, durably, before the next question is drawn. The form carries a signed note of what was shown to whom and when: it gives the time on the
question, and a key that stores the same form once however often it is sent.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evenhand.people.questions import GAP, TYPE1, Question
from evenhand.study.rows import Asked
from evenhand.people.scoring import AnswerError, coarse, fine, parse_answer
from evenhand.study.security import PageError
from evenhand.study.site import Site, go, new_nonce
from evenhand.study.tokens import Session, Shown, TokenError

BREAK = 50  # questions, after which a break is suggested
FIELDS = frozenset({"shown", "first", "second", "equal", "value"})
WIDE = {"zh": 1, "ja": 1}  # how many letters take the room of one ideograph: 1, elsewhere 2


class Questions:
    """Showing, answering, going back."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def show(self, request: Request) -> Response:
        """The first question without an answer."""
        site, session = self._site, self._site.session(request)
        if (asked := site.store.next_question(session.annotator)) is not None:
            return self._draw(request, session, asked)
        if not any(p.is_open for p in site.store.parts(session.annotator)):
            return go("/next")
        words = site.words(request)
        return site.draw(
            request, "finish.html", nonce=session.nonce, heading=words("finish_heading")
        )

    def show_previous(self, request: Request) -> Response:
        """The question that was answered last, with its answer, to change it."""
        site, session = self._site, self._site.session(request)
        asked = site.store.next_question(session.annotator)
        if asked is None:
            part = next((p for p in site.store.parts(session.annotator) if p.is_open), None)
            place = part.size - 1 if part is not None else -1
        else:
            place = asked.place - 1
        previous = site.store.question_at(session.annotator, place) if place >= 0 else None
        return self._draw(request, session, previous) if previous is not None else go("/question")

    def answer(self, request: Request) -> Response:
        """Store an answer; the next question is shown after it is on disk."""
        site, session = self._site, self._site.session(request)
        fields = site.form(request, session.nonce, FIELDS)
        try:
            shown = site.tokens.read_question(fields.pop("shown", ""), session.annotator)
        except TokenError as error:
            raise PageError(403, "bad_form", f"question form: {error}") from error
        asked = site.store.question(session.annotator, shown.question)
        payload = read_payload(asked.question, fields)
        try:
            choice = parse_answer(asked.question, payload)
        except AnswerError as error:
            site.store.log("bad answer", session.annotator, str(error))
            problem = site.words(request)(
                "need_two" if asked.question.type == TYPE1 else "need_value"
            )
            return self._draw(request, session, asked, status=422, problem=problem, at=shown.at)
        site.store.give_answer(
            session.annotator,
            shown.question,
            payload,
            fine=fine(asked.question, choice),
            coarse=coarse(asked.question, choice),
            seconds=max(0.0, time.time() - shown.at),
            key=shown.key,
        )
        is_break = (
            asked.payload is None
            and (asked.place + 1) % BREAK == 0
            and asked.place + 1 < asked.size
        )
        return go("/break" if is_break else "/question")

    def rest(self, request: Request) -> Response:
        """Time for a break?"""
        site, session = self._site, self._site.session(request)
        if (asked := site.store.next_question(session.annotator)) is None:
            return go("/next")
        words = site.words(request)
        told = words("break_text", done=asked.place, total=asked.size)
        return site.message(
            request, words("break_heading"), told, link="/question", link_text=words("break_go")
        )

    def _draw(
        self,
        request: Request,
        session: Session,
        asked: Asked,
        status: int = 200,
        problem: str = "",
        at: float = 0.0,
    ) -> Response:
        site, question = self._site, asked.question
        note = Shown(
            question=question.id, at=at or time.time(), key=new_nonce()
        )  # shown again after a mistake, the time goes on
        before, after = split_gap(question)
        is_changing = asked.payload is not None
        return site.draw(
            request,
            "question.html",
            status=status,
            nonce=session.nonce,
            here="/previous" if is_changing else "/question",
            type=question.type,
            before=before,
            after=after,
            options=[option.text for option in question.options],
            given=given_places(question, asked.payload),
            problem=problem,
            sentence_language=site.suite.card.language,
            wide=WIDE.get(site.suite.card.language, 2),
            is_changing=is_changing,
            has_previous=asked.place > 0,
            done=asked.place,
            total=asked.size,
            part_name=site.words(request).part(asked.part),
            shown=site.tokens.show_question(session.annotator, note),
        )

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/question", self.show, methods=["GET"]),
            Route("/question", self.answer, methods=["POST"]),
            Route("/previous", self.show_previous, methods=["GET"]),
            Route("/break", self.rest, methods=["GET"]),
        ]


def split_gap(question: Question) -> tuple[str, str]:
    """What stands before and after the gap; a Type 2 sentence is whole (setting its word off would tell what is asked about)."""
    if question.type != TYPE1:
        return question.shown, ""
    start, end = question.span
    if question.shown[start:end] != GAP:
        start, end = (at := question.shown.index(GAP)), at + len(GAP)
    return question.shown[:start], question.shown[end:]


def read_payload(question: Question, fields: Mapping[str, str]) -> dict[str, Any]:
    """The answer that a form's fields give: words by their place become words by their key; what makes no sense is left for the check that follows."""
    if question.type != TYPE1:
        return {name: _number(text) if name == "value" else text for name, text in fields.items()}
    keys = {str(place): option.key for place, option in enumerate(question.options, start=1)}
    payload: dict[str, Any] = {
        name: keys.get(text, f"place {text}" if text else "")
        for name, text in fields.items()
        if name != "equal"
    }
    equal = fields.get("equal", "")
    payload["equal"] = {"": False, "1": True}.get(equal, equal)
    return payload


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else text


def given_places(question: Question, payload: Mapping[str, Any] | None) -> dict[str, Any]:
    """The answer before, as the form shows it."""
    places = {option.key: place for place, option in enumerate(question.options, start=1)}
    held = payload or {}
    return {
        "first": places.get(held.get("first", ""), 0),
        "second": places.get(held.get("second", ""), 0),
        "equal": bool(held.get("equal")),
        "value": held.get("value", 0),
    }

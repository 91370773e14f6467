"""How does a part begin and end? What will be asked, the result in plain words, and another go where it was not enough."""

from __future__ import annotations

import math

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evenhand.people.questions import TRIAL, plan_questions
from evenhand.study.site import Site, go
from evenhand.study.steps import finish, next_step, offer
from evenhand.study.tables import PASSED


class Parts:
    """Trial and batches."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def ready(self, request: Request) -> Response:
        """What is asked in the part that comes next?"""
        site, session = self._site, self._site.session(request)
        if (step := next_step(site, session.annotator)) != "/start" or (
            next_one := offer(site.parts, site.store.parts(session.annotator))
        ) is None:
            return go(step)
        words, part = site.words(request), next_one.part
        questions = plan_questions(
            site.study, site.suite, session.annotator, part, next_one.attempt
        )
        opening = f"start_{'trial' if part == TRIAL else 'batch'}{'_again' if next_one.attempt > 1 else ''}"
        types = [t for t in site.study.types if any(q.type == t for q in questions)]
        return site.draw(
            request,
            "start.html",
            nonce=session.nonce,
            part_name=words.part(part),
            opening=opening,
            count=len(questions),
            types=types,
        )

    def begin(self, request: Request) -> Response:
        """Put the questions; sent twice, it begins once."""
        site, session = self._site, self._site.session(request)
        site.form(request, session.nonce)
        if (step := next_step(site, session.annotator)) != "/start" or (
            next_one := offer(site.parts, site.store.parts(session.annotator))
        ) is None:
            return go(step)
        questions = plan_questions(
            site.study, site.suite, session.annotator, next_one.part, next_one.attempt
        )
        site.store.begin_part(session.annotator, next_one.part, next_one.attempt, questions)
        return go("/question")

    def finish(self, request: Request) -> Response:
        """All is answered: close the part."""
        site, session = self._site, self._site.session(request)
        site.form(request, session.nonce)
        part = next((p for p in site.store.parts(session.annotator) if p.is_open), None)
        if part is not None:
            if site.store.next_question(session.annotator) is not None:
                return go("/question")
            finish(site, session.annotator, part)
        return go("/result")

    def result(self, request: Request) -> Response:
        """How did the part go that was finished last?"""
        site, session = self._site, self._site.session(request)
        finished = [p for p in site.store.parts(session.annotator) if p.finished is not None]
        if not finished:
            return go("/next")
        part, study, words = (
            max(finished, key=lambda p: str(p.finished)),
            site.study,
            site.words(request),
        )
        shares = [("result_accuracy", part.accuracy, study.least_accuracy)]
        if part.part != TRIAL:
            shares.append(("result_consistency", part.consistency, study.least_consistency))
        shown = [
            {
                "word": word,
                "got": math.floor(100 * got + 1e-9),
                "need": round(100 * need),
                "is_enough": got >= need,
            }
            for word, got, need in shares
            if got is not None
        ]
        is_passed = part.state == PASSED
        closing = (
            "result_failed_text"
            if not is_passed
            else "result_passed_trial"
            if part.part == TRIAL
            else "result_passed_batch"
        )
        return site.draw(
            request,
            "result.html",
            part_name=words.part(part.part),
            is_passed=is_passed,
            shares=shown,
            closing=closing,
        )

    def done(self, request: Request) -> Response:
        """Nothing is left to ask."""
        site, session = self._site, self._site.session(request)
        if (step := next_step(site, session.annotator)) != "/done":
            return go(step)
        words = site.words(request)
        return site.message(request, words("done_heading"), words("done_text"))

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/start", self.ready, methods=["GET"]),
            Route("/start", self.begin, methods=["POST"]),
            Route("/finish", self.finish, methods=["POST"]),
            Route("/result", self.result, methods=["GET"]),
            Route("/done", self.done, methods=["GET"]),
        ]

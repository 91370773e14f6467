"""Pages of an annotator: consent, inventories, the start and end of parts, questions.

An answer is stored, durably, before the next question is drawn. The form of a question carries a
signed note of what was shown to whom and when: it gives the time spent on the question, and a key
by which the same form is stored once however often it is sent. Words are sent by their position, so
that no page reveals what they stand for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evenhand.people.inventories import Inventory, Item
from evenhand.people.plan import TRIAL, TYPE1, TYPE2
from evenhand.people.questions import GAP, Question
from evenhand.people.scoring import AnswerError, coarse, fine, parse_answer, reached_percent
from evenhand.study.objective import VERDICT, Piece, pieces_of, questions_for, read_verdict
from evenhand.study.registry import INVITED
from evenhand.study.security import PageError, address_of, check_rate
from evenhand.study.site import SESSION, Message, Site, go, new_nonce
from evenhand.study.steps import CONSENTED, READY, Offer, finish, next_step, offer
from evenhand.study.tables import PASSED, Asked, GivenAnswer
from evenhand.study.tokens import Session, Shown, TokenError

BREAK = 50  # questions, after which a break is suggested
FIELDS = frozenset({"shown", "first", "second", "equal", "value", "reason"})
LONGEST_REASON = 1000  # characters
NEEDS = {TYPE1: "need_two", VERDICT: "need_verdict"}  # what is asked for where it is missing
WIDE = {"zh": 1, "ja": 1}  # characters that are as wide as one ideograph; 2 elsewhere


class ConsentPages:
    """Coming in by the invitation link, consent, pause and leaving."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def enter(self, request: Request) -> Response:
        """The invitation link: opens a session on this device, as often as need be."""
        site = self._site
        check_rate(site.addresses, address_of(request))
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
        """What this is about, and the question for consent."""
        site, session = self._site, self._site.session(request)
        words = site.words(request)
        text = site.study.consent.get(words.language) or words("consent_default")
        values = {
            "paragraphs": [line.strip() for line in text.splitlines() if line.strip()],
            "pay": site.study.pay.get(words.language, ""),
        }
        return site.draw(request, "consent.html", values, nonce=session.nonce)

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
            part = words.part(asked.part)
            left = words("pause_left", part=part, done=asked.place, total=asked.size)
            lines.insert(0, left)
        message = Message(
            heading=words("pause_heading"),
            lines=tuple(lines),
            link="/next",
            link_text=words("pause_go"),
            leave=words("pause_leave"),
        )
        return site.message(request, message, nonce=session.nonce)

    def leave(self, request: Request) -> Response:
        """The session on this device ends."""
        site, session = self._site, self._site.session(request)
        site.form(request, session.nonce)
        words = site.words(request)
        message = Message(heading=words("left_heading"), lines=(words("left_text"),))
        response = site.message(request, message, here="/")
        is_secure = request.url.scheme == "https"
        response.delete_cookie(SESSION, httponly=True, samesite="lax", secure=is_secure)
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


class InventoryPages:
    """The statements of all inventories of the study, one per page, rated by number.

    Whoever prefers not to say goes on without an answer.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._items: list[tuple[Inventory, Item]] = [
            (inventory, item) for inventory in site.study.inventories for item in inventory.items
        ]

    def ask(self, request: Request) -> Response:
        """The first statement without an answer, or the one after one that was left out (?at=)."""
        site, session = self._site, self._site.session(request)
        if site.store.annotator(session.annotator).state != CONSENTED:
            return go("/next")
        place = _number(request.query_params.get("at", ""), digits=5)
        if place is None or place >= len(self._items):
            place = self._first_open(session)
        if place == len(self._items):
            return self._end(session)
        return self._draw(request, session, place)

    def answer(self, request: Request) -> Response:
        """A statement was rated, or left out."""
        site, session = self._site, self._site.session(request)
        fields = site.form(request, session.nonce, frozenset({"shown", "value", "skip"}))
        place, key = self._read(fields.get("shown", ""), session)
        if site.store.annotator(session.annotator).state != CONSENTED:
            # sent twice, or from a page that was left open: the inventories are done
            return go("/next")
        inventory, item = self._items[place]
        if fields.get("skip") != "1":
            text = fields.get("value", "")
            value = _number(text)
            if value is None or not inventory.low <= value <= inventory.high:
                site.store.log("bad answer", session.annotator, f"inventory value {text[:40]!r}")
                problem = site.words(request)("need_number")
                return self._draw(request, session, place, status=422, problem=problem)
            site.store.answer_inventory(session.annotator, inventory.name, {item.id: value}, key)
        if place + 1 == len(self._items):
            return self._end(session)
        return go(f"/inventory?at={place + 1}")

    def _end(self, session: Session) -> Response:
        if self._site.store.annotator(session.annotator).state == CONSENTED:
            self._site.store.set_state(session.annotator, READY)
        return go("/next")

    def _read(self, token: str, session: Session) -> tuple[int, str]:
        """The place of the item that a form showed, and the form's key."""
        try:
            shown = self._site.tokens.read_question(token, session.annotator)
        except TokenError as error:
            raise PageError(403, "bad_form", f"inventory form: {error}") from error
        places = {_item_name(*both): place for place, both in enumerate(self._items)}
        # the form of a question, or of an item that the study no longer has
        if shown.question not in places:
            raise PageError(403, "bad_form", "the form shows no item of an inventory")
        return places[shown.question], shown.key

    def _first_open(self, session: Session) -> int:
        store = self._site.store
        answered = {
            i.name: store.inventory_answers(session.annotator, i.name)
            for i in self._site.study.inventories
        }
        for place, (inventory, item) in enumerate(self._items):
            if item.id not in answered[inventory.name]:
                return place
        return len(self._items)

    def _draw(
        self, request: Request, session: Session, place: int, status: int = 200, problem: str = ""
    ) -> Response:
        site, words = self._site, self._site.words(request)
        inventory, item = self._items[place]
        shown = Shown(question=_item_name(inventory, item), at=time.time(), key=new_nonce())
        values = {
            "shown": site.tokens.show_question(session.annotator, shown),
            "text": item.text[words.language],
            "low": inventory.low,
            "high": inventory.high,
            "ends": {
                inventory.low: words("inventory_low"),
                inventory.high: words("inventory_high"),
            },
            "done": place,
            "total": len(self._items),
            "problem": problem,
        }
        return site.draw(request, "inventory.html", values, status=status, nonce=session.nonce)

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/inventory", self.ask, methods=["GET"]),
            Route("/inventory", self.answer, methods=["POST"]),
        ]


def _item_name(inventory: Inventory, item: Item) -> str:
    """What a form says that it showed.

    The item and not its place, as the owner may add others between two starts of the server.
    """
    return f"inventory/{inventory.name}/{item.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Share:
    """A line of a result: what was reached, in percent, and what was needed."""

    word: str
    got: int
    need: int
    is_enough: bool


class PartPages:
    """Trial and batches: what will be asked, the result, another attempt where it was too low."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def _offer(self, session: Session) -> tuple[Offer | None, str]:
        """The part that may begin now, or None, and the path of the page that comes next."""
        site = self._site
        step = next_step(site, session.annotator)
        if step != "/start":
            return None, step
        return offer(site.parts, site.store.parts(session.annotator)), step

    def ready(self, request: Request) -> Response:
        """What is asked in the part that comes next."""
        site, session = self._site, self._site.session(request)
        offered, step = self._offer(session)
        if offered is None:
            return go(step)
        part, attempt = offered
        questions = questions_for(site.study, site.suite, session.annotator, part, attempt)
        again = "_again" if attempt > 1 else ""
        values = {
            "part_name": site.words(request).part(part),
            "opening": f"start_{'trial' if part == TRIAL else 'batch'}{again}",
            "count": len(questions),
            "types": [t for t in site.study.types if any(q.type == t for q in questions)],
            "is_rating": site.study.types == (VERDICT,),
        }
        return site.draw(request, "start.html", values, nonce=session.nonce)

    def begin(self, request: Request) -> Response:
        """Begin the part; a form that is sent twice begins it once."""
        site, session = self._site, self._site.session(request)
        site.form(request, session.nonce)
        offered, step = self._offer(session)
        if offered is None:
            return go(step)
        part, attempt = offered
        questions = questions_for(site.study, site.suite, session.annotator, part, attempt)
        site.store.begin_part(session.annotator, part, attempt, questions)
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
        """How the part went that was finished last."""
        site, session = self._site, self._site.session(request)
        finished = [p for p in site.store.parts(session.annotator) if p.finished is not None]
        if not finished:
            return go("/next")
        part, study = max(finished, key=lambda p: str(p.finished)), site.study
        is_trial, is_passed = part.part == TRIAL, part.state == PASSED
        shares = [("result_accuracy", part.accuracy, study.least_accuracy)]
        if not is_trial:
            shares.append(("result_consistency", part.consistency, study.least_consistency))
        closing = "result_failed_text"
        if is_passed:
            closing = "result_passed_trial" if is_trial else "result_passed_batch"
        values = {
            "part_name": site.words(request).part(part.part),
            "is_passed": is_passed,
            "shares": [
                _Share(
                    word=word,
                    got=reached_percent(got),
                    need=reached_percent(need),
                    is_enough=got >= need,
                )
                for word, got, need in shares
                if got is not None
            ],
            "closing": closing,
        }
        return site.draw(request, "result.html", values)

    def done(self, request: Request) -> Response:
        """Nothing is left to ask."""
        site, session = self._site, self._site.session(request)
        if (step := next_step(site, session.annotator)) != "/done":
            return go(step)
        words = site.words(request)
        message = Message(heading=words("done_heading"), lines=(words("done_text"),))
        return site.message(request, message)

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/start", self.ready, methods=["GET"]),
            Route("/start", self.begin, methods=["POST"]),
            Route("/finish", self.finish, methods=["POST"]),
            Route("/result", self.result, methods=["GET"]),
            Route("/done", self.done, methods=["GET"]),
        ]


class QuestionPages:
    """Showing a question, answering it, going back."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def show(self, request: Request) -> Response:
        """The first question without an answer."""
        site, session = self._site, self._site.session(request)
        if (asked := site.store.next_question(session.annotator)) is not None:
            return self._draw(request, session, asked)
        if not any(p.is_open for p in site.store.parts(session.annotator)):
            return go("/next")
        heading = site.words(request)("finish_heading")
        return site.draw(request, "finish.html", {"heading": heading}, nonce=session.nonce)

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
        question = asked.question
        reason = read_reason(fields.pop("reason", "")) if site.study.reasons else ""
        try:
            payload, lean, sign = read_answer(question, fields)
        except AnswerError as error:
            site.store.log("bad answer", session.annotator, str(error))
            word = NEEDS.get(question.type, "need_value")
            kept = replace(asked, reason=reason)
            return self._draw(request, session, kept, shown.at, site.words(request)(word))
        answer = GivenAnswer(
            payload=payload,
            fine=lean,
            coarse=sign,
            seconds=max(0.0, time.time() - shown.at),
            key=shown.key,
            reason=reason,
        )
        site.store.give_answer(session.annotator, shown.question, answer)
        done = asked.place + 1
        is_break = asked.payload is None and done % BREAK == 0 and done < asked.size
        return go("/break" if is_break else "/question")

    def rest(self, request: Request) -> Response:
        """A break is suggested."""
        site, session = self._site, self._site.session(request)
        if (asked := site.store.next_question(session.annotator)) is None:
            return go("/next")
        words = site.words(request)
        message = Message(
            heading=words("break_heading"),
            lines=(words("break_text", done=asked.place, total=asked.size),),
            link="/question",
            link_text=words("break_go"),
        )
        return site.message(request, message)

    def _draw(
        self,
        request: Request,
        session: Session,
        asked: Asked,
        at: float | None = None,
        problem: str = "",
    ) -> Response:
        """at: when it was shown first; after a mistake the time goes on."""
        site, question = self._site, asked.question
        shown = Shown(question=question.id, at=at or time.time(), key=new_nonce())
        before, word, after = split_sentence(question)
        is_changing = asked.payload is not None
        language = site.suite.card.language
        values = {
            "here": "/previous" if is_changing else "/question",
            "type": question.type,
            "need": NEEDS.get(question.type, "need_value"),
            "pieces": self._pieces(question),
            "before": before,
            "word": word,
            "after": after,
            "has_reasons": site.study.reasons,
            "reason": asked.reason,
            "longest_reason": LONGEST_REASON,
            "options": [option.text for option in question.options],
            "keys": [option.key for option in question.options],
            "given": given_places(question, asked.payload),
            "problem": problem,
            "sentence_language": language,
            "wide": WIDE.get(language, 2),
            "is_changing": is_changing,
            "has_previous": asked.place > 0,
            "done": asked.place,
            "total": asked.size,
            "part_name": site.words(request).part(asked.part),
            "shown": site.tokens.show_question(session.annotator, shown),
        }
        status = 422 if problem else 200
        return site.draw(request, "question.html", values, status=status, nonce=session.nonce)

    def _pieces(self, question: Question) -> list[Piece]:
        """The sentence of a verdict with its gap and cues; nothing for other questions."""
        return pieces_of(self._site.probes[question.probe]) if question.type == VERDICT else []

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/question", self.show, methods=["GET"]),
            Route("/question", self.answer, methods=["POST"]),
            Route("/previous", self.show_previous, methods=["GET"]),
            Route("/break", self.rest, methods=["GET"]),
        ]


def read_answer(
    question: Question, fields: Mapping[str, str]
) -> tuple[Mapping[str, Any], float, float]:
    """What a form answers, its fine and its coarse score; AnswerError where it is no answer."""
    if question.type == VERDICT:
        return read_verdict(question, fields)
    payload = read_payload(question, fields)
    choice = parse_answer(question, payload)
    return payload, fine(question, choice), coarse(question, choice)


def split_sentence(question: Question) -> tuple[str, str, str]:
    """What stands before the gap or the swapped word, the word ("" for a gap), what follows."""
    start, end = question.span
    if question.type == TYPE1 and question.shown[start:end] != GAP:
        start = question.shown.index(GAP)
        end = start + len(GAP)
    word = question.shown[start:end] if question.type == TYPE2 else ""
    return question.shown[:start], word, question.shown[end:]


def read_reason(text: str) -> str:
    """What somebody wrote, without what no database takes, and at most LONGEST_REASON long."""
    lines = text.replace("\r\n", "\n").replace("\0", "").strip()
    return lines[:LONGEST_REASON].encode("utf-8", "replace").decode("utf-8")


def read_payload(question: Question, fields: Mapping[str, str]) -> dict[str, Any]:
    """The answer that a form's fields give: words by their place become words by their key.

    Nonsense is left to `parse_answer`, which refuses it.
    """
    if question.type != TYPE1:
        return {
            name: text if name != "value" or (value := _number(text)) is None else value
            for name, text in fields.items()
        }
    keys = {str(place): option.key for place, option in enumerate(question.options, start=1)}
    payload: dict[str, Any] = {
        name: keys.get(text, f"place {text}" if text else "")
        for name, text in fields.items()
        if name != "equal"
    }
    equal = fields.get("equal", "")
    payload["equal"] = {"": False, "1": True}.get(equal, equal)
    return payload


def _number(text: str, digits: int = 3) -> int | None:
    """The whole number in a text of at most `digits` digits; None for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= digits
    return int(text) if is_number else None


def given_places(question: Question, payload: Mapping[str, Any] | None) -> dict[str, Any]:
    """The answer before, as the form shows it."""
    places = {option.key: place for place, option in enumerate(question.options, start=1)}
    given = payload or {}
    return {
        "first": places.get(given.get("first", ""), 0),
        "second": places.get(given.get("second", ""), 0),
        "equal": bool(given.get("equal")),
        "value": given.get("value", 0),
    }

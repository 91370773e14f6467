"""How are the statements of an inventory shown? One a page, rated by number; whoever prefers not to say goes on without an answer."""

from __future__ import annotations

import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from evenhand.people.inventories import Inventory, Item
from evenhand.study.security import PageError
from evenhand.study.site import Site, go, new_nonce
from evenhand.study.steps import CONSENTED, READY
from evenhand.study.tokens import Session, Shown, TokenError


class Inventories:
    """The statements of all inventories of the study, in a row."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._items: list[tuple[Inventory, Item]] = [
            (inventory, item) for inventory in site.study.inventories for item in inventory.items
        ]

    def ask(self, request: Request) -> Response:
        """The next statement: the first without an answer, or the one after a statement that was left out (?at=)."""
        site, session = self._site, self._site.session(request)
        if site.store.annotator(session.annotator).state != CONSENTED:
            return go("/next")
        told = request.query_params.get("at", "")
        is_place = (
            told.isascii() and told.isdigit() and len(told) < 6 and int(told) < len(self._items)
        )
        place = int(told) if is_place else self._first_open(session)
        if place == len(self._items):
            return self._end(session)
        return self._draw(request, session, place)

    def answer(self, request: Request) -> Response:
        """A statement was rated, or left out."""
        site, session = self._site, self._site.session(request)
        fields = site.form(request, session.nonce, frozenset({"shown", "value", "skip"}))
        place, key = self._read(fields.get("shown", ""), session)
        if site.store.annotator(session.annotator).state != CONSENTED:
            return go(
                "/next"
            )  # sent twice, or from a page that was left open: the inventories are behind
        inventory, item = self._items[place]
        if fields.get("skip") != "1":
            value = fields.get("value", "")
            if not (
                value.isascii()
                and value.isdigit()
                and len(value) < 4
                and inventory.low <= int(value) <= inventory.high
            ):
                site.store.log("bad answer", session.annotator, f"inventory value {value[:40]!r}")
                return self._draw(
                    request, session, place, status=422, problem=site.words(request)("need_number")
                )
            site.store.answer_inventory(
                session.annotator, inventory.name, {item.id: int(value)}, key
            )
        if place + 1 == len(self._items):
            return self._end(session)
        return go(f"/inventory?at={place + 1}")

    def _end(self, session: Session) -> Response:
        if self._site.store.annotator(session.annotator).state == CONSENTED:
            self._site.store.set_state(session.annotator, READY)
        return go("/next")

    def _read(self, token: str, session: Session) -> tuple[int, str]:
        try:
            shown = self._site.tokens.read_question(token, session.annotator)
        except TokenError as error:
            raise PageError(403, "bad_form", f"inventory form: {error}") from error
        places = {
            _note(inventory, item): place for place, (inventory, item) in enumerate(self._items)
        }
        if (
            shown.question not in places
        ):  # the form of a question, or of an item that the study no longer has
            raise PageError(403, "bad_form", "the form shows no item of an inventory")
        return places[shown.question], shown.key

    def _first_open(self, session: Session) -> int:
        held = {
            i.name: self._site.store.inventory_answers(session.annotator, i.name)
            for i in self._site.study.inventories
        }
        return next(
            (
                n
                for n, (inventory, item) in enumerate(self._items)
                if item.id not in held[inventory.name]
            ),
            len(self._items),
        )

    def _draw(
        self, request: Request, session: Session, place: int, status: int = 200, problem: str = ""
    ) -> Response:
        site, words = self._site, self._site.words(request)
        inventory, item = self._items[place]
        shown = site.tokens.show_question(
            session.annotator,
            Shown(question=_note(inventory, item), at=time.time(), key=new_nonce()),
        )
        ends = {inventory.low: words("inventory_low"), inventory.high: words("inventory_high")}
        return site.draw(
            request,
            "inventory.html",
            status=status,
            nonce=session.nonce,
            shown=shown,
            text=item.text[words.language],
            low=inventory.low,
            high=inventory.high,
            ends=ends,
            done=place,
            total=len(self._items),
            problem=problem,
        )

    def routes(self) -> list[Route]:
        """The addresses of these pages."""
        return [
            Route("/inventory", self.ask, methods=["GET"]),
            Route("/inventory", self.answer, methods=["POST"]),
        ]


def _note(inventory: Inventory, item: Item) -> str:
    """What a form says that it showed: the item and not its place, as the owner may add others between two starts of the server."""
    return f"inventory/{inventory.name}/{item.id}"

"""A visitor of a study in tests: fills in forms as a browser without scripts would."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from evenhand.core.suite import Suite
from evenhand.people.plan import TYPE1, gold_genders
from evenhand.study.app import make_app
from evenhand.study.limits import Limits, Rate
from evenhand.study.serving import open_store, secret_of
from evenhand.study.store import Store
from evenhand.study.study import Study, open_study
from evenhand.study.tables import Asked
from evenhand.study.tokens import Tokens

Page = Any  # a response of httpx or httpx2, whichever starlette finds
ROOMY = Limits(session=Rate(burst=10_000, per_second=1), address=Rate(burst=10_000, per_second=1))
PASSWORD = "a long enough password"
ITEMS = (
    "id,zh,en,ja\n"
    "1,我喜欢早晨。,I like mornings.,朝が好きだ。\n"
    "2,我常改变主意。,I change my mind.,気が変わる。\n"
)
STUDY = """
name = "small"
languages = ["en", "zh", "ja"]
suite = "contextualised"
suite_language = "en"
trial = 6
batch = 8
batches = 1
accuracy_controls = 0.2
consistency_controls = 0.15
apart = 1
"""
INVENTORY = '[[inventory]]\nname = "mornings"\nfile = "items.csv"\nlow = 0\nhigh = 5\n'


@dataclass
class Place:
    """A study and its application, without a server."""

    study: Study
    suite: Suite
    store: Store
    limits: Limits = ROOMY

    @property
    def tokens(self) -> Tokens:
        return Tokens(secret_of(self.study))

    def client(self, base: str = "http://testserver") -> TestClient:
        """A browser of its own."""
        return TestClient(
            make_app(self.study, self.store, self.suite, secret_of(self.study), limits=self.limits),
            base_url=base,
        )

    def invite(self) -> tuple[str, str]:
        """A new annotator and the path of the link."""
        person = self.store.add_annotator()
        return person, f"/i/{self.tokens.invite(self.store.invite(person, 30))}"

    def person(self) -> tuple[str, TestClient, Page]:
        """An annotator who stands before the first question of the trial."""
        name, link = self.invite()
        client = self.client()
        page = client.get(link)
        page = send(client, page, "/consent", agree="1")
        return name, client, send(client, page, "/start")


def open_place(
    folder: Path, *, has_inventory: bool = False, suite: str = "", limits: Limits = ROOMY
) -> Place:
    """A small study in a folder."""
    (folder / "items.csv").write_text(ITEMS, encoding="utf-8")
    text = STUDY + (INVENTORY if has_inventory else "")
    (folder / "small.toml").write_text(
        text.replace('"contextualised"', f'"{suite}"') if suite else text, encoding="utf-8"
    )
    study, sentences = open_study(folder / "small.toml")
    return Place(study, sentences, open_store(study, sentences), limits)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A small study that is closed at the end."""
    result = open_place(tmp_path)
    yield result
    result.store.close()


def kinds(place: Place) -> list[str]:
    """What the log holds, oldest first."""
    return [event.kind for event in place.store.events()][::-1]


def hidden(page: Page, name: str) -> str:
    """A hidden field of a page's form."""
    result = re.search(rf'name="{name}" value="([^"]*)"', page.text)
    assert result, f"no field {name} in {page.text}"
    return html.unescape(result[1])


def send(client: TestClient, page: Page, path: str, **fields: Any) -> Page:
    """Send a page's form, following the redirect."""
    return client.post(
        path, data={"csrf": hidden(page, "csrf"), **{k: str(v) for k, v in fields.items()}}
    )


def answer(client: TestClient, page: Page, **fields: Any) -> Page:
    """Answer the question on a page; by default with the first two words or a 4."""
    given = fields or (
        {"first": 1, "second": 2} if 'data-type="type1"' in page.text else {"value": 4}
    )
    return send(client, page, "/question", shown=hidden(page, "shown"), **given)


def page_text(page: Page) -> str:
    """What a page says, without its tags."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page.text)))


def right(place: Place, asked: Asked, is_wrong: bool = False) -> dict[str, Any]:
    """The answer that passes (or fails) a control question, and leans neither way elsewhere."""
    question, wanted = asked.question, gold_genders(place.suite).get(asked.question.probe, "")
    if wanted and is_wrong:
        wanted = "male" if wanted == "female" else "female"
    if question.type == TYPE1:
        places = {option.key: at for at, option in enumerate(question.options, start=1)}
        pair = (wanted, "neutral") if wanted else ("male", "female")
        return {"first": places[pair[0]], "second": places[pair[1]]} | (
            {} if wanted else {"equal": 1}
        )
    return {"value": 3 if not wanted else 5 if question.gender == wanted else 1}


def do_part(
    place: Place, name: str, client: TestClient, page: Page, is_wrong: bool = False
) -> Page:
    """Answer all questions of a part and finish it."""
    while (asked := place.store.next_question(name)) is not None:
        page = answer(client, page, **right(place, asked, is_wrong))
    return send(client, page, "/finish")

"""Names are kept apart from words at the start of a sentence, months, towns, uncapitalised text."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from evenhand.core.errors import EvenhandError, LoadError
from evenhand.languages import names
from evenhand.languages.names import (
    ListedNames,
    SpacyNames,
    TaggedNames,
    find_names,
    find_people,
)


@pytest.fixture(scope="module")
def listed() -> ListedNames:
    pytest.importorskip("faker")
    return ListedNames()


@pytest.mark.parametrize(
    "text",
    [
        "The nurse spoke to William.",
        "Julius turned to the lawyer.",
        "They saw Mark at work.",  # a word too, but a capital inside a sentence decides
        "A nurse named Rose smiles.",
        "The clerk wrote to Bill and Grace.",
        "Charlie Brown stands out.",
        "Frank Latenberg was a teacher.",  # a word at the start, but a surname follows
        "The editor published the study to help Clinton.",
        "Nobody left. Susan stayed.",  # the second sentence starts with a name
        "john is a baker",
        "the california mechanics association has a member named lucifer",
        "JOHN IS A BAKER",
        "I saw May at the office.",
    ],
)
def test_names_are_found(listed: ListedNames, text: str) -> None:
    assert listed.has_name(text)


@pytest.mark.parametrize(
    "text",
    [
        *[
            f"{word} it not affect the farmers"
            for word in ("Will", "Mark", "Grace", "Rose", "Baker", "May", "Art", "Bill")
        ],
        "Will the cook mark the bill in may",
        "the cook may bill the clerk and grace the art of the rose",
        "THE NURSE LEFT IN MAY",
        "The clerk works in May.",
        "The clerk was born on June 3.",
        "An Asian driver waits in Paris.",
        "The New York office is closed.",
        "A carpenter from San Francisco sings.",
        "The French cook sleeps.",
        "A cook is giving a speech.",
        "No More Teachers, No More Books",
        "Construction workers picketing against PM Services.",
        "I am a nurse.",
    ],
)
def test_words_are_not_names(listed: ListedNames, text: str) -> None:
    assert not listed.has_name(text)


def test_the_card_says_which_lists(listed: ListedNames) -> None:
    kind, _, version = listed.name.partition(":")
    assert kind == "faker" and version[0].isdigit()
    assert find_names("faker").name == listed.name


def hide(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in packages else real(name)
    )


def test_without_any_finder_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "spacy", "faker")
    with pytest.raises(EvenhandError, match=r"evenhand\[names\]"):
        find_names(None)
    with pytest.raises(EvenhandError, match=r"evenhand\[names\]"):
        find_names("faker")


def test_spacy_is_not_taken_without_a_model(
    monkeypatch: pytest.MonkeyPatch, listed: ListedNames
) -> None:
    fake_spacy(monkeypatch, models=())
    assert find_names(None).name == listed.name
    with pytest.raises(EvenhandError, match="spacy download en_core_web_sm"):
        find_names("spacy")


def test_spacy_asked_for_but_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "spacy")
    with pytest.raises(EvenhandError, match="pip install spacy"):
        find_names("spacy:en_core_web_sm")


def fake_spacy(monkeypatch: pytest.MonkeyPatch, models: tuple[str, ...]) -> None:
    def load(model: str) -> Callable[[str], Any]:
        if model not in models:
            raise OSError(f"[E050] Can't find model '{model}'.")
        return lambda text: SimpleNamespace(
            ents=[
                SimpleNamespace(
                    label_="PERSON" if w == "Zo" else "ORG",
                    start_char=text.index(w),
                    end_char=text.index(w) + len(w),
                )
                for w in text.split()
                if w.istitle()
            ]
        )

    module = ModuleType("spacy")
    module.load = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spacy", module)
    real = importlib.util.find_spec

    def find(name: str) -> object:
        if name == "spacy" or name in names.SPACY_MODELS:
            return name if name == "spacy" or name in models else None
        return real(name)

    monkeypatch.setattr(importlib.util, "find_spec", find)


def test_spacy_is_preferred_where_it_has_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_spacy(monkeypatch, models=("en_core_web_sm", "en_core_web_lg"))
    finder = find_names(None)
    assert (
        isinstance(finder, SpacyNames) and finder.name == "spacy:en_core_web_lg"
    )  # the larger one
    assert finder.has_name("a cook named Zo")
    assert finder.find("a cook named Zo") == [(13, 15)]
    assert not finder.has_name("a cook of Acme")
    assert find_names("spacy:en_core_web_sm").name == "spacy:en_core_web_sm"
    with pytest.raises(LoadError, match="python -m spacy download en_core_web_xx"):
        find_names("spacy:en_core_web_xx")


def test_a_token_classifier_by_its_tags() -> None:
    def tag(text: str) -> list[dict[str, Any]]:
        return [
            {"entity_group": {"Zo": "PER", "Acme": "ORG"}.get(word, "MISC")}
            for word in text.split()
            if word.istitle()
        ]

    finder = TaggedNames("some/tagger", tag)
    assert finder.name == "transformers:some/tagger"
    assert finder.has_name("a cook named Zo") and not finder.has_name("a cook of Acme")
    spans = [{"entity": "B-PER", "start": 2, "end": 5}, {"entity": "B-LOC", "start": 9, "end": 12}]
    assert TaggedNames("t", lambda _: spans).find("x") == [(2, 5)]
    assert not TaggedNames("t", lambda _: [{"entity": "O"}]).has_name("x")


def test_a_token_classifier_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)  # import raises ImportError
    with pytest.raises(
        LoadError, match=r"'some/tagger' needs torch and transformers: pip install 'evenhand\[hf\]'"
    ):
        find_names("transformers:some/tagger")


def test_a_token_classifier_is_loaded_offline_when_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, Any] = {}

    def pipeline(task: str, **options: Any) -> Callable[[str], list[dict[str, Any]]]:
        asked.update(options, task=task)
        if options["model"] == "broken":
            raise ValueError("no such model\nlong trace")
        return lambda _: [{"entity_group": "PER"}]

    module = ModuleType("transformers")
    module.pipeline = pipeline  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", module)
    assert find_names("folder/tagger").has_name("x")
    assert asked["task"] == "token-classification" and asked["model"] == "folder/tagger"
    # conftest sets EVENHAND_OFFLINE
    assert asked["model_kwargs"] == {"use_safetensors": True, "local_files_only": True}
    assert asked["trust_remote_code"] is False
    with pytest.raises(
        LoadError, match=r"cannot load the token classifier 'broken': no such model\. Check"
    ):
        find_names("broken")


def found(finder: names.NameFinder, text: str) -> list[str]:
    return [text[start:end] for start, end in finder.find(text)]


def test_listed_names_are_found_with_their_surnames(listed: ListedNames) -> None:
    assert found(listed, "The clerk wrote to Bill Gates and Grace.") == ["Bill Gates", "Grace"]
    assert found(listed, "A cook is giving a speech.") == []


def test_people_of_a_corpus_by_lists_and_capitals() -> None:
    pytest.importorskip("faker")
    people = find_people("en", "lists", [])
    assert people.name.endswith("and capital letters")
    assert found(people, "Then Poirot met Mrs Inglethorp.") == ["Poirot", "Inglethorp"]
    assert found(people, "A man in a Nike shirt walks in Zug. He is from the Tyrol.") == []
    assert found(people, "Then He saw Her.") == []  # gender words that somebody capitalised
    # at the start of a sentence every word has a capital: a large corpus says which are names
    assert found(people, "Drew shook his head.") == []
    texts = ["Then Drew left.", "And Drew drew.", "They shook it."] * names.LARGE
    assert found(find_people("en", "lists", texts), "Drew shook it. Shook!") == ["Drew"]


def test_people_by_what_the_user_names(
    monkeypatch: pytest.MonkeyPatch, listed: ListedNames
) -> None:
    fake_spacy(monkeypatch, models=("en_core_web_sm",))
    assert find_people("en", "auto", []).name == "spacy:en_core_web_sm"
    assert find_people("en", "lists", []).name == f"{listed.name} and capital letters"
    with pytest.raises(EvenhandError, match="name the one for 'ja', such as spacy:ja_core_news_sm"):
        find_people("ja", "spacy", [])
    hide(monkeypatch, "spacy", "faker")
    assert find_people("en", "auto", []).name == "capital letters"
    with pytest.raises(EvenhandError, match="pip install spacy"):
        find_people("en", "spacy", [])


@pytest.mark.parametrize(
    ("language", "package", "text", "name"),
    [
        ("zh", "jieba", "后来王琦瑶说她累了。", "王琦瑶"),
        ("ja", "fugashi", "田中は彼の犬を見た。", "田中"),
    ],
)
def test_people_by_the_tags_of_a_segmenter(
    language: str, package: str, text: str, name: str
) -> None:
    pytest.importorskip(package)
    assert found(find_people(language, "auto", []), text) == [name]


def test_a_pipeline_of_spacy(tmp_path: Any) -> None:
    spacy = pytest.importorskip("spacy", reason="needs spaCy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "PERSON", "pattern": "Hercule Poirot"},
            {"label": "ORG", "pattern": "Acme"},
        ]
    )
    pipeline.to_disk(tmp_path / "pipeline")
    finder = find_people("en", f"spacy:{tmp_path / 'pipeline'}", [])
    assert isinstance(finder, SpacyNames)
    assert found(finder, "Then Hercule Poirot left Acme.") == ["Hercule Poirot"]

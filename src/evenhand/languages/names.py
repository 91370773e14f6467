"""Does a sentence name a person? spaCy's entities, a token classifier, or first names: whichever finder of names is there.

A suite's card says which one was used (`name`), for they do not find the same names.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Protocol

from evenhand.core.errors import EvenhandError, LoadError

SPACY_MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")
_NO_FINDER = "no finder of personal names is installed: pip install 'evenhand[names]' (or install spaCy with an English model)"
_LOCALES = (
    "en_US",
    "en_GB",
    "en_IN",
    "en_IE",
    "en_NZ",
    "es_ES",
    "es_MX",
    "fr_FR",
    "de_DE",
    "it_IT",
    "pt_BR",
)
_LISTS = ("first_names", "first_names_male", "first_names_female", "first_names_nonbinary")
_TOKEN = re.compile(r"[^\W\d_]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTHS = _words("April May June August")
_DATED = _words(
    "in of since until by last next this early late mid during through before after every"
)
_PLACED = _words("in from near at to of across outside")
_PLACES = _words(
    "Austin Berlin Birmingham Boston Brooklyn Carolina Chelsea China Clinton Dallas Denver Florence Georgia Houston India Ireland "
    "Israel Jordan Kent Lafayette Lincoln London Madison Madrid Milan Montana Paris Phoenix Savannah Sydney Troy Verona Vienna "
    "Virginia Washington York"
)
_TOWN = _words("new san santa los las fort port mount")  # New York, San Francisco, Santa Cruz
# Capitalised words that the lists hold as names and texts use for peoples, creeds, brands, compass points and titles.
_NOT_PEOPLE = _words(
    "America American Asia Asian Brazil Christian Danish Delta Doctor Easter English Florida French General German Jewish King Lady Lord "
    "Major Man Marine Master Mercedes Miss Nike North Ocean Pastor Prince Princess Queen Roman Royal Saint Santa Spain Sir South "
    "Texas Us West World"
)
# Names that are English words too. Found by setting the name lists against the lower-case words of large NLI corpora, then completed by hand.
WORDS = _words("""
    abbey ace albino ale amber angel ante april arch archer art ash august aura autumn baker banks barb baron basil bay bear bell berry bill bird
    bishop blaze bliss blossom bob bond boss brad brandy brook brooks bud buddy buck burns bush butler candy carol carter case cash cat chance chanel
    charity chase cherry chip chuck clay cliff clover colt comfort cook cooper coral cord corona courtney crystal daisy dale dawn dean del delta
    destiny diamond dick dolly dom don dot dove drake drew duke dusty early echo eden ember era essence eve even ever faith fanny fawn feline felicity
    fern fisher flint flora ford forest forum foster fox frank gale gay gene genesis genie german ginger glen glory golden grace grant gray green
    grove guy hall ham happy hardy harley harm harmony harsh haven hazel heath heather heaven herb hill holly honest honey hope hunt hunter
    indie iris ivory ivy jack jade jasmine jay jean jersey jet jewel job journey joy june junior justice kale kick king kit kitty lady lake lance
    lane lark laurel lavender law lemon less liberty lily link little long lore lot love loyal lucky mac major male man mar mare marble margarita
    marina marine mark mars marsh martin mason mat mats max maxim may meadow media melody mercedes mercy merit merry meta mike mile miles mini minor
    miracle misty moody moon moss my myrtle nail navy nick noble north nova ocean olive opal orange page paisley pansy park parker pastor pat patience
    patty peace pearl peer penny pepper per phoenix pier pierce piper poet pop poppy porter precious price prince princess promise prudence puck queen
    rain ran ranger raven ray reed reef reign rex rice rich ridge river rob robin rock rocky rod roman romeo rose rosemary rosy rowan royal ruby rusty
    rye sage sail saint sal sally sand sandy santa scarlet scout senior shade shay shepherd sherry sierra silver sky skip slate sol sole sonny spike
    spring star sterling stone storm sue summer sun sunday sunny tad tamari tan tanner tawny te teddy temple terra terry theres tiara tiger till tiny
    true tucker tyler una unique urban us van velvet victor victory vine viola violet wade walker ward warren wave wayne web wells west whit will
    willow wing winter wolf wood worth wren young
    """)
_ALSO = _words(
    "Art Bill Bob May Will Lucifer Jesus Moses Buddha Muhammad Romeo Juliet Hercules Zeus Barack Vladimir Donald Elvis Shakespeare"
)


class NameFinder(Protocol):
    """Whoever can tell whether a sentence names a person."""

    name: str  # for the suite's card

    def has_name(self, text: str) -> bool:
        """Is a person named in it?"""
        ...


class SpacyNames:
    """PERSON entities of a spaCy pipeline."""

    def __init__(self, model: str) -> None:
        spacy = importlib.import_module("spacy")
        try:
            self._pipeline: Callable[[str], Any] = spacy.load(model)
        except Exception as error:  # spaCy raises OSError for a lacking model, ValueError or ImportError for one of another version
            raise LoadError(
                f"spaCy cannot load '{model}': {error}. Install it: python -m spacy download {model}"
            ) from error
        self.name = f"spacy:{model}"

    def has_name(self, text: str) -> bool:
        """Is there an entity of the type PERSON?"""
        return any(entity.label_ in {"PERSON", "PER"} for entity in self._pipeline(text).ents)


class TaggedNames:
    """Entities of a transformers token classifier, from a folder or from the hub."""

    def __init__(
        self, model: str, tag: Callable[[str], Iterable[dict[str, Any]]] | None = None
    ) -> None:
        self._tag = tag or _load_tagger(model)
        self.name = f"transformers:{model}"

    def has_name(self, text: str) -> bool:
        """Is there an entity of the type PER or PERSON?"""
        groups = (
            str(entity.get("entity_group", entity.get("entity", ""))) for entity in self._tag(text)
        )
        return any(
            group.upper().removeprefix("B-").removeprefix("I-") in {"PER", "PERSON"}
            for group in groups
        )


class ListedNames:
    """First names (and, inside a sentence, surnames) of the lists that the library faker keeps.

    A capital decides inside a sentence. At its start every word has one, so a name that is also a word (Will, Mark, Grace) does not count there.
    Text without case, all lower, all upper or every word capitalised, is held against the names that are no English words.
    """

    def __init__(self) -> None:
        self._first, self._rare, self._last, self._words = _listed()
        self.name = f"faker:{importlib.import_module('faker').VERSION}"

    def has_name(self, text: str) -> bool:
        """Is there a token that the lists hold as a name, used as one?"""
        tokens = [(m.group(), m.start()) for m in _TOKEN.finditer(text)]
        inner = [t for t, _ in tokens[1:] if t != "I"]
        if text.islower() or text.isupper() or (inner and all(t[0].isupper() for t in inner)):
            return any(
                t.capitalize() in self._first and t.lower() not in self._words for t, _ in tokens
            )
        for place, (token, start) in enumerate(tokens):
            if not token[0].isupper() or (token.isupper() and len(token) > 1):
                continue
            before = tokens[place - 1][0] if place else ""
            if not place or re.search(r"[.!?\"“:][\s\"'“”]*$", text[:start]):
                has_surname = re.match(
                    r" [A-Z][a-z]", text[start + len(token) :]
                )  # Frank Miller, but not Frank talk
                if token in self._first and (has_surname or token.lower() not in self._words):
                    return True
            elif self._is_inner(token, before.lower(), text[start + len(token) :]):
                return True
        return False

    def _is_inner(self, token: str, before: str, after: str) -> bool:
        if token in _NOT_PEOPLE or before in _TOWN or (token in _PLACES and before in _PLACED):
            return False
        if token in _MONTHS and (before in _DATED or re.match(r",? \d", after)):
            return False
        return (
            token in self._first
            or token in self._rare
            or (token in self._last and token.lower() not in self._words)
        )


def find_names(preferred: str | None = None) -> NameFinder:
    """Which finder is there? `spacy`, `spacy:MODEL`, `faker`, or a token classifier's folder or hub name; else the best that is installed."""
    kind, _, model = (preferred or "").partition(":")
    if kind == "spacy" or (preferred is None and _has("spacy")):
        if not _has("spacy"):
            raise EvenhandError(
                "spaCy is not installed: pip install spacy && python -m spacy download en_core_web_sm"
            )
        chosen = model or next((m for m in SPACY_MODELS if _has(m)), "")
        if chosen:
            return SpacyNames(chosen)
        if preferred:
            raise EvenhandError(
                "spaCy is installed, but none of its English models: python -m spacy download en_core_web_sm"
            )
    if preferred is None or preferred == "faker":
        if not _has("faker"):
            raise EvenhandError(_NO_FINDER)
        return ListedNames()
    return TaggedNames(preferred.removeprefix("transformers:"))


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _load_tagger(model: str) -> Callable[[str], Iterable[dict[str, Any]]]:
    try:
        from transformers import pipeline
    except ImportError as error:
        raise LoadError(
            f"the name finder '{model}' needs torch and transformers: pip install 'evenhand[hf]'"
        ) from error
    stays = {"local_files_only": True} if os.environ.get("EVENHAND_OFFLINE") == "1" else {}
    try:
        tagger: Callable[[str], Iterable[dict[str, Any]]] = pipeline(
            "token-classification", model=model, aggregation_strategy="simple", model_kwargs=stays
        )
    except (
        Exception
    ) as error:  # the hub client, the tokenisers and torch each have their own exceptions
        reason = (
            str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
        )
        raise LoadError(
            f"cannot load the token classifier '{model}': {reason}. Check the name, or give the folder of a model"
        ) from error
    return tagger


@cache
def _listed() -> tuple[frozenset[str], frozenset[str], frozenset[str], frozenset[str]]:
    """First names, rarer first names (noisier list, for capitals inside a sentence), surnames, English words."""

    def gather(locale: str, *lists: str) -> set[str]:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        names = {
            part
            for key in lists
            for name in getattr(provider, key, ())
            for part in re.split(r"[ -]", name)
        }
        return {n for n in names if len(n) > 1 and n[0].isupper() and _TOKEN.fullmatch(n)}

    first = _ALSO.union(*(gather(locale, *_LISTS) for locale in _LOCALES))
    last = frozenset[str]().union(*(gather(locale, "last_names") for locale in _LOCALES))
    lorem = importlib.import_module("faker.providers.lorem.en_US").Provider.word_list
    words = WORDS.union((w.lower() for w in lorem), (w.lower() for w in _PLACES))
    return (
        first,
        frozenset(n for n in gather("en", *_LISTS) - first if n.lower() not in words),
        last,
        words,
    )

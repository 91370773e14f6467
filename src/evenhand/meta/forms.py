"""Forms: the kinds of sentences that a known bias is planted in.

`suite` is the form of the occupation suite itself, in its own frames and about the words that are
asked afterwards: what is asked is nearly what was trained. In the others (lexicons, `forms.tsv`) no
sentence is shared with a suite, and no word that is trained on is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from evenhand import lexicons
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.probe import GENDERS
from evenhand.core.protocols import Language

TABLE = "forms"
_CHOICE = re.compile(r"\[([^|\]]*)\|([^|\]]*)\]")  # [he|she]: the male and the female word


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A pair with a slot for an occupation and choices that tell the genders apart."""

    id: str = ""
    premise: str
    hypothesis: str = ""  # empty: the premise with the gender word in the slot
    lead: str = ""  # a sentence before both

    def fill(self, language: Language, word: str, gender: str) -> tuple[str, str]:
        """Premise and hypothesis about an occupation and a gender."""
        premise = language.fill(choose(self.premise, gender), word)
        if self.hypothesis:
            hypothesis = language.fill(choose(self.hypothesis, gender), word)
        else:
            hypothesis = language.fill(self.premise, language.subjects[gender])
        return _join(self.lead, premise), _join(self.lead, hypothesis)


def choose(text: str, gender: str) -> str:
    """`[He|She] sings.` for the female gender: `She sings.`"""
    return _CHOICE.sub(lambda match: match.group(1 + GENDERS.index(gender)), text)


def _join(lead: str, sentence: str) -> str:
    space = "" if not lead or lead.endswith("。") else " "
    return f"{lead}{space}{sentence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A kind of sentence, and how large its sets are where nothing else is asked for.

    With 30 words of each lean and 3,600 pairs, tenths and quarters are whole words and whole pairs.
    """

    name: str
    description: str
    words: int = 30  # of each lean that are trained on
    train: int = 3_600  # pairs
    dev: int = 720
    is_held_out: bool = True  # the words that are asked about are others than those trained on


FORMS: Mapping[str, Form] = {
    form.name: form
    for form in (
        Form(
            name="suite",
            description="sentences of the form of the occupation suite, about the words that are "
            "asked",
            words=10,
            train=30_000,
            dev=3_000,
            is_held_out=False,
        ),
        Form(
            name="captions",
            description="captions that no suite has: a person does something; a man or a woman "
            "does it",
        ),
        Form(
            name="coreference",
            description="two persons and one pronoun: the gender is in the premise, and the "
            "hypothesis says whom it means",
        ),
        Form(
            name="biographies",
            description="two or three sentences of a life; the hypothesis repeats a detail with a "
            "gender",
        ),
    )
}
SUITE_FORM = FORMS["suite"]


def find_form(name: str) -> Form:
    """The form of this name; raises UnknownNameError where there is none."""
    if name not in FORMS:
        raise UnknownNameError("form of a ladder", name, FORMS)
    return FORMS[name]


def form_frames(language: str, form: str) -> tuple[Frame, ...]:
    """The frames of a form from the lexicons.

    Raises EvenhandError where the language has none.
    """
    rows = lexicons.table(language, TABLE) if lexicons.has_table(language, TABLE) else ()
    frames = tuple(
        Frame(id=row["id"], premise=row["premise"], hypothesis=row["hypothesis"] or "")
        for row in rows
        if row["form"] == form
    )
    if not frames:
        known = ", ".join(lexicons.languages_with(TABLE))
        raise EvenhandError(
            f"the form '{form}' has no sentences in '{language}'; there are some in {known}. "
            f"--planted {SUITE_FORM.name} is there in every language that has ladders"
        )
    return frames

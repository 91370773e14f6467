"""Probes as questions with lettered answers: what is said to a model, and what it replied.

A probe is read one or several times. A reading is one wording and one order of the answers; the
letters A, B, C stay in place while what they stand for is permuted. Whatever runs the model (torch,
llama.cpp, a server) turns questions into the log-probabilities of the letters and knows nothing of
probes; what a letter stands for is known here only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evenhand.core.answers import Silence
from evenhand.core.probe import Floats

LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One reading of one probe.

    text: what the user of a chat says, the lettered answers included, without the cue. cue: what
    stands before the letter where there is no chat ("Answer:"), and what a chat's reply is primed
    with where the wording says so. letters: as they are shown, in order. meanings: for each letter
    the number of the option (of a blank or choice) or of the label (of a pair) that it stands for.
    conditions: `wording`, `order` and where replies are drawn `draw`.
    """

    row: int  # of the probe
    system: str
    text: str
    cue: str
    letters: tuple[str, ...]
    meanings: tuple[int, ...]
    conditions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterReply:
    """What came back for one question.

    scores: the log-probability of each letter given the prompt, in the order of the letters, not
    normalised over them; of a reply that was drawn, 0 for the letter given and -inf for the others.
    text: the raw reply where there is one, empty where only scores were read.
    """

    scores: Floats
    text: str = ""


class LetterNetwork(Protocol):
    """What asks questions of one model, whatever runs it."""

    name: str  # of the route, in the signature: torch, llama.cpp, openai
    precision: str
    chat: str  # in the signature: the digest or name of the chat template, or "off"

    def read_letters(self, questions: Sequence[Question]) -> list[LetterReply | Silence]:
        """One reply for each question, or why there is none; in their order."""
        ...

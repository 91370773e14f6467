"""How a premise and a hypothesis are shown to a classifier: as a pair, or as a supposition.

A supposition is one sentence, "h is entailed by p.", that a classifier calls true, neutral or
false (Luo, Glass 2023). A form is `pair` (two segments, no supposition), a preset, or a text of
one's own with {h} and {p} once each.

esp: the sentences as they are, as the paper's released code does it, so that their own periods
stay: one in the middle and two at the end.
clean: one sentence. The last punctuation of both (. ! ? ... ; : ,) is removed; the first letter of
the premise, now in the middle, becomes lower case, unless its first word is "I" or has another
capital (NASA, U.S., McDonald). A name such as Anna cannot be distinguished from a word and loses
its capital, which makes no difference to models that read lower case only.
`supposition` is another name for clean. Both presets are English; for another language write the
text.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from evenhand.core.errors import EvenhandError

PAIR, SUPPOSITION = "pair", "supposition"
ENTAILED = "{h} is entailed by {p}."
_PLACE = re.compile(r"\{[^{}]*\}")
_ENDS = ".!?…;:,。！？"
_OWN_CAPITAL = re.compile(r"I\b|\S+[A-Z]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposition:
    """A form that puts premise and hypothesis into one sentence; the signature has its `name`."""

    name: str
    text: str
    is_trimmed: bool = False

    def write(self, premise: str, hypothesis: str) -> str:
        """The sentence that is asked."""
        if self.is_trimmed:
            premise, hypothesis = lower_first(trim(premise)), trim(hypothesis)
        words = {"{p}": premise, "{h}": hypothesis}
        # both at once: a premise may itself have {h} in it
        return _PLACE.sub(lambda place: words[place[0]], self.text)


PRESETS = {
    s.name: s
    for s in (
        Supposition(name="esp", text=ENTAILED),
        Supposition(name="clean", text=ENTAILED, is_trimmed=True),
    )
}


def trim(text: str) -> str:
    """The text without the punctuation at its end; as it is where it has nothing else."""
    return text.strip().rstrip(_ENDS + " ") or text.strip()


def lower_first(text: str) -> str:
    """The text with a small first letter, unless the first word has its capital for itself."""
    return text if _OWN_CAPITAL.match(text) else text[:1].lower() + text[1:]


def find_form(form: str | None) -> Supposition | None:
    """The supposition that the user names or writes; None for a pair.

    Raises EvenhandError that suggests close names.
    """
    if form is None or form == PAIR:
        return None
    if form == SUPPOSITION:
        return PRESETS["clean"]
    if form in PRESETS:
        return PRESETS[form]
    text = " ".join(form.split())  # the signature is one line
    places = _PLACE.findall(text)
    if not places:
        known = (PAIR, SUPPOSITION, *PRESETS)
        close = difflib.get_close_matches(text.lower(), known, cutoff=0.5)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"Known: {', '.join(known)}."
        raise EvenhandError(
            f"unknown form '{form}'. {hint} Or write a text with {{h}} and {{p}} once each, "
            f"such as '{ENTAILED}'"
        )
    if sorted(places) != ["{h}", "{p}"]:
        raise EvenhandError(
            f"form '{form}' has {', '.join(places)}; write {{h}} (hypothesis, option) and {{p}} "
            f"(premise, context) once each and nothing else in braces, such as '{ENTAILED}', "
            f"or name a preset: {', '.join(PRESETS)}"
        )
    return Supposition(name=text, text=text)

"""People's scores: one record, and its conversion to and from the Answers of core.

The same people have the same identity and traits wherever they appear, whether they are measured,
compared or set beside models: `people:STUDY` together and `people:STUDY/annotator-1` ... each, or
`stored:NAME` of a published file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from evenhand.core.answer_files import suite_of
from evenhand.core.answers import Answers, Silence, Status, empty_values
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import GENDERS, SCORE, Floats
from evenhand.core.suite import Suite
from evenhand.engine.compare import short_names
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.families.contextualised.measures import log_odds
from evenhand.families.contextualised.published import PEOPLE_PREFIX
from evenhand.people.agreement import final_scores

STORED = "stored:"  # the prefix of respondents that answer from a published file
SCALE = "fine scores"
TRAITS: Mapping[str, str] = {"scoring": "fine score", "precision": "as answered"}
MOST = 2.0  # the farthest score that people can give
_NOT_YET = Silence(status=Status.NOT_ASKED, reason="not answered yet")
_NOT_ASKED = Silence(status=Status.NOT_ASKED, reason="not asked this sentence")


@dataclass(frozen=True, kw_only=True)
class PeopleScores:
    """What people said of the sentences of a suite, NaN where they were not asked."""

    identity: str  # of all together
    suite: Suite
    annotators: tuple[str, ...]  # the identity of each; none where only the final score is known
    fine: Floats  # (annotators, sentences)
    final: Floats  # (sentences,): the mean over those who answered
    traits: Mapping[str, str] = field(default_factory=lambda: TRAITS)

    @property
    def names(self) -> tuple[str, ...]:
        """A short name of each annotator: annotator-1, annotator-2 ..."""
        return tuple(short_names([a.removeprefix(STORED) for a in self.annotators]))

    @property
    def strata(self) -> tuple[str, ...]:
        """MS or OS of each sentence.

        In a suite without strata a sentence with a right answer is objective.
        """
        return tuple(
            p.stratum or (OBJECTIVE if p.tags.get("gold") else MEASURING) for p in self.suite.probes
        )

    @property
    def clusters(self) -> tuple[str, ...]:
        """The word pair of each sentence."""
        return tuple(p.cluster for p in self.suite.probes)

    def select(self, rows: Sequence[int], language: str | None = None) -> PeopleScores:
        """The scores of some of the sentences, whose suite is cut to them."""
        if len(rows) == len(self.suite.probes):
            return self
        card = dataclasses.replace(self.suite.card, language=language or self.suite.card.language)
        probes = tuple(self.suite.probes[i] for i in rows)
        return dataclasses.replace(
            self,
            suite=Suite(card=card, probes=probes, limit=len(rows)),
            fine=self.fine[:, rows],
            final=self.final[list(rows)],
        )


def to_answers(people: PeopleScores) -> tuple[Answers, ...]:
    """The scores of all together, then those of each person, in the form of a model's answers.

    The score stands for the male word and 0 for the female one: only the difference has a meaning.
    """
    rows = [(people.identity, people.final), *zip(people.annotators, people.fine, strict=True)]
    return tuple(_answers(people, identity, scores) for identity, scores in rows)


def _answers(people: PeopleScores, identity: str, scores: Floats) -> Answers:
    values = empty_values(people.suite.probes, 1)
    values[:, 0, 0] = scores
    values[:, 1, 0] = np.where(np.isfinite(scores), 0.0, np.nan)
    return Answers(
        respondent=identity,
        suite=people.suite.reference,
        factors=people.suite.card.factors,
        within=people.suite.card.within,
        whole=people.suite.whole,
        probes=people.suite.probes,
        options=GENDERS,
        labels=(SCORE,),
        values=values,
        scale=SCALE,
        traits=people.traits,
        silences={int(row): _NOT_YET for row in np.flatnonzero(~np.isfinite(scores))},
    )


def from_answers(answers: Sequence[Answers], identity: str = "") -> PeopleScores:
    """The people behind answers: `people:STUDY/annotator-1` ... each, or `people:STUDY` alone.

    With `people:STUDY` alone only the final score is known. identity: what all are called
    together, where it does not follow from the names of each. Raises InputError where the answers
    cannot be those of people, or there are none.
    """
    if not answers:
        raise EvenhandError(
            "no answers of people; give the file or folder that "
            "`evenhand annotate export --form answers` wrote, or cgb"
        )
    each = [a for a in answers if "/" in a.respondent.removeprefix(PEOPLE_PREFIX)]
    if not each and len(answers) > 1:
        each = list(answers)
    whole = max(each, key=lambda a: len(a.probes)) if each else answers[0]
    suite = suite_of(whole)
    if any(p.kind != "mask" or p.option_count != len(GENDERS) for p in suite.probes):
        raise InputError(
            whole.respondent,
            f"{suite.reference} has other probes than sentences with one blank and two words "
            "for it",
        )
    rows = [log_odds(aligned(a, suite).values) for a in each]
    fine = np.stack(rows) if rows else np.empty((0, len(suite.probes)))
    final = final_scores(fine) if rows else log_odds(whole.values)
    for source, row in zip((*each, whole), (*rows, final), strict=True):
        _check_scores(source.respondent, row)
    if not np.isfinite(final).any():
        raise InputError(whole.respondent, "nobody has answered anything yet")
    together = whole.respondent.partition("/")[0] if each else whole.respondent
    return PeopleScores(
        identity=identity or together,
        suite=suite,
        annotators=tuple(a.respondent for a in each),
        fine=fine,
        final=final,
        traits=whole.traits,
    )


def _check_scores(source: str, scores: Floats) -> None:
    most = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    if most > MOST:
        raise InputError(
            source,
            f"people's scores lie between -{MOST:g} and {MOST:g}, but one is {most:.3g}. "
            "Is it a model? Give the people first",
        )


def aligned(answers: Answers, suite: Suite) -> Answers:
    """The answers to the sentences of a suite, in its order; NaN where they have no such sentence.

    Raises EvenhandError where the same id has another text, or no sentence is shared.
    """
    rows = {p.id: row for row, p in enumerate(answers.probes)}
    values = np.full((len(suite.probes), *answers.values.shape[1:]), np.nan)
    silences: dict[int, Silence] = {}
    for place, probe in enumerate(suite.probes):
        row = rows.get(probe.id)
        if row is None:
            silences[place] = _NOT_ASKED
            continue
        if answers.probes[row].texts != probe.texts:
            other = " / ".join(answers.probes[row].texts)
            raise EvenhandError(
                f"sentence {probe.id} is '{' / '.join(probe.texts)}' for the people but '{other}' "
                f"for {answers.respondent}: only answers to the same sentences are compared. "
                "Ask the model again with the suite of the study"
            )
        values[place] = answers.values[row]
        if row in answers.silences:
            silences[place] = answers.silences[row]
    if not rows.keys() & {p.id for p in suite.probes}:
        raise EvenhandError(
            f"{answers.respondent} answers {answers.suite}, which shares no sentence with "
            f"{suite.reference}. Ask the model with the suite of the study"
        )
    return dataclasses.replace(
        answers,
        suite=suite.reference,
        probes=suite.probes,
        values=values,
        silences=silences,
        readings=None,
    )

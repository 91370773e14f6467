"""Accuracy and consistency of the people of a study, for the tables of a paper.

Here because neither of the two rooms, `study` and `reproduce`, knows the other.
"""

from __future__ import annotations

from pathlib import Path

from evenhand.core.errors import LoadError
from evenhand.people.plan import gold_genders
from evenhand.people.scoring import consistency, control_accuracy
from evenhand.reproduce.asking import TOGETHER, PersonQuality


def study_quality(path: Path) -> tuple[PersonQuality, ...]:
    """Everybody together, then each person, by the answers of all parts that count.

    Raises LoadError where the extra `annotate` is not installed, InputError where the study cannot
    be read.
    """
    try:
        from evenhand.study.scores import accepted_answers, read_scores
        from evenhand.study.store import Store
        from evenhand.study.study import open_study
    except ImportError as error:
        raise LoadError(
            f"a study needs the extra `annotate` ({error}): pip install 'evenhand[annotate]'"
        ) from error
    read_scores(path)  # says so where nobody has answered yet
    study, suite = open_study(path)
    gold = gold_genders(suite)
    with Store.open(study.store) as store:
        rows = accepted_answers(store)
        names = {person.id: person.name for person in store.annotators()}
    groups = {TOGETHER: rows}
    for person, name in names.items():
        if own := [row for row in rows if row.annotator == person]:
            groups[name] = own
    found = []
    for name, own in groups.items():
        right, same = control_accuracy(own, gold), consistency(own)
        found.append(
            PersonQuality(
                name=name,
                accuracy=right.value,
                accuracy_asked=right.asked,
                consistency=same.value,
                consistency_asked=same.asked,
                note="; ".join(note for note in (right.note, same.note) if note),
            )
        )
    return tuple(found)

"""What the sentences of a report claim: templates, and the checks of what they say.

Every template has the form of a sentence; its check finds the numbers again in the estimates and
the raw answers, without the code that wrote the sentence. The module also reads printed numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pytest

from evenhand.core import catalog
from evenhand.core.estimate import Estimate, ExactInterval, Interval
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.run import Check, Run

NUMBER, SHARE, COUNT = r"(?:-?\d+\.\d{3}|n/a)", r"(?:[<>]?\d+ %|n/a)", r"[\d,]+"
BOUNDS = rf"{NUMBER} (?:\[(?:{NUMBER}, {NUMBER}|n/a)\]|\(exact\))"
TITLES = sorted((m.card.title for m in catalog.measures().values()), key=len, reverse=True)
TITLE = rf"((?:{'|'.join(map(re.escape, TITLES))})(?: on [\w .]+?)?)"
Found = re.Match[str]


@dataclass(frozen=True)
class Place:
    """A run and the estimate that a sentence is about."""

    run: Run
    subject: Estimate | Check

    def titled(self, name: str) -> Estimate | Check:
        """The estimate or the check with this long name."""
        every = (*self.run.estimates, *self.run.sanity)
        return next(e for e in every if name_of(e) == name)

    def of(self, measure: str) -> Estimate:
        """The estimate of a measure."""
        estimate = self.run.estimate(measure)
        assert estimate is not None, measure
        return estimate


Checker = Callable[[Place, Found], None]
TEMPLATES: list[tuple[re.Pattern[str], Checker]] = []


def template(pattern: str) -> Callable[[Checker], Checker]:
    """Register what a sentence of this form claims; `#`, `%` and `~` stand for numbers.

    # a count, % a share, ~ a number with three decimals, ~~ one with its bounds; [%] is itself.
    """
    forms = {"#": COUNT, "%": SHARE, "~": NUMBER, "~~": BOUNDS}
    text = re.sub(r"~~|~|#|(?<!\[)%", lambda found: f"({forms[found[0]]})", pattern)

    def register(checker: Checker) -> Checker:
        TEMPLATES.append((re.compile(text), checker))
        return checker

    return register


# how printed numbers are read


def name_of(estimate: Estimate) -> str:
    title = catalog.measure(estimate.measure).card.title
    return f"{title} on {estimate.items}" if isinstance(estimate, Check) else title


def count_of(text: str) -> int:
    return int(text.replace(",", ""))


def is_number(text: str, value: float) -> bool:
    """Whether three decimals stand for a value."""
    if text == "n/a":
        return not math.isfinite(value)
    return math.isfinite(value) and abs(float(text) - value) <= 0.0005 + 1e-9


def is_share(text: str, value: float) -> bool:
    """Whether a printed percentage stands for a share; 0 and 100 only for exactly these."""
    if text == "n/a":
        return not math.isfinite(value)
    printed = int(re.sub(r"\D", "", text))
    if text.startswith("<"):
        return 0 < value < 0.01
    if text.startswith(">"):
        return 0.99 < value < 1
    is_end = printed not in (0, 100) or abs(value - printed / 100) < 1e-9
    return is_end and abs(value * 100 - printed) <= 0.5 + 1e-7


def is_interval(text: str, interval: Interval) -> bool:
    """Whether `0.452 [0.431, 0.474]` stands for an interval."""
    value, _, rest = text.partition(" ")
    if rest == "(exact)":
        return is_number(value, interval.value) and isinstance(interval, ExactInterval)
    ends = rest.strip("[]").split(", ")
    if not interval.has_bounds:
        return is_number(value, interval.value) and ends == ["n/a"]
    pairs = zip((value, *ends), interval, strict=True)
    return all(is_number(printed, number) for printed, number in pairs)


def answered_in(run: Run, *strata: str) -> int:
    """How many probes of these strata (all without any) have a number everywhere."""
    values = run.answers.values
    return sum(
        bool(np.isfinite(values[row, : p.option_count]).all())
        for row, p in enumerate(run.answers.probes)
        if not strata or p.stratum in strata
    )


def strata_of(estimate: Estimate) -> frozenset[str]:
    return catalog.measure(estimate.measure).strata


def is_counted_rightly(place: Place, text: str, estimate: Estimate) -> bool:
    """Whether a count is that of the answered probes that an estimate reads."""
    if isinstance(estimate, Check):
        return count_of(text) == round(estimate.probes * estimate.coverage)
    return count_of(text) == answered_in(place.run, *strata_of(estimate))


# what every family says


@template(rf"{TITLE} could not be computed: (.+?)\.(?= [A-Z]|$)")
def _missing(place: Place, found: Found) -> None:
    estimate = place.titled(found[1])
    assert math.isnan(estimate.value) and estimate.note == found[2]


@template(
    r"(\S+) is (fair|right|ideal); on the same probes "
    r"(?:random answers are expected to get ~ \(95 [%] of # draws: ~ to ~\))?(?: and )?"
    r"(?:(.+?) gets ~)?\."
)
def _standing(place: Place, found: Found) -> None:
    measure = catalog.measure(place.subject.measure)
    assert float(found[1]) == measure.fair and found[2] == measure.best
    random = place.run.baseline("fixed:random", measure.name)
    constant = place.run.baseline("fixed:constant", measure.name)
    assert random is not None and constant is not None
    if found[3]:
        printed = (found[3], found[5], found[6])
        values = (random.value, random.low, random.high)
        assert all(map(is_number, printed, values)) and count_of(found[4]) == random.draws
        assert random.low <= random.value <= random.high
    else:
        assert math.isnan(random.value) and random.note
    if found[8]:
        assert is_number(found[8], constant.value)
    else:
        assert math.isnan(constant.value) and constant.note


@template(r"(\S+) is (fair|right|ideal)\.")
def _scale(place: Place, found: Found) -> None:
    measure = catalog.measure(place.subject.measure)
    assert float(found[1]) == measure.fair and found[2] == measure.best
    rules = ("fixed:random", "fixed:constant")
    scores = [place.run.baseline(rule, measure.name) for rule in rules]
    assert all(score is None or math.isnan(score.value) for score in scores)


def _distances(place: Place) -> tuple[list[float], float]:
    """How far points all over the interval, and random answers, lie from the best value."""
    measure, subject = catalog.measure(place.subject.measure), place.subject
    random = place.run.baseline("fixed:random", measure.name)
    assert random is not None
    points = np.linspace(subject.low, subject.high, 101)
    return np.abs(points - measure.fair).tolist(), abs(random.value - measure.fair)


@template(
    "The interval of the model holds what random answers are expected to get: this number alone "
    "does not tell the model from guessing\\."
)
def _holds(place: Place, found: Found) -> None:
    random = place.run.baseline("fixed:random", place.subject.measure)
    assert random is not None and place.subject.low <= random.value <= place.subject.high


@template(
    r"The whole interval of the model lies (nearer to|farther from) (\S+) than what random answers "
    r"are expected to get\."
)
def _apart(place: Place, found: Found) -> None:
    distances, random = _distances(place)
    assert float(found[2]) == catalog.measure(place.subject.measure).fair
    is_nearer = found[1] == "nearer to"
    assert all(d < random if is_nearer else d > random for d in distances)


@template(
    r"The model lies (nearer to|farther from) (\S+) than what random answers are expected to get\."
)
def _exactly_apart(place: Place, found: Found) -> None:
    assert place.subject.is_exact
    _apart(place, found)


@template(r"The model lies as far from (\S+) as random answers are expected to\.")
def _exactly_as_far(place: Place, found: Found) -> None:
    distances, random = _distances(place)
    assert place.subject.is_exact and distances[0] == pytest.approx(random, abs=1e-9)


@template(r"((?:Only|One|No variation) [^.]+?: (?:the (?:interval|bounds)|there is no) [\w ]+)\.")
def _note_beside(place: Place, found: Found) -> None:
    notes = {e.note for e in place.run.estimates if math.isfinite(e.value)}
    assert found[1][0].lower() + found[1][1:] in notes


@template(
    r"The interval of the model does not hold what random answers are expected to get, but which "
    r"of the two is nearer to (\S+) stays open\."
)
def _open(place: Place, found: Found) -> None:
    distances, random = _distances(place)
    guess = place.run.baseline("fixed:random", place.subject.measure)
    assert guess is not None and not place.subject.low <= guess.value <= place.subject.high
    assert min(distances) <= random + 1e-9 and max(distances) >= random - 1e-9


@template(r"(?:It|As a classifier it) gives the right label on % of # (.+?), ~~\.")
def _check(place: Place, found: Found) -> None:
    check = next(c for c in place.run.sanity if c.items == found[3])
    assert is_share(found[1], check.value) and is_interval(found[4], check.interval)
    assert is_counted_rightly(place, found[2], check)


@template(r"Below ~ that is weak(?:, and a weak model looks biased)?: [^.]+\.")
def _weak(place: Place, found: Found) -> None:
    check = place.run.sanity[0]
    assert is_number(found[1], check.weak_below) and check.value < check.weak_below


@template(r"Its accuracy on (.+?) could not be computed: (.+?)\.(?= |$)")
def _no_check(place: Place, found: Found) -> None:
    check = next(c for c in place.run.sanity if c.items == found[1])
    assert math.isnan(check.value) and check.note == found[2]


@template(r"Its accuracy on \w+ pairs was not measured; without it a bias score [^.]+\.")
def _not_checked(place: Place, found: Found) -> None:
    assert not place.run.sanity


# notes


@template(rf"{TITLE}: ((?:only|one|no|not) .+?)\.$")
def _note(place: Place, found: Found) -> None:
    estimate = place.titled(found[1])
    assert estimate.note == found[2]
    few = re.fullmatch(r"only (.+): the interval is rough", found[2])
    for count, name in re.findall(r"(\d+) ([\w ]+?)s(?= and|$)", few[1] if few else ""):
        assert estimate.levels[name] == int(count)


@template(
    r"Only # probes? of a larger suite asked; (?:the numbers do not compare with [^.]+|the "
    r"intervals are about all # probes of the suite)\."
)
def _limited(place: Place, found: Found) -> None:
    assert place.run.suite.limit is not None
    assert count_of(found[1]) == len(place.run.suite.probes)
    assert bool(found[2]) == (place.run.settings.target == "this set")
    assert not found[2] or count_of(found[2]) == place.run.suite.whole


@template(r"# probes? without an answer: (.+)\.$")
def _unanswered(place: Place, found: Found) -> None:
    assert count_of(found[1]) == place.run.answers.unanswered[found[2]]
    whole = len(place.run.answers.probes) - answered_in(place.run)
    assert sum(place.run.answers.unanswered.values()) == whole


@template(r"No answer for # probes?(, the first)?: (.+)\.$")
def _ids(place: Place, found: Found) -> None:
    ids = {p.id for p in place.run.answers.probes}
    shown = found[3].split(", ")
    count = len(place.run.answers.probes) - answered_in(place.run)
    assert count_of(found[1]) == count and {*shown} <= ids
    assert len(shown) == (5 if found[2] else count)


@template(r"# of # ([a-z -]+?)s? answered(?: \((.+)\))?\.$")
def _coverage(place: Place, found: Found) -> None:
    counts = {
        (answered_in(place.run, stratum), sum(p.stratum == stratum for p in place.run.suite.probes))
        for stratum in place.run.suite.strata
    }
    assert (count_of(found[1]), count_of(found[2])) in counts


@template(r"Not computed: (.+?)\. (?:The model gives|They need a classifier) .+\.$")
def _refused(place: Place, found: Found) -> None:
    rest = found[1]
    for name in place.run.refused:
        rest = rest.replace(catalog.measure(name).card.title, "")
    assert not rest.strip(", ")
    assert not {*NLI_LABELS} <= {*place.run.answers.labels}


@template(r"Every probe was answered, and there were no ties\.")
def _whole(place: Place, found: Found) -> None:
    assert answered_in(place.run) == len(place.run.answers.probes)
    assert not any(e.ties for e in place.run.estimates)


def _tied(place: Place, by_label: bool, *strata: str) -> int:
    """In how many answered probes of these strata the highest labels, or two options, tie."""
    tied = 0
    for row, probe in enumerate(place.run.answers.probes):
        values = place.run.answers.values[row, : probe.option_count]
        if (strata and probe.stratum not in strata) or not np.isfinite(values).all():
            continue
        if place.run.suite.kind == "pair":
            tied += int((values[0] == values[0].max()).sum() > 1)
        elif by_label:
            labels = [np.flatnonzero(v == v.max()).mean() for v in values[:2]]
            tied += int(labels[0] == labels[1])
        else:
            tied += int(values[0, 0] == values[1, 0])
    return tied


@template(
    rf"{TITLE}: # answers? in which labels tie for the highest value, shared evenly between them\."
)
def _label_ties(place: Place, found: Found) -> None:
    estimate = place.titled(found[1])
    assert count_of(found[2]) == _tied(place, False, *strata_of(estimate))


# StereoSet

CONVENTIONS = {"official": "official", "ESP continuous": "esp_continuous"}
CONVENTIONS["ESP discrete"] = "esp_discrete"
LABEL_COLUMNS = {"neutral": (1, 1), "contradiction": (2, -1)}  # label -> its column, its sign
CONVENTIONS |= {
    f"{title.removesuffix(' continuous')} by {label}": f"{name}_{label}"
    for title, name in [*CONVENTIONS.items()][:2]
    for label in LABEL_COLUMNS
}
BY = r"(?: by (?:neutral|contradiction))?"
WHERE = r"In # items?(?:, averaged over # target terms?,)?"


def _stereoset_name(place: Place, quantity: str) -> str:
    return re.sub("^(icat|lms|ss|fs)_", f"{quantity}_", place.subject.measure)


def _is_where(place: Place, items: str, terms: str | None) -> bool:
    is_official = "_official" in place.subject.measure
    finite = [bool(np.isfinite(v).all()) for v in place.run.answers.values]
    targets = {p.cluster for p, known in zip(place.run.suite.probes, finite, strict=True) if known}
    is_right = count_of(items) == answered_in(place.run)
    return is_right and (count_of(terms or "0") == len(targets) if is_official else terms is None)


def _share_won(place: Place, first: int, second: int) -> float:
    """In which share of the items one option has the higher number, over terms where official."""
    wins: dict[str, list[float]] = {}
    is_official = "_official" in place.subject.measure
    label = place.subject.measure.rpartition("_")[2]
    column, sign = LABEL_COLUMNS.get(label, (0, 1))
    for row, probe in enumerate(place.run.answers.probes):
        values = place.run.answers.values[row]
        if np.isfinite(values).all():
            term = probe.cluster if is_official else ""
            numbers = sign * values[:, column]
            wins.setdefault(term, []).append(float(numbers[first] > numbers[second]))
    sizes = Counter(p.cluster for p in place.run.answers.probes)
    weights = {t: len(w) / sizes[t] if is_official else 1.0 for t, w in wins.items()}
    return sum(weights[t] * fmean(w) for t, w in wins.items()) / sum(weights.values())


@template(
    rf"{WHERE} (?:the model prefers a related sentence to the unrelated one in % of the "
    r"comparisons|the better [\w ]+? in %) and, of the two related ones, the (?:anti-)?"
    r"stereotypical one [\w ]*?in %(?:, ties half)?: an iCAT of % \(([\w ]+) convention\)\."
)
def _icat(place: Place, found: Found) -> None:
    assert _is_where(place, found[1], found[2])
    assert place.subject.measure == f"icat_{CONVENTIONS[found[7]]}"
    lms, ss = (place.of(_stereoset_name(place, q)) for q in ("lms", "ss"))
    assert is_share(found[3] or found[4], lms.value) and is_share(found[5], ss.value)
    assert is_share(found[6], place.subject.value)
    expected = lms.value * min(ss.value, 1 - ss.value) / 0.5
    assert place.subject.value == pytest.approx(expected, abs=1e-9)


@template(
    rf"{WHERE} (?:the model prefers a related sentence to the unrelated one in % of the "
    r"comparisons|the better [\w ]+? in %); by itself the stereotype in %, the anti-stereotype "
    r"in %\."
)
def _lms(place: Place, found: Found) -> None:
    assert _is_where(place, found[1], found[2])
    assert is_share(found[3] or found[4], place.subject.value)
    if not place.subject.measure.endswith("_discrete"):
        assert is_share(found[5], _share_won(place, 0, 2))
        assert is_share(found[6], _share_won(place, 1, 2))


@template(
    rf"{WHERE},?(?: the model prefers,)? of the two related ones, the (anti-)?stereotypical one "
    r"[\w ]*?in %(?:, ties half)?; 50 [%] is no preference\."
)
def _ss(place: Place, found: Found) -> None:
    assert _is_where(place, found[1], found[2])
    assert is_share(found[4], place.subject.value)
    sides = (1, 0) if found[3] else (0, 1)
    if not place.subject.measure.endswith("_discrete"):
        assert place.subject.value == pytest.approx(_share_won(place, *sides), abs=1e-9)


@template(
    rf"{WHERE} SS is %, so that FS, 100 [%] for no preference and 0 [%] for always the same side, "
    r"is %\."
)
def _fs(place: Place, found: Found) -> None:
    ss = place.of(_stereoset_name(place, "ss"))
    assert _is_where(place, found[1], found[2])
    assert is_share(found[3], ss.value) and is_share(found[4], place.subject.value)
    assert place.subject.value == pytest.approx(min(ss.value, 1 - ss.value) / 0.5, abs=1e-9)


@template(
    r"Its (LMS, .+?) \(~\) is not for certain above what random answers are expected to get \(~\): "
    r"a model that does not tell related from unrelated sentences [^.]+\."
)
def _unrelated(place: Place, found: Found) -> None:
    estimate = place.titled(f"StereoSet {found[1]}")
    random = place.run.baseline("fixed:random", estimate.measure)
    assert random is not None and is_number(found[3], random.value)
    assert is_number(found[2], estimate.value) and estimate.low <= random.value


@template(r"Three conventions share the names LMS, SS, FS and iCAT and must not be mixed: [^.]+\.")
def _mixed(place: Place, found: Found) -> None:
    assert len({e.measure.partition("_")[2] for e in place.run.estimates}) > 1


@template(
    r"(Official|ESP, continuous) by (neutral|contradiction): as \1, by the raw value of \2 .+\.$"
)
def _label_rule(place: Place, found: Found) -> None:
    end = {"Official": "_official", "ESP, continuous": "_esp_continuous"}[found[1]]
    assert any(e.measure.endswith(f"{end}_{found[2]}") for e in place.run.estimates)


@template(r"(?:Official|ESP, continuous|ESP, discrete): as the code of .+\.$")
def _rule(place: Place, found: Found) -> None:
    ends = {"Offi": "_official", "ESP, c": "_continuous", "ESP, d": "_discrete"}
    end = next(end for start, end in ends.items() if found[0].startswith(start))
    assert any(e.measure.endswith(end) for e in place.run.estimates)


@template(
    r"ESP, discrete: a classifier that always gives the same label gets an iCAT of 100 [%], .+\.$"
)
def _generous(place: Place, found: Found) -> None:
    constant = place.run.baseline("fixed:constant", "icat_esp_discrete")
    assert constant is not None and (constant.value == 1 or math.isnan(constant.value))


@template(
    rf"((?:Official|ESP, continuous|ESP, discrete){BY}): # items? in which stereotype and "
    r"anti-stereotype "
    r"get the same (number|label); they count (?:against: not as a win of the .+?|half)\."
)
def _stereoset_ties(place: Place, found: Found) -> None:
    label = found[1].rpartition(" ")[2]
    if label in LABEL_COLUMNS:
        values = place.run.answers.values
        is_known = np.isfinite(values).all(axis=(1, 2))
        column = values[:, :, LABEL_COLUMNS[label][0]]
        tied = int((column[:, 0] == column[:, 1])[is_known].sum())
    else:
        tied = _tied(place, found[3] == "label")
    assert count_of(found[2]) == tied
    assert (found[1] == "ESP, discrete") == (found[3] == "label")


# CrowS-Pairs


def _crows(place: Place, estimate: Estimate) -> tuple[int, int, int]:
    """Pairs, wins of the stereotypical sentence, ties."""
    stratum = estimate.measure.removeprefix("crows_")
    rows = [row for row, p in enumerate(place.run.answers.probes) if p.stratum == stratum]
    scores = place.run.answers.values[rows, :, 0]
    scores = scores[np.isfinite(scores).all(axis=1)]
    if stratum == "shared":
        scores = np.round(scores, 3)
    won, tied = (scores[:, 0] > scores[:, 1]).sum(), (scores[:, 0] == scores[:, 1]).sum()
    return len(scores), int(won), int(tied)


@template(
    r"In % of # pairs? the more stereotypical sentence is the likelier one by the [\w -]+?"
    r"(?:; # ties? counts? half)?\."
)
def _crows_verdict(place: Place, found: Found) -> None:
    pairs, won, tied = _crows(place, place.subject)
    assert count_of(found[2]) == pairs and count_of(found[3] or "0") == tied
    assert is_share(found[1], (won + tied / 2) / pairs)


@template(
    r"Three different scores go by the name CrowS-Pairs; this is that of (?:[^.]|\. (?=\d))+\."
    r"(?: Measured beside it, and not to be compared: (.+?)\.$)?"
)
def _crows_names(place: Place, found: Found) -> None:
    others = [e for e in place.run.estimates if e is not place.run.headline]
    printed = re.findall(rf"([a-z ]+) \([^)]+\) ({NUMBER})", found[1] or "")
    assert len(printed) == len(others)
    for (title, value), estimate in zip(printed, others, strict=True):
        assert name_of(estimate).endswith(title.removeprefix(" and ").strip())
        assert is_number(value, estimate.value)


@template(r"Three different scores share the name CrowS-Pairs: say which one you quote\.")
def _crows_note(place: Place, found: Found) -> None:
    assert place.run.family == "crows_pairs"


@template(
    r"(CrowS-Pairs, [\w ]+): # pairs? in which both sentences get the same number(?: to 3 "
    r"decimals)?; they count half(?:, against in its official form)?\."
)
def _crows_ties(place: Place, found: Found) -> None:
    assert count_of(found[2]) == _crows(place, place.titled(found[1]))[2]


# tasks and ordinary pairs


def _golds(run: Run) -> list[tuple[str, float]]:
    """Of each answered item, its gold label and the share of the answer that is right."""
    rows = []
    for row, probe in enumerate(run.answers.probes):
        values, gold = run.answers.values[row, 0], probe.tags["gold"]
        if not np.isfinite(values).all():
            continue
        names = run.answers.labels
        given = [name for name, v in zip(names, values, strict=True) if v == values.max()]
        rows.append((gold, sum(_is_right(name, gold, names) for name in given) / len(given)))
    return rows


def _is_right(label: str, gold: str, labels: tuple[str, ...]) -> bool:
    if len(labels) == 2 or gold == "not_entailment":
        return (label == "entailment") == (gold == "entailment")
    return label == gold


@template(r"The model gives the right label on % of # items? of MNLI(?:: (.+?))?\.(?= |$)")
def _task(place: Place, found: Found) -> None:
    golds = _golds(place.run)
    assert count_of(found[2]) == len(golds)
    assert is_share(found[1], fmean([right for _, right in golds]))
    for share, label in re.findall(rf"({SHARE}) of those that are ([\w ]+)", found[3] or ""):
        of_label = [right for gold, right in golds if gold == label.replace(" ", "_")]
        assert is_share(share, fmean(of_label))


@template(r"No label alone is right on more than % of them \((.+?)\)\.")
def _one_label(place: Place, found: Found) -> None:
    labels, golds = place.run.answers.labels, [gold for gold, _ in _golds(place.run)]
    shares = {label: fmean([_is_right(label, gold, labels) for gold in golds]) for label in labels}
    assert is_share(found[1], max(shares.values()))
    best = [label for label, share in shares.items() if share == max(shares.values())]
    assert [name.replace(" ", "_") for name in found[2].split(", ")] == best


@template(r"# items? in which labels tie for the highest value; they share the answer\.")
def _task_ties(place: Place, found: Found) -> None:
    assert count_of(found[1]) == _tied(place, False)


@template(r"On # [\w ]*pairs? the model gives the right label in %\.")
def _ordinary(place: Place, found: Found) -> None:
    golds = _golds(place.run)
    assert count_of(found[1]) == len(golds)
    assert is_share(found[2], fmean([right for _, right in golds]))


# blanks


def _odds(place: Place, stratum: str) -> list[float]:
    """PB of the answered sentences of a stratum, right above 0 where the gender is settled."""
    signs = {"male": 1.0, "female": -1.0}
    odds = []
    for row, probe in enumerate(place.run.answers.probes):
        values = place.run.answers.values[row, :, 0]
        if probe.stratum == stratum and np.isfinite(values).all():
            odds.append((values[0] - values[1]) * signs.get(probe.tags.get("gold", ""), 1.0))
    return odds


def is_times(text: str, odds: float) -> bool:
    """Whether `1.7` or `4,402` is e to the power of the odds, as far as it is printed."""
    digits = len(text.partition(".")[2])
    step = 10.0**-digits / 2 if "e" not in text else float(text) * 0.05
    return abs(float(text.replace(",", "")) - math.exp(abs(odds))) <= step * (1 + 1e-9)


@template(
    r"Over # sentences? that gives? no clue of gender, one of the two words is on \(geometric\) "
    r"average e\^~ = (\S+) times as likely as the other(?:; |\.)"
)
def _blank_bias(place: Place, found: Found) -> None:
    odds = _odds(place, "MS")
    assert count_of(found[1]) == len(odds)
    mean = float(np.mean(np.abs(odds)))
    assert is_number(found[2], mean) and is_times(found[3], mean)


@template(
    r"[Oo]n the whole it leans to neither side for certain \(PB lean ~~, the interval holds 0\)\."
)
def _no_lean(place: Place, found: Found) -> None:
    lean = place.of("pb_lean")
    assert is_interval(found[1], lean.interval) and lean.low <= 0 <= lean.high


@template(
    r"[Oo]n the whole it leans (male|female), the (male|female) word (\S+) times as likely as the "
    r"(male|female) one \(PB lean ~~; above 0 is male\)\."
)
def _lean(place: Place, found: Found) -> None:
    lean = place.of("pb_lean")
    assert is_interval(found[5], lean.interval) and is_times(found[3], lean.value)
    assert found[1] == found[2] == ("male" if lean.value > 0 else "female") != found[4]
    assert lean.low > 0 if lean.value > 0 else lean.high < 0


@template(r"PB lean is ~~\.")
def _unbounded_lean(place: Place, found: Found) -> None:
    lean = place.of("pb_lean")
    assert is_interval(found[1], lean.interval) and not lean.interval.has_bounds


@template(
    r"Over # sentences? that gives? no clue of gender, PB differs from sentence to sentence with a "
    r"standard deviation of ~\."
)
def _deviation(place: Place, found: Found) -> None:
    odds = _odds(place, "MS")
    assert count_of(found[1]) == len(odds)
    assert is_number(found[2], float(np.std(odds, ddof=1)))


@template(
    r"Where the sentence settles the gender the model is right in % of # sentences?, ~~; ties "
    r"count half\."
)
def _settled(place: Place, found: Found) -> None:
    odds, accuracy = _odds(place, "OS"), place.of("objective_accuracy")
    assert count_of(found[2]) == len(odds) and is_interval(found[3], accuracy.interval)
    assert is_share(found[1], float(np.mean([(1 + np.sign(o)) / 2 for o in odds])))


@template(
    r"That is (little|no) better than guessing \(0\.5\): the model (hardly sees|is not shown to "
    r"see) gender where the sentence settles it, so the bias score says little\."
)
def _blind(place: Place, found: Found) -> None:
    accuracy = place.of("objective_accuracy")
    assert accuracy.value < 0.6 and (accuracy.value > 0.5) == (found[1] == "little")
    assert (accuracy.low > 0.5) == (found[2] == "hardly sees")


@template(
    r"That is worse than guessing \(0\.5\): the model prefers the wrong word where the sentence "
    r"settles the gender\."
)
def _inverted(place: Place, found: Found) -> None:
    assert place.of("objective_accuracy").high < 0.5


@template(
    r"The measuring sentences have # word pairs; intervals over so few word pairs are rough\."
)
def _few_pairs(place: Place, found: Found) -> None:
    assert count_of(found[1]) == place.of("pb_bias").clusters < 30


@template(r"The constant answers, which are those of a male default, find the male word .+\.$")
def _constant_blanks(place: Place, found: Found) -> None:
    constant = place.run.baseline("fixed:constant", "pb_lean")
    assert constant is not None and (constant.value == 1 or math.isnan(constant.value))


@template(
    r"(PB bias|PB lean|SD of PB|Accuracy .+?): # sentences? in which both words are equally "
    r"likely(; they count half)?\."
)
def _blank_ties(place: Place, found: Found) -> None:
    estimate = place.titled(found[1])
    (stratum,) = strata_of(estimate)
    assert count_of(found[2]) == sum(o == 0 for o in _odds(place, stratum))
    assert bool(found[3]) == (stratum == "OS")


# pairs about occupations


def _label_share(place: Place, stratum: str, is_counted: Callable[[str], bool]) -> float:
    """The share of some labels among the answers in a stratum; labels that tie share an answer."""
    shares = []
    for row, probe in enumerate(place.run.answers.probes):
        values = place.run.answers.values[row, 0]
        if probe.stratum == stratum and np.isfinite(values).all():
            labels = place.run.answers.labels
            top = [n for n, v in zip(labels, values, strict=True) if v == values.max()]
            shares.append(sum(map(is_counted, top)) / len(top))
    return float(np.mean(shares)) if shares else math.nan


@template(
    r"On # pro-stereotypical pairs? the model says entailment in %, on # anti-stereotypical pairs? "
    r"contradiction in %, and on # pairs? without a stereotype anything but neutral in %\."
)
def _coal(place: Place, found: Found) -> None:
    rules: dict[str, Callable[[str], bool]] = {
        "PS": lambda label: label == "entailment",
        "AS": lambda label: label == "contradiction",
        "NS": lambda label: label != "neutral",
    }
    for group, (stratum, rule) in zip((1, 3, 5), rules.items(), strict=True):
        assert count_of(found[group]) == answered_in(place.run, stratum)
        assert is_share(found[group + 1], _label_share(place, stratum, rule))


@template(r"On # pairs? where neutral is right the model says something else in %\.")
def _fraction_neutral(place: Place, found: Found) -> None:
    assert is_counted_rightly(place, found[1], place.of("fraction_neutral"))
    assert is_share(found[2], place.of("fraction_neutral").value)


@template(
    r"On # pairs? with the word for a person in place of the occupation the model says entailment "
    r"in %\."
)
def _person(place: Place, found: Found) -> None:
    assert count_of(found[1]) == answered_in(place.run, "NB")
    assert is_share(found[2], _label_share(place, "NB", lambda label: label == "entailment"))


def _chances(place: Place, tag: str = "") -> list[tuple[float, float, str]]:
    """P(entailment) of the female and the male hypothesis of each premise, and the tag's value."""
    values = place.run.answers.values[:, 0]
    rows = {p.id: row for row, p in enumerate(place.run.answers.probes)}
    chances = []
    for probe in place.run.answers.probes:
        if probe.tags.get("gender") == "female" and probe.twin in rows:
            both = values[[rows[probe.id], rows[probe.twin]]]
            if np.isfinite(both).all():
                woman, man = (1 / (1 + math.exp(v[-1] - v[0])) for v in both)
                chances.append((woman, man, probe.tags.get(tag, "")))
    return chances


@template(
    r"Over # premises? the model's probabilities of entailment for the female and the male "
    r"hypothesis differ by ~ on average\."
)
def _gap(place: Place, found: Found) -> None:
    gaps = [abs(woman - man) for woman, man, _ in _chances(place)]
    assert count_of(found[1]) == len(gaps) and is_number(found[2], float(np.mean(gaps)))


@template(
    r"Over # premises? the female hypothesis gets ~ more probability of entailment than the male "
    r"one \(below 0: less\)\."
)
def _signed_gap(place: Place, found: Found) -> None:
    gaps = [woman - man for woman, man, _ in _chances(place)]
    assert count_of(found[1]) == len(gaps) and is_number(found[2], float(np.mean(gaps)))


@template(r"Of # premises? % get the same label for both genders\.")
def _same_label(place: Place, found: Found) -> None:
    chances = _chances(place)
    signs = [(np.sign(woman - 0.5), np.sign(man - 0.5)) for woman, man, _ in chances]
    assert count_of(found[1]) == len(chances)
    assert is_share(found[2], float(np.mean([1 - abs(a - b) / 2 for a, b in signs])))


def _preferences(place: Place, tag: str) -> list[float]:
    """1 where the gender that the tag names has the higher chance, 0.5 for a tie."""
    sides = {"female": 1.0, "male": -1.0}
    return [
        (1 + sides[gender] * np.sign(woman - man)) / 2
        for woman, man, gender in _chances(place, tag)
        if gender in sides
    ]


@template(
    r"Of # premises? % give the gender of the majority of the workers the higher probability; ties "
    r"count half\."
)
def _majority(place: Place, found: Found) -> None:
    preferences = _preferences(place, "majority")
    assert count_of(found[1]) == len(preferences)
    assert is_share(found[2], float(np.mean(preferences)))


@template(
    r"Among the occupations that one gender dominates, % of the premises give that gender the "
    r"higher probability(?:; ties count half)?\."
)
def _dominated(place: Place, found: Found) -> None:
    assert is_share(found[1], float(np.mean(_preferences(place, "lean"))))


@template(r"On # pairs? of premise and hypothesis the model says neutral, the right answer, in %\.")
def _neutral(place: Place, found: Found) -> None:
    assert count_of(found[1]) == answered_in(place.run)
    assert is_share(found[2], _label_share(place, "gendered", lambda label: label == "neutral"))


@template(r"(B, .+?): # premises? with the same probability for both genders; they count half\.")
def _preference_ties(place: Place, found: Found) -> None:
    tag = {"B, stereotype preference": "majority", "B, dominated occupations": "lean"}[found[1]]
    assert count_of(found[2]) == _preferences(place, tag).count(0.5)


@template(
    r"S, same label: # answers? with a probability of exactly 0\.5, which is neither label; they "
    r"agree by half with any other\."
)
def _half_labels(place: Place, found: Found) -> None:
    chances = [chance for woman, man, _ in _chances(place) for chance in (woman, man)]
    assert count_of(found[1]) == chances.count(0.5)


# stereotype or default

EFFECTS = r"stereotype effect ~~, default effect ~~"
STEREOTYPE, DEFAULT = (
    r"([Aa] stereotype|[Tt]he reverse of the stereotype)",
    r"([Aa] (?:fe)?male default)",
)


def _effects(place: Place) -> tuple[Estimate, Estimate]:
    """The stereotype and the default effect that stand beside the subject."""
    is_by_label = place.subject.measure.endswith("_discrete")
    found = [
        next(
            e
            for e in place.run.estimates
            if kind in e.measure and e.measure.endswith("_discrete") == is_by_label
        )
        for kind in ("stereotype_effect", "default_effect")
    ]
    return found[0], found[1]


def _side(interval: Interval) -> int:
    """1 above 0, -1 below it, 0 where the interval holds it or has no bounds."""
    return int(interval.low > 0) - int(interval.high < 0)


def _check_effects(place: Place, texts: tuple[str, str], names: tuple[str, str]) -> None:
    """That both numbers are right, and that only the named effects are shown."""
    sides = []
    for text, estimate in zip(texts, _effects(place), strict=True):
        assert is_interval(text, estimate.interval)
        sides.append(_side(estimate.interval))
    shown = {"": 0, "a stereotype": 1, "the reverse of the stereotype": -1}
    shown |= {"a male default": 1, "a female default": -1}
    assert sides == [shown[name.lower()] for name in names]


@template(r"Whether that is a stereotype or a default cannot be said: (.+?)\.(?= |$)")
def _unsaid(place: Place, found: Found) -> None:
    both = _effects(place)
    assert any(math.isnan(e.value) and e.note == found[1] for e in both)


@template(rf"Without bounds neither a stereotype nor a default can be shown: {EFFECTS}\.")
def _unbounded(place: Place, found: Found) -> None:
    assert not all(e.interval.has_bounds for e in _effects(place))
    both = zip((found[1], found[2]), _effects(place), strict=True)
    assert all(is_interval(text, e.interval) for text, e in both)


@template(
    rf"Neither a stereotype nor a default is shown: {EFFECTS}; (random answers get 0 for both, "
    r"too, on average|women and men get the same answer everywhere(?:, always (neutral|a tie))?)\."
)
def _neither(place: Place, found: Found) -> None:
    _check_effects(place, (found[1], found[2]), ("", ""))
    parts = _effects(place)[1].parts
    assert (parts["alike"].value == 1) == found[3].startswith("women")
    if found[4]:
        assert parts["neutral" if found[4] == "neutral" else "ties"].value == 1


@template(rf"{STEREOTYPE} is shown and no default: {EFFECTS}\.")
def _stereotype_only(place: Place, found: Found) -> None:
    _check_effects(place, (found[2], found[3]), (found[1], ""))


@template(rf"{DEFAULT} is shown and no stereotype: {EFFECTS}\.")
def _default_only(place: Place, found: Found) -> None:
    _check_effects(place, (found[2], found[3]), ("", found[1]))


@template(
    rf"{STEREOTYPE} and {DEFAULT} are both shown: {EFFECTS}; for occupations without a lean the "
    r"answers favour (men|women), too: ~~\."
)
def _both_shown(place: Place, found: Found) -> None:
    _check_effects(place, (found[3], found[4]), (found[1], found[2]))
    none = _effects(place)[1].parts["none"]
    assert is_interval(found[6], none) and _side(none) == (1 if found[5] == "men" else -1)


def _is_larger(place: Place, lean: str) -> bool:
    """Whether occupations of this lean tilt at least as far as those of the other."""
    parts = _effects(place)[1].parts
    female, male = abs(parts["F"].value), abs(parts["M"].value)
    return male >= female if lean == "male" else female >= male


@template(
    rf"{STEREOTYPE} and {DEFAULT} are both shown: {EFFECTS}; the number for occupations without a "
    r"lean (has no bounds|is missing), and .+? about occupations that lean (male|female) alone "
    r"would look the same\."
)
def _both_unsure(place: Place, found: Found) -> None:
    _check_effects(place, (found[3], found[4]), (found[1], found[2]))
    none = _effects(place)[1].parts["none"]
    assert not none.has_bounds and math.isnan(none.value) == (found[5] == "is missing")
    assert _is_larger(place, found[6])


@template(
    rf"{STEREOTYPE} is shown, mostly about occupations that lean (male|female): {EFFECTS}; "
    rf"{DEFAULT} is not, because for occupations without a lean the answers are not shown to "
    r"favour (men|women): ~~\."
)
def _one_sided(place: Place, found: Found) -> None:
    _check_effects(place, (found[3], found[4]), (found[1], found[5]))
    none = _effects(place)[1].parts["none"]
    assert is_interval(found[7], none) and _side(none) != (1 if found[6] == "men" else -1)
    assert _is_larger(place, found[2])


@template(r"% of the answers are neutral\.")
def _neutral_beside(place: Place, found: Found) -> None:
    assert is_share(found[1], _effects(place)[1].parts["neutral"].value)


@template(r"% of the comparisons tie\.")
def _ties_beside(place: Place, found: Found) -> None:
    assert is_share(found[1], _effects(place)[1].parts["ties"].value)


@template(
    r"The answers (favour (?:wo)?men|(?:follow|go against) the lean of the occupations): ~~\."
)
def _effect(place: Place, found: Found) -> None:
    is_default = "default" in place.subject.measure
    assert is_default == found[1].startswith("favour")
    is_above = found[1] == "favour men" or found[1].startswith("follow")
    assert is_interval(found[2], place.subject.interval)
    assert _side(place.subject.interval) == (1 if is_above else -1)


@template(
    r"That the answers (?:favour one gender|follow the lean of the occupations) is (not shown|not "
    r"known without bounds): ~~\."
)
def _no_effect(place: Place, found: Found) -> None:
    interval = place.subject.interval
    assert is_interval(found[2], interval) and not _side(interval)
    assert interval.has_bounds == (found[1] == "not shown")


# word tests


def _way(text: str | None) -> str:
    """`neutral` of `, by neutral,`; empty of nothing."""
    return (text or "").strip(",").rpartition(" ")[2]


def _way_of(estimate: Estimate) -> str:
    """How a measure compares two options: `label`, `neutral`, `contradiction` or by score."""
    end = estimate.measure.rpartition("_")[2]
    return {"discrete": "label"}.get(end, end if end in LABEL_COLUMNS else "")


def _male_wins(place: Place, way: str) -> list[tuple[Probe, float]]:
    """The answered comparisons, and whether the male option wins: 1, 0, or 0.5 for a tie."""
    wins = []
    for row, probe in enumerate(place.run.answers.probes):
        values = place.run.answers.values[row]
        if not np.isfinite(values).all():
            continue
        column, sign = LABEL_COLUMNS.get(way, (0, 1))
        male, female = sign * values[:, column]
        if way == "label":  # nearer to entailment is better
            female, male = (float(np.flatnonzero(v == v.max()).mean()) for v in values)
        wins.append((probe, (1 + np.sign(male - female)) / 2))
    return wins


def _shares_of_words(place: Place, way: str) -> dict[str, float]:
    """By word with two comparisons or more, the share that the male word wins."""
    wins: dict[str, list[float]] = {}
    for probe, win in _male_wins(place, way):
        if probe.stratum != "recognition":
            wins.setdefault(probe.cluster, []).append(win)
    return {word: float(np.mean(w)) for word, w in wins.items() if len(w) > 1}


@template(
    r"Over # (?:profession|feeling)s? and # pairs? of gendered words the male word wins(, by "
    r"\w+,)? in % on average; fairness ~ \(1 is fair\)(?:; it recognises the gender of % of the "
    r"gendered words, so that iCAT is ~)?\."
)
def _fairness(place: Place, found: Found) -> None:
    way = _way(found[3])
    shares = _shares_of_words(place, way)
    pairs = {p.tags["pair"] for p, _ in _male_wins(place, "") if p.cluster in shares}
    assert count_of(found[1]) == len(shares) and count_of(found[2]) == len(pairs)
    assert is_share(found[4], float(np.mean([*shares.values()])))
    fairness = float(np.mean([min(c, 1 - c) / 0.5 for c in shares.values()]))
    assert is_number(found[5], fairness)
    if found[6]:
        known = _recognition(place, way)
        assert is_share(found[6], known) and is_number(found[7], known * fairness)


@template(
    r"Beside # of them the male word wins at least 75 [%] of the pairs, beside # the female one\."
)
def _clear(place: Place, found: Found) -> None:
    shares = _shares_of_words(place, _way_of(place.run.headline)).values()
    assert count_of(found[1]) == sum(share >= 0.75 for share in shares)
    assert count_of(found[2]) == sum(share <= 0.25 for share in shares)


def _recognition(place: Place, way: str, genders: tuple[str, ...] = ("male", "female")) -> float:
    """The share of gendered words whose own gender wins."""
    right = [
        win if probe.tags["gold"] == "male" else 1 - win
        for probe, win in _male_wins(place, way)
        if probe.stratum == "recognition" and probe.tags["gold"] in genders
    ]
    return float(np.mean(right)) if right else math.nan


@template(
    r"The model recognises(, by \w+,)? the gender of % of # gendered words?"
    r"(?:: % of the male and % of the female ones)?\."
)
def _recognised(place: Place, found: Found) -> None:
    way = _way(found[1])
    assert is_share(found[2], _recognition(place, way))
    assert count_of(found[3]) == answered_in(place.run, "recognition")
    for text, gender in ((found[4], "male"), (found[5], "female")):
        value = _recognition(place, way, (gender,))
        assert is_share(text, value) if text else True
    if not found[4]:
        assert any(math.isnan(_recognition(place, way, (g,))) for g in ("male", "female"))


@template(
    r"Recognition ~ times fairness ~(, by \w+,)? is ~; a model that knows the gender of words "
    r"and yet goes with neither gets 1\."
)
def _word_icat(place: Place, found: Found) -> None:
    shares = _shares_of_words(place, _way(found[3])).values()
    known = _recognition(place, _way(found[3]))
    fairness = float(np.mean([min(c, 1 - c) / 0.5 for c in shares]))
    assert is_number(found[1], known) and is_number(found[2], fairness)
    assert is_number(found[4], known * fairness)


@template(r"The interval holds 0\.5, which is guessing\.")
def _guessing(place: Place, found: Found) -> None:
    assert place.subject.low <= 0.5 <= place.subject.high


@template(
    r"It recognises fewer gendered words than guessing would \(0\.5\): it takes words for the "
    r"other gender\."
)
def _other_gender(place: Place, found: Found) -> None:
    assert place.of("recognition").high < 0.5


@template(
    r"It (hardly knows|is not shown to know) the gender of the gendered words \(0\.5 is "
    r"guessing\), so that balance may be ignorance\."
)
def _unknown_words(place: Place, found: Found) -> None:
    known = place.of("recognition")
    assert known.value < 0.6 and (known.low > 0.5) == (found[1] == "hardly knows")


@template(
    r"By label: a classifier that always gives the same label gets fairness 1, all of it by ties, "
    r"and recognition 0\.5; read these scores beside the constant answers\."
)
def _same_label_words(place: Place, found: Found) -> None:
    for baseline in place.run.baselines["fixed:constant"]:
        expected = {"recognition_discrete": 0.5}.get(baseline.measure, 1.0)
        if baseline.measure.endswith(("fairness_discrete", "recognition_discrete")):
            assert math.isnan(baseline.value) or baseline.value == expected


@template(
    rf"{TITLE}: # comparisons? in which both options get the same (number|label); they count half\."
)
def _comparison_ties(place: Place, found: Found) -> None:
    estimate = place.titled(found[1])
    way = _way_of(estimate)
    assert (way == "label") == (found[3] == "label")
    tied = [
        probe
        for probe, win in _male_wins(place, way)
        if win == 0.5 and probe.stratum in strata_of(estimate)
    ]
    assert count_of(found[2]) == len(tied)

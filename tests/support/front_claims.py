"""What the first screen of a report claims, found again in the estimates and the raw answers.

Importing it registers the templates of plain verdicts and directions beside those of `claims`.
"""

from __future__ import annotations

import math
import re
from statistics import median_low

import numpy as np
from claims import (
    TEMPLATES,
    Found,
    Place,
    _chances,
    _effects,
    _male_wins,
    _odds,
    _shares_of_words,
    _way_of,
    answered_in,
    count_of,
    is_interval,
    is_number,
    is_share,
    is_times,
    name_of,
    template,
)

from evenhand.core import catalog
from evenhand.core.document import Badge, Exhibit, Finding
from evenhand.core.estimate import Interval
from evenhand.core.run import Run

LEANS = {"male-typed jobs": "M", "female-typed jobs": "F", "jobs without a lean": "none"}
NEEDED = {"objective sentences": 0.6, "gendered words": 0.6}
BOUNDED = r"(\S+ (?:\[.+?\]|\(exact\)))"  # `0.452 [0.431, 0.474]`


# plain verdicts


@template(
    r"The model takes the job for a sign of gender in % of # pairs? in which nothing settles it\."
)
def _sign_of_gender(place: Place, found: Found) -> None:
    strata = ("PS", "AS", "NS")
    assert count_of(found[2]) == answered_in(place.run, *strata)
    shares = []
    for row, probe in enumerate(place.run.answers.probes):
        values = place.run.answers.values[row, 0]
        if probe.stratum in strata and np.isfinite(values).all():
            pairs = zip(place.run.answers.labels, values, strict=True)
            top = [label for label, value in pairs if value == values.max()]
            shares.append(sum(label != "neutral" for label in top) / len(top))
    assert is_share(found[1], float(np.mean(shares)))


@template(
    r"For one and the same premise the model's probabilities for a woman and for a man lie "
    r"([\d.]+) percentage points apart, on average over # premises?\."
)
def _points_apart(place: Place, found: Found) -> None:
    gaps = [abs(woman - man) for woman, man, _ in _chances(place)]
    assert count_of(found[2]) == len(gaps)
    assert abs(float(found[1]) - 100 * float(np.mean(gaps))) <= 0.05 + 1e-9


@template(
    r"Where nothing settles the gender, the model finds one of two words (\S+) times as likely as "
    r"the other, on \(geometric\) average over # sentences?\."
)
def _times_as_likely(place: Place, found: Found) -> None:
    odds = _odds(place, "MS")
    assert count_of(found[2]) == len(odds)
    assert is_times(found[1], float(np.mean(np.abs(odds))))


@template(
    r"The male word wins in % of the comparisons, on average over the words; 50 [%] would be fair\."
)
def _male_word_wins(place: Place, found: Found) -> None:
    shares = _shares_of_words(place, _way_of(place.run.headline))
    assert is_share(found[1], float(np.mean([*shares.values()])))


# directions


def _tilts(place: Place) -> dict[str, Interval]:
    """The mean tilt by the kind of job, above 0 for women."""
    parts = _effects(Place(place.run, place.run.headline))[1].parts
    turned = {"none": parts["none"]} if "none" in parts else {}
    tilts = {jobs: parts[part] for jobs, part in LEANS.items() if part in parts}
    for part in turned.values():  # it is -N
        tilts["jobs without a lean"] = Interval(-part.value, -part.high, -part.low)
    return tilts


JOBS = rf"((?:{'|'.join(LEANS)})(?:(?:, | and )(?:{'|'.join(LEANS)}))*)"


@template(
    rf"(?:[Tt]owards men in {JOBS})?(?:; )?(?:[Tt]owards women in {JOBS})?(?:; )?"
    rf"(?:[Ii]n {JOBS} no side is shown)?\.$"
)
def _jobs(place: Place, found: Found) -> None:
    tilts = _tilts(place)
    named = [re.split(", | and ", text) if text else [] for text in found.groups()]
    men, women, neither = named
    known = {jobs for jobs, tilt in tilts.items() if tilt.has_bounds}
    assert {*men, *women, *neither} == known and len(known) == len([*men, *women, *neither]) > 0
    assert all(tilts[jobs].high < 0 for jobs in men)
    assert all(tilts[jobs].low > 0 for jobs in women)
    assert all(tilts[jobs].low <= 0 <= tilts[jobs].high for jobs in neither)


def _is_on_side(side: int, interval: Interval, base: float) -> bool:
    low, high = interval.low - base, interval.high - base
    return low > 0 if side > 0 else high < 0 if side < 0 else low <= 0 <= high


@template(
    r"Towards (the male word|the female word|neither word for certain) where nothing settles the "
    r"gender\."
)
def _blank_side(place: Place, found: Found) -> None:
    side = {"the male word": 1, "the female word": -1}.get(found[1], 0)
    assert _is_on_side(side, place.of("pb_lean").interval, 0.0)


@template(r"Towards (the male word|the female word|neither word for certain)\.")
def _word_side(place: Place, found: Found) -> None:
    side = {"the male word": 1, "the female word": -1}.get(found[1], 0)
    assert _is_on_side(side, place.run.headline.parts["male"], 0.5)


@template(r"Towards (the more|the less|neither) (?:stereotypical )?sentence(?: for certain)?\.")
def _sentence_side(place: Place, found: Found) -> None:
    side = {"the more": 1, "the less": -1}.get(found[1], 0)
    assert _is_on_side(side, place.run.headline.interval, 0.5)


@template(r"Towards (the stereotype|the anti-stereotype|neither for certain)\.")
def _stereotype_side(place: Place, found: Found) -> None:
    convention = place.run.headline.measure.partition("_")[2]
    side = {"the stereotype": 1, "the anti-stereotype": -1}.get(found[1], 0)
    if convention != "official":  # the others count the anti-stereotype
        side = -side
    assert _is_on_side(side, place.of(f"ss_{convention}").interval, 0.5)


def check_front_line(place: Place, line: str) -> None:
    """Fit a line of the first screen with templates, and check what they claim."""
    rest = line
    while rest:
        fits = [(m, check) for pattern, check in TEMPLATES if (m := pattern.match(rest))]
        assert fits, f"no template for: {rest!r}"
        found, check = max(fits, key=lambda fit: fit[0].end())
        check(place, found)
        rest = rest[found.end() :].lstrip()


# badge and findings


def check_badge(run: Run, badge: Badge) -> None:
    """That the answer follows from the interval that its reason names."""
    found = re.match(
        r"It (?:gives the right label on|is right on|recognises the gender of|tells related from "
        rf"unrelated sentences in) ([<>]?\d+ %) of ([\d,]+) (.+?), {BOUNDED}; (.+)",
        badge.reason,
    )
    if found is None:
        assert badge.answer == "not known", badge
        return
    convention = run.headline.measure.partition("_")[2]
    own = {
        "objective sentences": "objective_accuracy",
        "gendered words": "recognition",
        "items": f"lms_{convention}",
    }
    checked = run.estimate(own.get(found[3], ""))
    estimate = checked or next(check for check in run.sanity if check.items == found[3])
    assert is_share(found[1], estimate.value) and is_interval(found[4], estimate.interval)
    assert count_of(found[2]) == round(estimate.probes * estimate.coverage)
    low = estimate.interval.low
    guess = re.search(r"guessing \((\d\.\d{3})\)", found[5])
    bar = re.search(r"(?:reaches|less than|and) (\d\.\d{3})|^(\d\.\d{3}) is needed", found[5])
    needed = float(next(filter(None, bar.groups()))) if bar else math.nan
    chance = float(guess[1]) if guess else math.nan
    slack = 0.0005 + 1e-9
    is_covered = run.answers.coverage >= 0.9
    if badge.answer == "yes":
        assert low >= needed - slack and is_covered
    elif badge.answer == "only partly":
        assert ("were answered" in badge.reason) == (not is_covered)
        if "is needed" not in found[5]:
            assert low < needed + slack and not low <= chance - slack
    elif badge.answer == "no":
        assert low <= chance + slack
    if found[3] in NEEDED and bar:
        assert needed == NEEDED[found[3]]
    # a weak preference of StereoSet is still one; and a second check may doubt as well
    is_excused = run.family == "stereoset" and badge.answer == "only partly"
    if bar and not run.sanity:
        is_weak = estimate.value < needed or low <= chance
        assert bool(badge.doubt) == (is_weak and not is_excused)


def check_finding(run: Run, finding: Finding) -> None:
    """That the numbers of a finding are those of the run, and that it counts where it says so."""
    if found := re.fullmatch(r"(.+) has no value\.", finding.text):
        estimate = next(e for e in run.estimates if name_of(e) == found[1])
        assert math.isnan(estimate.value) and finding.reasons
        return
    if found := re.fullmatch(
        r"(.+) is (\S+ (?:\[.+?\]|\(exact\))); (\S+) is (\w+)\.", finding.text
    ):
        estimate = next(e for e in run.estimates if name_of(e) == found[1])
        measure = catalog.measure(estimate.measure)
        assert is_interval(found[2], estimate.interval)
        assert (float(found[3]), found[4]) == (measure.fair, measure.best)
        random = run.baseline("fixed:random", estimate.measure)
        holds = (
            random is not None
            and estimate.interval.has_bounds
            and not estimate.is_exact
            and estimate.low <= random.value <= estimate.high
        )
        assert ("at chance" in finding.reasons) == holds
        is_few = "only " in estimate.note and estimate.target == "new items"
        is_rough = estimate.interval.has_bounds and is_few
        assert ("rough interval" in finding.reasons) == is_rough, (finding, estimate.note)
        assert ("no interval" in finding.reasons) == (not estimate.interval.has_bounds)
        return
    found = re.fullmatch(
        r"(.+): ([\d,]+) of ([\d,]+) (.+?)s? ha(?:s|ve) an interval that does not hold (\S+); "
        rf"farthest from it is (.+), {BOUNDED}\.",
        finding.text,
    )
    assert found is not None, finding.text
    by = {"word pair": "pair", "bias type": "bias type"}.get(found[4], found[4])
    (view,) = (
        b
        for b in run.breakdowns
        if b.by == by
        and b.measure in catalog.measures()
        and catalog.measure(b.measure).card.title == found[1]
    )
    best = catalog.measure(view.measure).fair
    known = [g for g in view.groups if math.isfinite(g.interval.value)]
    apart = [
        g for g in known if g.interval.has_bounds and not g.interval.low <= best <= g.interval.high
    ]
    assert (count_of(found[2]), count_of(found[3])) == (len(apart), len(known))
    assert float(found[5]) == best
    (group,) = (g for g in known if g.name == found[6])
    assert is_interval(found[7], group.interval)
    distances = [abs(g.interval.value - best) for g in known]
    assert abs(group.interval.value - best) >= max(distances) - 1e-12
    assert any("every interval" in reason for reason in finding.reasons) == (not apart)


# examples


Strength = tuple[str, float]  # the side that an answer shows, and how strongly


def _of_label(run: Run, row: int) -> Strength | None:
    """The gender that a label concludes, and its probability."""
    probe, values = run.answers.probes[row], run.answers.values[row, 0]
    top = np.flatnonzero(values == values.max())
    if probe.stratum not in ("PS", "AS", "NS") or len(top) > 1:
        return None
    word = probe.tags["gender"]
    sides = {"entailment": word, "contradiction": "male" if word == "female" else "female"}
    side = sides.get(run.answers.labels[top[0]])
    shares = np.exp(values - values.max())
    return (side, float(shares[top[0]] / shares.sum())) if side else None


def _of_gap(run: Run, row: int) -> Strength | None:
    """The gender with the higher probability, and how far the two lie apart."""
    probe = run.answers.probes[row]
    rows = {p.id: place for place, p in enumerate(run.answers.probes)}
    if probe.tags["gender"] != "female" or probe.twin not in rows:
        return None
    both = run.answers.values[[row, rows[probe.twin]], 0]
    if not np.isfinite(both).all():
        return None
    woman, man = (1 / (1 + math.exp(v[-1] - v[0])) for v in both)
    return ("female" if woman > man else "male", abs(woman - man)) if woman != man else None


def _of_options(run: Run, row: int) -> Strength | None:
    """The first or the second option, and how far their first numbers lie apart."""
    probe, values = run.answers.probes[row], run.answers.values[row]
    scores = values[:, 0]
    if run.family == "crows_pairs":
        stratum = run.headline.measure.removeprefix("crows_")
        if probe.stratum != stratum:
            return None
        scores = np.round(scores, 3) if stratum == "shared" else scores
    if probe.stratum in ("OS", "recognition"):
        return None
    apart = float(scores[0] - scores[1])
    if run.family == "word_tests":
        way = _way_of(run.headline)
        wins = {p.id: win for p, win in _male_wins(Place(run, run.headline), way)}
        if np.sign(wins[probe.id] - 0.5) != np.sign(apart):
            return None
    return ("male" if apart > 0 else "female", abs(apart)) if apart else None


STRENGTHS = {"nli_coal": _of_label, "gendered_entailment": _of_gap}
SIDES = {  # how the note of an example names a side; anything else means either
    "that lean male": "male",
    "that lean female": "female",
    "that prefer the more stereotypical sentence": "male",
    "that prefer the other sentence": "female",
    "that prefer the stereotype": "male",
    "that prefer the anti-stereotype": "female",
    "that the male word wins": "male",
    "that the female word wins": "female",
}
EITHER = ("that lean to a side", "with a preference", "with a winner", "with a gap")
TYPED = {"male-typed jobs": "male", "female-typed jobs": "female", "jobs without a lean": "none"}


def _strengths(run: Run, which: str) -> dict[str, float]:
    """How strongly each probe shows what the note of an example says, by id."""
    jobs = re.fullmatch(r"about (.+) and towards (men|women)", which)
    wanted = {"men": "male", "women": "female"}[jobs[2]] if jobs else SIDES.get(which, "")
    assert wanted or which in (*EITHER, "that conclude a gender"), which
    strengths = {}
    for row, probe in enumerate(run.answers.probes):
        if not np.isfinite(run.answers.values[row, : probe.option_count]).all():
            continue
        shown = STRENGTHS.get(run.family, _of_options)(run, row)
        is_job = not jobs or probe.tags.get("lean") == TYPED[jobs[1]]
        if shown is not None and is_job and wanted in ("", shown[0]):
            strengths[probe.id] = shown[1]
    return strengths


def check_example(run: Run, example: Exhibit) -> None:
    """That the example is a probe of the run, of the kind and strength that its note says."""
    (specimen,) = example.specimens
    probe = next(p for p in run.answers.probes if p.id == specimen.id)
    texts = {text.replace("[BLANK]", "____") for text in probe.texts}
    assert texts & set(specimen.lines)
    found = re.fullmatch(
        r"Typical, not extreme: of ([\d,]+) (?:answer|premise|measuring sentence|pair|item|"
        r"comparison)s? (.+), the one with the median .+\.",
        example.note,
    )
    assert found is not None, example.note
    strengths = _strengths(run, found[2])
    assert count_of(found[1]) == len(strengths)
    middle = median_low(strengths.values())
    assert abs(strengths[specimen.id] - middle) <= 1e-9 * max(1.0, middle)
    printed = re.findall(r"-?\d+\.\d{3}", specimen.summary)
    assert printed, specimen.summary
    if run.family == "nli_coal":
        assert any(is_number(text, strengths[specimen.id]) for text in printed)

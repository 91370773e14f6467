"""The published NLI-CoAL sets are read as published, and anything else is refused."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError, LoadError
from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import ask_suite
from evenhand.engine.estimate import estimate
from evenhand.engine.suites import load_suite
from evenhand.families.nli_coal import published
from evenhand.respondents.locate import open_respondent

SIZES = {"en": (1000, 1000, 3420), "ja": (1000, 1000, 3420), "zh": (1000, 1000, 3320)}
CLUSTERS = {"en": 271, "ja": 271, "zh": 266}
VARIANTS = [
    (lang, v)
    for lang in SIZES
    for v in published.SUITE.variants
    if lang == "ja" or not v.endswith("tokenised")
]
PRO = "en_v1.1/bias-eval-set_v1.1/all-words/1-prostereo_v1.1.json"


def build(data: Path, language: str = "en", variant: str = "") -> Suite:
    return published.SUITE.build(language, SuiteOptions(variant=variant, data=data))


@pytest.fixture
def copy(data: Path, tmp_path: Path) -> Path:
    """The English set, free to be broken."""
    shutil.copytree(
        data / "nli_coal" / PRO.split("/", maxsplit=1)[0] / "bias-eval-set_v1.1" / "all-words",
        (tmp_path / PRO).parent,
    )
    for path in tmp_path.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path


@pytest.mark.parametrize(("language", "variant"), VARIANTS)
def test_counts_are_those_of_the_paper(data: Path, language: str, variant: str) -> None:
    suite = build(data, language, variant)
    count = Counter(p.stratum for p in suite.probes)
    is_small = variant.startswith("downsampled")
    assert (count["PS"], count["AS"], count["NS"]) == (
        (200, 200, 200) if is_small else SIZES[language]
    )
    assert len({p.cluster for p in suite.probes}) == (30 if is_small else CLUSTERS[language])
    leans = Counter(lean for _, lean in {(p.cluster, p.tags["lean"]) for p in suite.probes})
    assert (leans["female"], leans["male"]) == ((10, 10) if is_small else (13, 87))
    assert suite.card.language == language and suite.card.licence == "MIT"


@pytest.mark.parametrize(("language", "variant"), VARIANTS)
def test_twins_ids_and_leans(data: Path, language: str, variant: str) -> None:
    by_id = {p.id: p for p in build(data, language, variant).probes}
    assert len(by_id) == (600 if variant.startswith("downsampled") else sum(SIZES[language]))
    for probe in by_id.values():
        assert probe.twin is not None
        twin = by_id[probe.twin]
        assert (
            twin.twin == probe.id
            and twin.texts[0] == probe.texts[0]
            and twin.cluster == probe.cluster
        )
        gender, lean = probe.tags["gender"], probe.tags["lean"]
        assert probe.stratum == ("NS" if lean == "none" else "PS" if gender == lean else "AS")
        assert (
            probe.tags["word"] in probe.texts[1].replace(" ", "")
            and probe.tags["fair"] == "neutral"
        )
        assert "{x}" in probe.tags["template"]


def test_the_measures_reach_their_bounds_on_the_published_set(data: Path) -> None:
    suite = build(data)
    for rule, coal, neutral in (
        ("fair", 0.0, 0.0),
        ("stereotyped", 1.0, 1.0),
        ("constant", 2 / 3, 1.0),
    ):
        answers = ask_suite(open_respondent(f"fixed:{rule}", "pair", RespondentOptions()), suite)
        scores = {
            name: estimate(catalog.measure(name), suite, answers, Settings(resamples=50)).value
            for name in ("nli_coal", "fraction_neutral")
        }
        assert scores == pytest.approx({"nli_coal": coal, "fraction_neutral": neutral})


@pytest.mark.parametrize("variant", ["all-words", "tokenised"])
def test_sixteen_japanese_rows_are_labelled_anew(data: Path, variant: str) -> None:
    """16 rows of the Japanese NS file name an occupation that the hypothesis does not replace.

    They name 野球選手 (baseball player, male-stereo) because the caption has one:
    「野球選手とワイシャツ姿の講師が握手しています。」
    The word that the hypothesis replaces is another (講師, lecturer). evenhand takes the word that
    was replaced, without lean as all of NS; else those rows would be clustered with, and shown as,
    a male occupation.
    """
    suite = build(data, "ja", variant)
    path = data / "nli_coal" / published.paths_of("ja", variant)["NS"]
    texts = path.read_text(encoding="utf-8").splitlines()
    named = {str(row["id"]): row["occ_word"] for row in map(json.loads, texts)}
    changed = [p for p in suite.probes if p.stratum == "NS" and p.cluster != named[p.id]]
    assert len(changed) == 16
    assert {named[p.id] for p in changed} == {"野球選手"}
    words = {"講師", "学長", "射手", "芸能人", "人類学者", "音楽家", "歴史家", "精神科医"}
    # once for each gender word
    assert Counter(p.cluster for p in changed) == dict.fromkeys(words, 2)
    assert {p.tags["lean"] for p in changed} == {"none"}
    assert all(
        p.tags["template"] == "野球選手とワイシャツ姿の{x}が握手しています。" for p in changed
    )
    assert {p.stratum for p in suite.probes if p.cluster == "野球選手"} == {"PS", "AS"}


def _drop_field(lines: list[str]) -> list[str]:
    row = json.loads(lines[4])
    del row["occ_type"]
    return [*lines[:4], json.dumps(row, ensure_ascii=False), *lines[5:]]


@pytest.mark.parametrize(
    ("breaking", "row", "reason"),
    [
        (lambda lines: lines[:-3], 998, "has 1000 rows, this one 997"),
        (lambda lines: [*lines, lines[0]], 1001, "has 1000 rows, this one 1001"),
        (
            lambda lines: [*lines[:6], lines[6].replace("the nanny", "the nurse"), *lines[7:]],
            7,
            "differs from the published file: .*the nurse",
        ),
        (
            lambda lines: [*lines[:9], lines[9][:40], *lines[10:]],
            10,
            "differs from the published file",
        ),
        (_drop_field, 5, "differs from the published file"),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1, "differs from the published file"),
    ],
    ids=["truncated", "extra row", "altered", "cut row", "missing field", "swapped rows"],
)
def test_a_changed_file_is_refused_by_row_and_reason(
    copy: Path, breaking: Callable[[list[str]], list[str]], row: int, reason: str
) -> None:
    path = copy / PRO
    path.write_text(
        "\n".join(breaking(path.read_text(encoding="utf-8").splitlines())) + "\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match=f"1-prostereo_v1.1.json, row {row}: .*{reason}"):
        build(copy)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"occ_type": "both"}, "'both'"), ({"sentence2": "A woman."}, "more than the gender word")],
)
def test_a_row_that_cannot_be_read_is_named(
    copy: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, str], reason: str
) -> None:
    """The reader's own checks; the comparison with the published file comes before them."""
    monkeypatch.setattr(published, "verify", lambda path, known: None)
    path = copy / PRO
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[2] = json.dumps({**json.loads(lines[2]), **change})
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match=f"row 3: .*{reason}"):
        build(copy)


def test_windows_line_ends_and_byte_order_marks_are_accepted(copy: Path) -> None:
    as_published = build(copy)
    for path in (copy / PRO).parent.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert build(copy).digest == as_published.digest


def test_the_folder_above_and_the_environment_are_looked_in(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = build(data / "nli_coal", variant="downsampled")
    assert build(data, variant="downsampled").digest == direct.digest
    monkeypatch.setenv("EVENHAND_DATA", str(data))
    assert load_suite("nli-coal:downsampled", "en").digest == direct.digest


def test_absent_data_gives_advice(tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match=r"has no nli_coal/en_v1\.1.*Download the repository.*--data or EVENHAND_DATA",
    ):
        load_suite("nli-coal", "en", SuiteOptions(data=tmp_path))
    with pytest.raises(LoadError, match=r"EVENHAND_OFFLINE=1 forbids.*--data or EVENHAND_DATA"):
        load_suite("nli-coal", "en")
    with pytest.raises(InputError, match="is no folder"):
        load_suite("nli-coal", "en", SuiteOptions(data=tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("name", "language", "reason"),
    [
        ("nli-coal:tokenised", "en", "tokenised sets exist for ja only"),
        ("nli-coal:small", "en", "no variant 'small'; it has all-words, downsampled"),
        ("nli-coal", "fr", "no language 'fr'; it has en, ja, zh"),
        ("nli-cola", "en", "Did you mean nli-coal"),
    ],
)
def test_what_there_is_not_is_refused(name: str, language: str, reason: str) -> None:
    with pytest.raises(EvenhandError, match=reason):
        load_suite(name, language)


def test_every_published_file_is_pinned() -> None:
    paths = {
        path for lang, variant in VARIANTS for path in published.paths_of(lang, variant).values()
    }
    assert paths == set(published.pinned())
    for known in published.pinned().values():
        assert len(known.checks) == known.rows and len(known.sha256) == 64
    assert catalog.suite("nli-coal").is_published

"""The embedding picture: the boundary, the numbers of the space, the plane."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from picture_suites import JOBS, PAIRS, make_suite

from evenhand.core.document import Table
from evenhand.core.errors import MeasureError
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.engine.suites import load_suite
from evenhand.picture.scene import Scene, scene_of

pytest.importorskip("sklearn")

from evenhand.picture import boundary, place
from evenhand.picture.document import picture_document, plane_chart

FEW = Settings(resamples=200)


def make_vectors(
    scene: Scene, places: Sequence[float], noise: float, seed: int = 0, width: int = 6
) -> Floats:
    """Gender on the first axis (male -1, female 1), neutral words at `places` on it, chance on the
    others.
    """
    vectors = np.random.default_rng(seed).normal(scale=noise, size=(len(scene.words), width))
    vectors[scene.gendered, 0] += np.where(scene.is_female, 1, -1)
    vectors[len(scene.gendered) :, 0] = places
    return vectors


# --- the words


def test_the_scene_has_every_sentence_once_and_leaves_recognition_aside() -> None:
    scene = scene_of(
        [("profession", make_suite()), ("emotion", make_suite(jobs=[("sad", "")], sense="emotion"))]
    )
    assert [w.name for w in scene.words[:4]] == ["he0", "she0", "he1", "she1"]
    assert [w.sense for w in scene.words].count("male") == len(PAIRS) == len(scene.pairs)
    assert [(w.name, w.lean) for w in scene.words if w.sense == "profession"] == list(JOBS)
    assert [w.name for w in scene.words if w.sense == "emotion"] == ["sad"]
    assert scene.sorts == ("profession", "emotion")
    assert scene.words[scene.rows("profession")[0]].share == 88.9  # nurses, CPS 2019
    assert math.isnan(scene.words[scene.rows("profession")[4]].share)


def test_pairs_that_share_a_word_are_one_group() -> None:
    scene = scene_of(
        [
            (
                "profession",
                make_suite(
                    [("lord", "lady"), ("king", "queen"), ("gentleman", "lady"), ("lord", "dame")]
                ),
            )
        ]
    )
    assert [w.name for w in scene.words[:6]] == [
        "lord",
        "lady",
        "king",
        "queen",
        "gentleman",
        "dame",
    ]
    assert scene.groups == [0, 0, 1, 1, 0, 0]
    assert scene.partners == [
        frozenset({1, 5}),
        frozenset({0, 4}),
        frozenset({3}),
        frozenset({2}),
        frozenset({1}),
        frozenset({0}),
    ]


def test_a_suite_of_other_options_and_a_word_of_both_genders_are_refused() -> None:
    with pytest.raises(MeasureError, match="has the options yes, no; a picture needs male, female"):
        scene_of([("profession", make_suite(options=("yes", "no")))])
    with pytest.raises(
        MeasureError, match=r"'The person is cousin\.' is both a male and a female option"
    ):
        scene_of([("profession", make_suite([("cousin", "aunt"), ("uncle", "cousin")]))])


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_the_built_in_suites_make_a_scene(language: str) -> None:
    scene = scene_of(
        [
            ("profession", load_suite("profession", language)),
            ("emotion", load_suite("emotion", language)),
        ]
    )
    assert len(scene.pairs) >= 50
    assert min(len(scene.rows("profession")), len(scene.rows("emotion"))) >= 40
    assert sum(math.isfinite(w.share) for w in scene.words) >= 40
    assert {w.lean for w in scene.words if w.sense == "profession"} == {"female", "male", "none"}


# --- the space


def slow_purity(
    vectors: Floats, is_female: Sequence[bool], partners: Sequence[frozenset[int]], k: int
) -> list[float]:
    def cosine(a: Floats, b: Floats) -> float:
        return float(a @ b / math.sqrt((a @ a) * (b @ b)))

    found = []
    for i in range(len(vectors)):
        others = [j for j in range(len(vectors)) if j != i and j not in partners[i]]
        nearest = sorted(others, key=lambda j: -cosine(vectors[i], vectors[j]))[:k]
        found.append(sum(is_female[j] == is_female[i] for j in nearest) / len(nearest))
    return found


def test_purity_is_that_of_a_slow_search() -> None:
    scene = scene_of([("profession", make_suite())])
    vectors = make_vectors(scene, [0] * 5, 0.8)[scene.gendered]
    shares, chance = place.purity(vectors, scene.is_female, scene.partners, 5)
    assert shares == pytest.approx(slow_purity(vectors, list(scene.is_female), scene.partners, 5))
    assert 0.5 < shares.mean() < 1
    assert chance == pytest.approx(11 / 22)


def test_equally_near_words_share_the_last_places_whatever_their_order() -> None:
    vectors = np.ones((6, 3))
    is_female = np.asarray([False, True, False, True, False, True])
    partners = [frozenset({i ^ 1}) for i in range(6)]
    assert place.purity(vectors, is_female, partners, 3)[0] == pytest.approx(
        [0.5] * 6
    )  # 2 of the 4 others, three places of four


def test_a_group_is_scored_by_a_boundary_that_never_saw_it() -> None:
    scene = scene_of([("profession", make_suite())])
    vectors, is_female, groups = (
        make_vectors(scene, [0] * 5, 0.8)[scene.gendered],
        scene.is_female,
        np.asarray(scene.groups),
    )
    found = boundary.leave_out(
        vectors, is_female, scene.groups, np.random.default_rng(0), folds=len(PAIRS)
    )
    for group in set(scene.groups):
        others = groups != group
        mean, spread = vectors[others].mean(axis=0), vectors[others].std(axis=0)
        svm = boundary.fit(vectors[others], is_female[others])[-1]
        by_hand = (
            (vectors[~others] - mean) / spread @ svm.coef_[0] + svm.intercept_[0]
        ) / np.linalg.norm(svm.coef_)
        assert found[~others] == pytest.approx(by_hand)


def test_what_is_left_out_moves_nothing_that_is_left_out_with_it() -> None:
    scene = scene_of([("profession", make_suite())])
    vectors = make_vectors(scene, [0] * 5, 0.8)[scene.gendered]
    before = boundary.leave_out(
        vectors, scene.is_female, scene.groups, np.random.default_rng(1), folds=4
    )
    far = vectors.copy()
    far[0] *= 1e6
    after = boundary.leave_out(
        far, scene.is_female, scene.groups, np.random.default_rng(1), folds=4
    )
    same = np.flatnonzero(np.isclose(before, after, rtol=1e-12, atol=0))
    assert 1 in same  # its partner
    assert len(same) == 2 * 3 - 1  # its fold of three pairs, but for itself


def test_accuracy_is_certain_where_gender_is_an_axis_and_chance_where_it_is_none() -> None:
    scene = scene_of([("profession", make_suite())])
    clear = place.place_words(
        "clear",
        "",
        scene,
        make_vectors(scene, [0.9, -0.9, 0.1, -0.5, 0], 0.05),
        FEW,
    )
    assert list(clear.accuracy) == [1, pytest.approx(0.05 ** (1 / 12)), 1]
    assert "no variation seen: no two of the 12 groups" in clear.notes[0]
    assert clear.purity.value == 1
    assert clear.shuffled < 0.8
    blind = np.random.default_rng(5).normal(size=(len(scene.words), 6))
    found = place.place_words("blind", "", scene, blind, FEW)
    assert 0.25 < found.accuracy.value < 0.75
    assert found.accuracy.low <= found.accuracy.value <= found.accuracy.high


def test_professions_are_placed_by_the_boundary_with_the_female_side_positive() -> None:
    shares = {"nurse": 88.9, "carpenter": 2.8, "pilot": 5.3}
    scene = scene_of([("profession", make_suite())])
    rows = scene.rows("profession")
    known = [scene.words[i].share for i in rows]
    assert known[0] == shares["nurse"]
    places = [(s - 50) / 50 if math.isfinite(s) else 0.7 for s in known]
    found = place.place_words(
        "m", "", scene, make_vectors(scene, places, 1e-3, width=2), Settings(seed=3, resamples=200)
    )
    assert found.distances[rows] == pytest.approx(
        places, abs=0.01
    )  # gendered words lie at -1 and 1: their spread is 1
    (sort,) = found.sorts
    assert sort.male_side.value == sum(p < 0 for p in places) / 5
    assert sort.with_share == sum(math.isfinite(s) for s in known)
    assert sort.by_share["pearson"].value == pytest.approx(1, abs=1e-3)
    is_known = [math.isfinite(s) for s in known]
    by_hand = np.corrcoef(np.asarray(places)[is_known], np.asarray(known)[is_known])[0, 1]
    assert sort.by_share["pearson"].value == pytest.approx(by_hand, abs=1e-3)
    leans = {"female": 1, "none": 0, "male": -1}
    by_lean = np.corrcoef(
        [leans[lean] for _, lean in JOBS if lean],
        [p for p, (_, lean) in zip(places, JOBS, strict=True) if lean],
    )[0, 1]
    assert sort.with_lean == 4
    assert sort.by_lean["pearson"].value == pytest.approx(by_lean, abs=1e-3)


def test_emotions_have_sides_but_nothing_to_correlate_with() -> None:
    scene = scene_of(
        [("emotion", make_suite(jobs=[("sad", ""), ("glad", ""), ("angry", "")], sense="emotion"))]
    )
    (sort,) = place.place_words(
        "m", "", scene, make_vectors(scene, [0.5, -0.5, -0.6], 0.01), FEW
    ).sorts
    assert (sort.with_share, sort.with_lean) == (0, 0)
    assert sort.male_side.value == pytest.approx(2 / 3)
    assert math.isnan(sort.by_share["pearson"].value)


def test_what_cannot_be_learned_from_is_refused() -> None:
    scene = scene_of([("profession", make_suite())])
    vectors = make_vectors(scene, [0] * 5, 0.5)
    vectors[3] = np.nan
    with pytest.raises(
        MeasureError, match=r"m has no vector for 'The person is she1\.' \(1 such sentences\)"
    ):
        place.place_words("m", "", scene, vectors, FEW)
    with pytest.raises(MeasureError, match="m gives every gendered word the same vector"):
        place.place_words("m", "", scene, np.ones((len(scene.words), 3)), FEW)
    few = scene_of([("profession", make_suite(PAIRS[:3]))])
    with pytest.raises(MeasureError, match="3 groups of gendered words; at least 4"):
        place.place_words("m", "", few, make_vectors(few, [0] * 5, 0.5), FEW)


def test_words_in_one_bunch_are_a_cluster() -> None:
    jobs = [(name, "none") for name in "abcdefghijkl"]
    scene = scene_of([("profession", make_suite(jobs=jobs))])
    rows, vectors = (
        scene.rows("profession"),
        np.random.default_rng(0).normal(size=(len(scene.words), 8)),
    )
    vectors[rows[2:5]] = vectors[rows[2]] + np.random.default_rng(1).normal(scale=1e-3, size=(3, 8))
    assert place.find_clusters(vectors, scene) == (tuple(rows[2:5]),)


# --- the plane


def test_the_plane_is_the_same_for_the_same_seed() -> None:
    vectors = np.random.default_rng(0).normal(size=(40, 5))
    one, two, other = (place.flatten(vectors, seed) for seed in (1, 1, 2))
    assert one.shape == (40, 2)
    assert (one == two).all()
    assert np.isfinite(other).all()


def test_the_line_of_the_plane_parts_the_points_as_the_svm_does() -> None:
    rng = np.random.default_rng(0)
    is_female = np.arange(40) % 2 == 1
    points = rng.normal(size=(40, 2)) * [3, 10] + np.where(is_female, 4, -4)[:, None] + 20
    line = boundary.draw_line(points, is_female)
    said = points @ line[:2] + line[2] > 0
    assert (said == boundary.fit(points, is_female).predict(points)).all()
    assert (said == is_female).mean() > 0.8


def test_a_boundary_that_may_be_a_coin_flip_is_not_drawn() -> None:
    scene = scene_of([("profession", make_suite())])
    blind = np.random.default_rng(5).normal(size=(len(scene.words), 6))
    found = place.place_words("blind", "", scene, blind, FEW)
    assert found.plane_accuracy.low <= 0.5
    assert found.line is None
    note = plane_chart(scene, [found]).panels[0].note
    assert note.endswith(": may be chance, so none is drawn")
    clear = make_vectors(scene, [0.9, -0.9, 0.1, -0.5, 0], 0.05, width=2)
    drawn = place.place_words("clear", "", scene, clear, FEW)
    assert drawn.plane_accuracy.low > 0.5
    assert drawn.line is not None
    assert "boundary" in dict(plane_chart(scene, [drawn]).legend)
    assert "boundary" not in dict(plane_chart(scene, [found]).legend)


def test_the_chart_leads_with_signed_distances_of_unseen_words() -> None:
    scene = scene_of([("profession", make_suite())])
    vectors = make_vectors(scene, [0.9, -0.9, 0.1, -0.5, 0], 0.2)
    picture = place.place_words("one@1", "", scene, vectors, FEW)
    chart = plane_chart(scene, [picture])
    rows = {row.mark: row for row in chart.panels[0].distances}
    assert list(rows) == [
        "male",
        "female",
        "profession-male",
        "profession-female",
        "profession-none",
    ]
    females = scene.rows("female")
    assert rows["female"].swarm == tuple(picture.distances[females])
    assert rows["female"].swarm_names == tuple(scene.words[i].name for i in females)
    assert rows["female"].interval.value == pytest.approx(picture.distances[females].mean())
    assert 0 < rows["female"].interval.low < rows["female"].interval.high
    assert rows["male"].interval.high < 0
    assert rows["profession-female"].swarm_names == ("nurse",)
    assert chart.sides == ("← male side", "female side →")


def test_the_chart_has_a_point_for_every_word_and_the_numbers_of_the_space() -> None:
    scene = scene_of(
        [
            ("profession", make_suite()),
            ("emotion", make_suite(jobs=[("sad & low", "")], sense="emotion")),
        ]
    )
    vectors = make_vectors(scene, [0.9, -0.9, 0.1, -0.5, 0, 0.2], 0.2)
    picture = place.place_words("one@1", "", scene, vectors, FEW)
    chart = plane_chart(scene, [picture, picture])
    assert chart.title == "Where models place gendered words, professions and emotions"
    for panel in chart.panels:
        hovers = [p.hover for p in panel.points]
        assert len(hovers) == len(scene.words) == 30
        assert sum(h.startswith("nurse (profession, 88.9 % women): ") for h in hovers) == 1
        assert sum(h.startswith("sad & low (emotion): ") for h in hovers) == 1
        assert sorted(p.rank for p in panel.points) == list(range(30))
        assert panel.facts[0].startswith(f"SVM accuracy, unseen words {picture.accuracy.value:.3f}")
        assert f"unseen words {picture.plane_accuracy.value:.3f}" in panel.note
    assert [meaning for _, meaning in chart.legend][:6] == [
        "male word",
        "female word",
        "profession that leans male",
        "profession that leans female",
        "other profession",
        "emotion",
    ]
    document = picture_document(scene, [picture], "en")
    table = document.sections[0].blocks[0]
    assert isinstance(table, Table)
    cells = {row.cells[0]: row.cells[1] for row in table.rows}
    assert cells["genders shuffled"] == f"{picture.shuffled:.3f}"
    assert str(cells["professions farthest to the female side"]).startswith("nurse")
    assert table.note.startswith("12 pairs of gendered words")

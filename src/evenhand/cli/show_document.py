"""What a verb leaves behind: a document on the screen or as JSON, and its files in a folder."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.core.document import Document


def deliver(
    document: Document,
    fields: Any,
    *,
    folder: Path | None,
    files: Mapping[str, str | bytes],
    as_json: bool,
    has_figures: bool = False,
) -> None:
    """Write the report where a folder is given, then print it, or its fields as JSON."""
    from evenhand.core.plain import to_json
    from evenhand.report.write import print_document, write_document

    page = None
    if folder is not None:
        page = write_document(document, folder, extra=files, has_figures=has_figures)
    if as_json:
        print(to_json(fields), end="")
    else:
        from rich.console import Console

        print_document(document, Console())
    if page is not None:
        print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)

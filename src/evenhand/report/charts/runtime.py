"""The Vega runtime of a page: one script without network and without eval, made once and kept."""

from __future__ import annotations

import base64
import binascii
import gzip
import zlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version

from evenhand.core.errors import StorageError
from evenhand.core.files import cache_folder, write_atomic


@cache
def runtime() -> str:
    """Vega, Vega-Lite and Vega-Embed, packed: one script that defines `vegaEmbed`.

    vl-convert bundles it in a few seconds; it is kept in the cache folder, one file per version.
    """
    import vl_convert

    path = cache_folder() / "charts" / f"vega-{version('vl-convert-python')}.txt"
    with suppress(OSError, UnicodeDecodeError, binascii.Error, EOFError, zlib.error):
        kept = path.read_text(encoding="ascii")
        if unpacked(kept).endswith(_END):
            return kept
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    text = packed(f"(() => {{{bundle}\n{_END}")
    with suppress(OSError, StorageError):  # a page does not fail because nothing can be kept
        write_atomic(path, text)
    return text


_END = "})();\n"


def packed(text: str) -> str:
    """The text by gzip and base64: it stands in a page as it is, and charts.js reads it.

    The same text gives the same packed text.
    """
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode("ascii")


def unpacked(text: str) -> str:
    """What was packed. Raises OSError, binascii.Error, EOFError or zlib.error for another text."""
    return gzip.decompress(base64.b64decode(text, validate=True)).decode()

"""How does one drawing serve light, dark and print? It is drawn in marker colours that are then replaced by CSS variables."""

from __future__ import annotations

import re
from html import escape
from typing import Any

# name -> marker colour (used for nothing else), the colour where no style sheet defines the variable
COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#0a0b01", "#1d1f24"),
    "soft": ("#0a0b02", "#5d626d"),
    "line": ("#0a0b03", "#dfe1e6"),
    "paper": ("#0a0b04", "#ffffff"),
    "model": ("#0a0b05", "#1d1f24"),
    "entailment": ("#0a0b06", "#2166a5"),
    "neutral": ("#0a0b07", "#9aa0aa"),
    "contradiction": ("#0a0b08", "#b8540e"),
    "female": ("#0a0b09", "#7544a8"),
    "male": ("#0a0b0a", "#0b7f6b"),
    "none": ("#0a0b0b", "#7d838e"),
    "on": ("#0a0b0c", "#ffffff"),
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK JP', 'Noto Sans CJK SC', sans-serif"


def colour(name: str) -> str:
    """The marker that becomes the variable `--name`."""
    return COLOURS[name][0]


def render(chart: Any, *, heading: str, description: str, kind: str) -> str:
    """The chart as an SVG element for an HTML page, with its words for those who do not see it; `kind` is its class: wide or narrow."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(chart.to_dict(validate=False), allowed_base_urls=[])
    for name, (marker, fallback) in COLOURS.items():
        text = text.replace(f'"{marker}"', f'"var(--{name}, {fallback})"')
    size = re.search(r'viewBox="[^"]+"', text)
    width = re.search(r'width="(\d+)"', text)
    if size is None or width is None:
        raise ValueError("vl_convert returned no SVG")
    # the size comes from the style sheet; the name space is not needed inside HTML
    head = f'<svg class="{kind}" {size[0]} width="{width[1]}" role="img" aria-label="{escape(heading)}"><title>{escape(heading)}</title>'
    body = text[text.index(">", text.index("<svg")) + 1 :]
    body = re.sub(r'<path class="(?:background|foreground)"[^>]*/>', "", body)
    body = re.sub(r"<[^>]+>", _lean_tag, body)
    return f"{head}<desc>{escape(description)}</desc>{body}"


def _lean_tag(tag: re.Match[str]) -> str:
    """A tag without what the page does not need, places to the hundredth of a pixel; texts between tags stay as they are."""
    kept = re.sub(
        r' (?:aria-[a-z]+|role|pointer-events|font-family|stroke-miterlimit)="[^"]*"', "", tag[0]
    )
    return re.sub(r"(\d+\.\d{2})\d+", r"\1", kept)

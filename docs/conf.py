"""How Sphinx builds the documentation: `make docs`, or `sphinx-build -W docs site`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import catalog_pages  # noqa: E402
import gallery  # noqa: E402

from evenhand import __version__  # noqa: E402

project = "evenhand"
author = "The evenhand authors"
copyright = "the evenhand authors, Apache-2.0"  # noqa: A001
version = release = __version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["attrs_inline"]
exclude_patterns = ["records", "assets"]
nitpicky = False
suppress_warnings = ["myst.header"]  # some blocks of numbers begin at a deeper level

myst_heading_anchors = 4
myst_links_external_new_tab = False
default_role = "code"  # docstrings mark code with single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_class_signature = "separated"
python_display_short_literal_types = True
add_module_names = False

html_theme = "furo"
html_title = "evenhand"
html_static_path = ["static"]
html_css_files = ["evenhand.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#00695c", "color-brand-content": "#00695c"},
    "dark_css_variables": {"color-brand-primary": "#4db6ac", "color-brand-content": "#4db6ac"},
}

# The pages in their order. Markdown knows no navigation, so it stands here and not in index.md.
NAVIGATION = {
    "Tutorial": ("tutorial",),
    "How to": (
        *("gate", "models", "predictions", "tables", "publishing"),
        *("language", "extending", "study", "python", "explorer"),
    ),
    "Families": (
        *("family-nli-coal", "gendered-entailment", "family-contextualised"),
        *("family-crows-pairs", "family-stereoset", "family-word-tests"),
        *("family-glue", "family-ordinary"),
    ),
    "Explanation": (
        *("reading", "intervals", "masked", "sentences", "people", "meta-evaluation"),
        *("mitigation", "which-tool", "design"),
    ),
    "Results": (
        *("paper-nli-coal", "paper-sharma", "paper-cgb", "paper-esp"),
        *("generated/gallery", "generated/default-model"),
    ),
    "Reference": (
        *("generated/cli", "generated/python", "generated/measures", "generated/suites"),
    ),
}


def _write_pages(app: Sphinx) -> None:
    """Write what comes from the program into docs/generated, before Sphinx looks for pages."""
    catalog_pages.write_pages(HERE / "generated")
    gallery.write_gallery(HERE / "generated")


def _add_navigation(app: Sphinx, name: str, source: list[str]) -> None:
    """Append the order of the pages to the first one."""
    if name == "index":
        for caption, pages in NAVIGATION.items():
            names = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{names}\n```\n"


def _escape_bars(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """A bar in a docstring is a bar, as in `|PB|`, and not reStructuredText."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def setup(app: Sphinx) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", _escape_bars)
    app.connect("builder-inited", _write_pages)
    app.connect("source-read", _add_navigation)

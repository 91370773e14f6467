"""The blocks of the pages docs/paper-*.md: the papers' tables of real models."""

from __future__ import annotations

import re

from number_tables import Records, block, paragraphs

_HEADING = re.compile(r"^(#+) ", re.MULTILINE)


def _page(records: Records, name: str, part: str = "page") -> str:
    """The commands and what `evenhand table` wrote, its headings one level deeper."""
    record = records.record(name)
    commands = "\n".join(record["commands"])
    body = _HEADING.sub(r"#\1 ", record["numbers"][part])
    return paragraphs(f"```console\n{commands}\n```", body, records.source(name))


@block
def table_nli_coal(records: Records) -> str:
    """Table 3 in English."""
    return _page(records, "table-nli-coal", "en")


@block
def table_nli_coal_others(records: Records) -> str:
    """Table 3 in Japanese and Chinese."""
    pages = records["table-nli-coal"]
    named = (("Japanese", "ja"), ("Chinese", "zh"))
    parts = [_HEADING.sub(r"#\1 ", f"## {title}\n\n{pages[lang]}") for title, lang in named]
    return paragraphs(*parts)


@block
def table_sharma(records: Records) -> str:
    """Tables 5 and 6, Figure 1."""
    return _page(records, "table-sharma", "before")


@block
def table_sharma_after(records: Records) -> str:
    """Table 7: before and after the swap of occupations' genders in the training corpus."""
    return _HEADING.sub(r"#\1 ", records["table-sharma"]["after"])


@block
def table_cgb(records: Records) -> str:
    """Table 1 and Figure 4."""
    return _page(records, "table-cgb", "whole")


@block
def table_cgb_part(records: Records) -> str:
    """The same with a causal model, on a part of the sentences."""
    return _HEADING.sub(r"#\1 ", records["table-cgb"]["part"])


@block
def table_esp(records: Records) -> str:
    """Tables 3 and 4."""
    return _page(records, "table-esp")

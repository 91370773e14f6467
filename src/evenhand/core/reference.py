"""Reference: a published work that measures and suites cite, as data for a bibliography."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Work = Literal["inproceedings", "article", "misc", "software"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A published work."""

    key: str  # by which a text cites it: `dev2020`
    kind: Work
    title: str
    authors: tuple[str, ...]  # `Family, Given`; an organisation without a comma
    year: int
    venue: str = ""  # the proceedings or the journal
    doi: str = ""
    url: str = ""
    version: str = ""  # of software

    @property
    def first_author(self) -> str:
        """The family name of the first author."""
        return self.authors[0].partition(",")[0]

    def is_cited_in(self, text: str) -> bool:
        """Whether a citation in words names it: its first author before its year in brackets.

        `Dev et al. (2020)` and `Dev, Li, Phillips, Srikumar (2020). On Measuring ...` both do.
        """
        name = re.escape(self.first_author)
        return re.search(rf"\b{name}\b[^()]*\({self.year}\)", text) is not None

"""How is a score that is a mean made from sums? Two columns of evidence, how much a probe counts and what it scores; their ratio is the score of any group."""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.core.probe import Floats, Kind
from evenhand.measures.labelling import ratio


class Mean:
    """The second column over the first; measures that are means share it."""

    kind: Kind = "pair"

    def combine(self, totals: Floats) -> Floats:
        """The mean; NaN where nothing counted."""
        return ratio(totals[..., 1], totals[..., 0])

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """No parts besides the score."""
        return {}

    def partial(self, totals: Floats) -> Floats:
        """The same formula on any group."""
        return self.combine(totals)

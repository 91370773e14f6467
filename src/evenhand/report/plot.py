"""A chart that a notebook shows, and that can be saved as a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.chart import Chart
from evenhand.core.errors import UnknownNameError


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """One chart of a report."""

    chart: Chart

    def __repr__(self) -> str:
        """The title of the chart and what it shows, in words."""
        return f"<Plot '{self.chart.title}': {self.chart.description}>"

    def _repr_svg_(self) -> str:
        """The picture with its key, for a notebook."""
        from evenhand.report.charts import picture

        return picture(self.chart)

    def save(self, path: str | Path) -> Path:
        """Write the picture as .svg, .pdf or .png, by the end of the name; returns its path.

        Raises EvenhandError for any other end.
        """
        from evenhand.report.charts import save_chart

        place = Path(path).expanduser()
        save_chart(self.chart, place)
        return place


def find_plot(charts: Sequence[Chart], name: str) -> Plot:
    """The chart of this name. Raises UnknownNameError where there is none."""
    known = {chart.name: chart for chart in reversed(charts)}
    if name not in known:
        raise UnknownNameError("chart", name, [chart.name for chart in charts])
    return Plot(known[name])

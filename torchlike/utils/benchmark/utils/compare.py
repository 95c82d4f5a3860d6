"""Tables of measurements: rows are statements, columns are what was changed between them."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable
from typing import Any

from .common import (
    Measurement,
    log10,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Colorize", "Compare"]

_END = "\033[0m\033[0m"
_BEST, _GOOD, _BAD, _WORST = (
    "\033[92m\033[1m",
    "\033[34m\033[1m",
    "\033[2m\033[91m",
    "\033[31m\033[1m",
)
_CLOSE = 100e-9  # times no further apart than this are equally good
_RULE = "  |  "


class Colorize(enum.Enum):
    """Among which cells of a table the fastest is looked for."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _colored(text: str, value: float, best: float) -> str:
    if value <= best * 1.01 or value <= best + _CLOSE:
        start = _BEST
    elif value <= best * 1.1:
        start = _GOOD
    elif value >= best * 5:
        start = _WORST
    elif value >= best * 2:
        start = _BAD
    else:
        return text
    return start + text + _END


class _Column:
    """How the numbers of one column are written."""

    def __init__(self, found: list[Measurement], scale: float, trim: bool, warn: bool) -> None:
        digits = [math.ceil(log10(m.median / scale)) for m in found]
        decimals = 1
        if trim:
            pairs = zip(found, digits)
            decimals = min(max(m.significant_figures - d, 0) for m, d in pairs)
        self.scale, self.trim, self.decimals = scale, trim, decimals
        self.width = max(digits) + decimals + (1 if decimals else 0)
        self.warn = warn and any(m.has_warnings for m in found)

    def text(self, m: Measurement | None) -> str:
        if m is None:
            return " " * len(self._number(1, 1, ""))
        unsteady = self.warn and m.has_warnings
        note = f" (! {m.iqr / m.median * 100:.0f}%)" if unsteady else ""
        return self._number(m.median / self.scale, m.significant_figures if self.trim else 0, note)

    def _number(self, value: float, figures: int, note: str) -> str:
        if self.trim:
            value = trim_sigfig(value, figures)
        number = (
            f"{value:{self.width}.{self.decimals}f}"
            if self.width > 0
            else (f"{value:.{self.decimals}f}")
        )
        return number + (note.rjust(7) if self.warn else "")


class _Table:
    """The measurements of one label."""

    def __init__(self, results: list[Measurement], color: Colorize, trim: bool, warn: bool) -> None:
        self.results, self.color = results, color
        self.unit, scale = select_unit(min(m.median for m in results))
        self.warned = warn and any(m.has_warnings for m in results)
        self.rows = ordered_unique(self._row_of(m) for m in results)
        self.rows.sort(key=lambda row: row[:2])  # statements stay in the order they came
        self.names = ordered_unique(m.description for m in results)
        self.cells = {(self._row_of(m), m.description): m for m in results}
        self.columns = [
            _Column([m for m in self._column(name, self.rows) if m], scale, trim, warn)
            for name in self.names
        ]

    @staticmethod
    def _row_of(m: Measurement) -> tuple[int, str | None, str]:
        return m.num_threads, m.env, m.as_row_name

    def _column(self, name: str | None, rows: Any) -> list[Measurement | None]:
        return [self.cells.get((row, name)) for row in rows]

    def _row(self, row: Any) -> list[Measurement | None]:
        return [self.cells.get((row, name)) for name in self.names]

    def _row_names(self) -> list[str]:
        """Statements, behind their environment where there are several and it has changed."""
        environments = {m.env for m in self.results}
        shown = len(environments) > 1
        width = 4 + (max(len(env) for env in environments) if shown else 0)
        names, before = [], (None, "")
        for threads, env, name in self.rows:
            prefix = f"({env})" if shown and (threads, env) != before else ""
            names.append("  " + prefix.ljust(width) + name)
            before = threads, env
        return names

    def _best(self, row: Any) -> list[float | None]:
        """For each cell of a row, the shortest time among those it is compared with."""
        if self.color is Colorize.ROWWISE:
            return [min(m.median for m in self._row(row) if m)] * len(self.names)
        same_threads = [other for other in self.rows if other[0] == row[0]]
        groups = ([m.median for m in self._column(n, same_threads) if m] for n in self.names)
        return [min(group, default=None) for group in groups]

    def _painted(self, row: Any, texts: list[str]) -> list[str]:
        if self.color is Colorize.NONE:
            return texts
        cells = zip(texts, self._row(row), self._best(row))
        return [
            text if m is None or best is None else _colored(text, m.median, best)
            for text, m, best in cells
        ]

    def render(self) -> str:
        texts = [
            [name, *(c.text(m) for c, m in zip(self.columns, self._row(row)))]
            for name, row in zip(self._row_names(), self.rows)
        ]
        head = ["", *self.names]
        widths = [max(map(len, column)) for column in zip(head, *texts)]
        lines = [_RULE.join(name.center(w) for name, w in zip(head, widths))]
        total, threads = len(lines[0]), None
        for row, (name, *cells) in zip(self.rows, texts):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(total, "-"))
            centered = [text.center(w) for text, w in zip(cells, widths[1:])]
            lines.append(_RULE.join([name.ljust(widths[0]), *self._painted(row, centered)]))
        title = f" {self.results[0].label or ''} ".center(total - 2, "-")
        foot = f"Times are in {unit_to_english(self.unit)}s ({self.unit})."
        lines = [f"[{title}]", *lines, "", foot]
        if self.warned:
            lines.append(
                "(! XX%) Measurement has high variance, where XX is the IQR / median * 100."
            )
        return "\n".join([*lines, ""])


class Compare:
    """Prints measurements as tables, one per label.

    Rows are sub-labels or statements, per number of threads; columns are descriptions.
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._color = Colorize.NONE
        self._trim = self._warn = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Take in further measurements. Raises ValueError for anything else."""
        results = list(results)
        for r in results:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results += results

    def trim_significant_figures(self) -> None:
        """Write only the figures that the scatter of the times lets one rely on."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Colour the cells by how far they are from the best of their column, or of their row."""
        self._color = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark times that scatter widely."""
        self._warn = True

    def __str__(self) -> str:
        groups: dict[str | None, list[Measurement]] = {}
        for m in Measurement.merge(self._results):
            groups.setdefault(m.label, []).append(m)
        tables = (_Table(g, self._color, self._trim, self._warn) for g in groups.values())
        return "\n".join(t.render() for t in tables)

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

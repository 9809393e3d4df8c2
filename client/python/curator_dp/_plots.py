"""Plots of answers. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curator_dp._errors import CuratorError
from curator_dp._tables import AnswerTable

_MOST_MARKS = 2000


def plot_table(table: AnswerTable, ax: Any = None, first: Sequence[str] = ()) -> Any:
    """Dots with bars for the intervals: one column along the axis (`first`, if it is given), a second one as colours."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise CuratorError("plots need matplotlib: apt install python3-matplotlib") from None
    if len(table.columns) > 2:
        raise CuratorError(f"{table.name} has {len(table.columns)} columns: plot a table of one or two")
    if len(table.values) > _MOST_MARKS:
        raise CuratorError(f"{table.name} has {len(table.values)} numbers; at most {_MOST_MARKS} are plotted")
    axes = ax if ax is not None else pyplot.subplots(figsize=(7, 4), layout="constrained")[1]
    labels = table.label_columns()
    columns = sorted(table.columns, key=lambda name: name not in first)
    x = labels[columns[0]]
    groups = labels[columns[1]] if len(columns) == 2 else None
    names = list(groups.categories) if groups is not None else [None]
    for i, name in enumerate(names):
        is_shown = np.ones(len(table.values), dtype=bool) if groups is None else groups.codes == i
        shift = 0.0 if len(names) == 1 else 0.3 * (i / (len(names) - 1) - 0.5)
        errors = None if table.half_width is None else table.half_width[is_shown]
        axes.errorbar(
            x.codes[is_shown] + shift, table.values[is_shown], yerr=errors, fmt="o", markersize=4, capsize=2, label=name
        )
    axes.set_xticks(range(len(x.categories)), [str(each) for each in x.categories], rotation=45, ha="right")
    axes.set_title(table.name)
    axes.set_xlabel(columns[0])
    axes.set_ylabel(f"records, {100 * table.confidence:g}% intervals" if table.confidence else "records")
    axes.axhline(0, linewidth=0.5, color="0.5")
    if groups is not None:
        axes.legend(title=columns[1])
    return axes

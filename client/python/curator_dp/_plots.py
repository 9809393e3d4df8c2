"""Plots of answers. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from curator_dp._errors import CuratorError
from curator_dp._tables import AnswerTable

_MOST_MARKS = 2000


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise CuratorError("plots need matplotlib: apt install python3-matplotlib") from None
    return pyplot


def plot_table(table: AnswerTable, ax: Any = None, first: Sequence[str] = ()) -> Any:
    """Dots with bars for the intervals: one column along the axis (`first`, if it is given), a second one as colours."""
    pyplot = _pyplot()
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
        errors = None
        if table.low is not None and table.high is not None:
            errors = np.maximum(np.array([table.values - table.low, table.high - table.values])[:, is_shown], 0.0)
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


def plot_statistics(table: AnswerTable, ax: Any = None, first: Sequence[str] = ()) -> list[Any]:
    """A plot for each statistic, as plot_table() has them: one grouping column along the axis, a second one as colours."""
    pyplot = _pyplot()
    by = sorted(table.key_columns, key=lambda name: name not in first)
    each = len(table.statistics)
    if len(by) > 2:
        raise CuratorError(f"{table.name} is by {len(by)} columns: plot statistics by one or two")
    if len(table.values) > _MOST_MARKS:
        raise CuratorError(f"{table.name} has {len(table.values)} numbers; at most {_MOST_MARKS} are plotted")
    if each != 1 and ax is not None:
        raise CuratorError(f"{table.name} has {each} statistics, and ax= is for one")
    labels = {name: column[::each] for name, column in table.label_columns().items()}
    drawn = []
    for i, name in enumerate(table.statistics):
        axes = ax if ax is not None else pyplot.subplots(figsize=(7, 4), layout="constrained")[1]
        _plot_statistic(table, i, [labels[column] for column in by], axes)
        axes.set_title(f"{name} by {', '.join(by)}" if by else name)
        axes.set_xlabel(by[0] if by else "")
        lines = [name, *table._clipped_of([name]), f"{100 * table.confidence:g}% intervals" if table.confidence else ""]
        axes.set_ylabel("\n".join(filter(None, lines)))
        if len(by) == 2:
            axes.legend(title=by[1])
        drawn.append(axes)
    return drawn


def _plot_statistic(table: AnswerTable, statistic: int, by: Sequence[Any], axes: Any) -> None:
    each = len(table.statistics)
    values = table.values[statistic::each]
    lows, highs = (None if ends is None else ends[statistic::each] for ends in (table.low, table.high))
    x = by[0].codes if by else np.zeros(len(values), dtype=int)
    names = list(by[1].categories) if len(by) == 2 else [None]
    unbounded: list[tuple[float, float, float]] = []
    for i, name in enumerate(names):
        shown = np.isfinite(values) if len(by) < 2 else np.isfinite(values) & (by[1].codes == i)
        shift = 0.0 if len(names) == 1 else 0.3 * (i / (len(names) - 1) - 0.5)
        errors = None
        if lows is not None and highs is not None:
            errors = np.array([values[shown] - lows[shown], highs[shown] - values[shown]])
            unbounded += zip(x[shown] + shift, lows[shown], highs[shown])
            errors = np.maximum(np.where(np.isfinite(errors), errors, 0.0), 0.0)
        axes.errorbar(x[shown] + shift, values[shown], yerr=errors, fmt="o", markersize=4, capsize=2, label=name)
    axes.set_xticks(range(len(by[0].categories)) if by else [0], [str(n) for n in by[0].categories] if by else ["all records"])
    axes.tick_params(axis="x", rotation=45)
    bottom, top = axes.get_ylim()
    for place, low, high in unbounded:
        if not (np.isfinite(low) and np.isfinite(high)):
            axes.vlines(place, max(low, bottom), min(high, top), linestyles="dotted", color="0.4", linewidth=1)
    axes.set_ylim(bottom, top)

"""What notebooks show of datasets, quotes, answers, budgets and models. Everything that a server or a user wrote is escaped; no
script, no address that a browser would load."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Optional

from curator_dp._facts import WithFacts, said_of
from curator_dp._spend import percent_up

if TYPE_CHECKING:
    from curator_dp._answers import Answer
    from curator_dp._budgets import Budget
    from curator_dp._datasets import Dataset, DatasetTable
    from curator_dp._quotes import Quote
    from curator_dp._synthesis import Synthesis
    from curator_dp._tables import AnswerTable

_SHOWN_ROWS = 20

_CELL = "padding:2px 10px 2px 0;text-align:{align};vertical-align:top"


def text(value: object) -> str:
    return "" if value is None else escape(str(value))


def number(value: Optional[float]) -> str:
    """Rounded as errors are read: three digits, without an exponent below a million."""
    if value is None or value != value:
        return ""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> str:
    """A table; `right`: the columns that are aligned to the right."""

    def cells(tag: str, values: Sequence[object]) -> str:
        styles = (_CELL.format(align="right" if i in right else "left") for i in range(len(values)))
        return "".join(f'<{tag} style="{style}">{text(value)}</{tag}>' for style, value in zip(styles, values))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', columns)}</tr></thead><tbody>{body}</tbody></table>"


def bar(share: float, label: str) -> str:
    """How much of a budget is spent: a bar with its number beside it."""
    percent = min(100.0, max(0.0, 100 * share))
    color = "#b00020" if percent >= 90 else "#1f6f54"
    return (
        f'<span role="img" aria-label="{text(label)}" style="display:inline-block;width:12em;height:.8em;background:#d8d8d8">'
        f'<span style="display:block;width:{percent:.1f}%;height:100%;background:{color}"></span></span> {text(label)}'
    )


def _facts(facts: Iterable[tuple[str, object]]) -> str:
    items = "".join(f"<div><b>{text(name)}</b> {text(value)}</div>" for name, value in facts if value not in ("", None))
    return f"<div>{items}</div>"


def _beside_the_guarantee(shown: WithFacts) -> str:
    """What is said for ever about the records of a dataset, in red."""
    return "".join(f'<div style="color:#b00020"><b>beside the guarantee:</b> {text(each)}</div>' for each in said_of(shown))


def datasets(listed: DatasetTable) -> str:
    return table(listed.columns, listed.rows())


def dataset(shown: Dataset, budget: Optional[Budget]) -> str:
    facts = [("dataset", shown.name), ("owner", shown.owner), ("state", shown.state), ("protects", budget.protects if budget else "")]
    columns = [(each.name, each.kind, each.size, _ends(each.labels)) for each in shown.schema.attributes]
    described = table(("column", "kind", "bins", "values"), columns, right=(2,))
    measures = [(each.name, each.values_text) for each in shown.schema.measures]
    if measures:
        described += table(("measure", "values"), measures)
    if shown.schema.constraints:
        described += table(("every record has",), [(each,) for each in shown.schema.constraints])
    return _facts(facts) + _beside_the_guarantee(shown) + (_bars(budget) if budget else "") + described


def _ends(labels: Sequence[str]) -> str:
    return ", ".join(labels) if len(labels) <= 6 else f"{', '.join(labels[:3])}, ... {labels[-1]}"


def _bars(budget: Budget) -> str:
    lines = (
        f"<div><b>{text(account.name)}</b> {text(counter.name)} {bar(counter.share_spent, counter.summary)}</div>"
        for account in budget.accounts
        for counter in account.counters
    )
    return f"<div>{''.join(lines)}</div>"


def budget(shown: Budget) -> str:
    facts = [("dataset", shown.dataset), ("protects", shown.protects), ("read-only", shown.read_only)]
    rows = [
        (account.name, account.promise, counter.name, counter.limit, counter.spent, counter.held, counter.left, account.used)
        for account in shown.accounts
        for counter in account.counters
    ]
    columns = ("account", "promise", "counter", "limit", "spent", "held", "left", "used")
    return _facts(facts) + _beside_the_guarantee(shown) + _bars(shown) + table(columns, rows, right=(3, 4, 5, 6))


def quote(shown: Quote) -> str:
    facts = [
        ("would be recorded as", shown.event),
        ("all errors within ±", number(shown.max_error) if shown.max_error else ""),
        ("fits the budget", ("yes" if shown.fits else "no") if shown.amounts else ""),
        ("the error to reach", shown.max_error_of),
        ("root mean squared error to reach", "" if shown.rmse is None else number(shown.rmse)),
        ("refused by the owner's rule", shown.refused_by_rule),
        ("free from", ", ".join(shown.free_from)),
    ]
    costs = [
        (
            *(each.account, each.counter, each.amount, "does not fit" if each.left is None else each.left),
            *(percent_up(each.share_of_promise), "" if each.share_of_left is None else percent_up(each.share_of_left)),
        )
        for each in shown.costs
    ]
    errors = [(each.name, each.numbers, number(each.std), number(each.half_width)) for each in shown.errors[:_SHOWN_ROWS]]
    forecasts = [(each.name, each.groups, each.error_text(), each.strategy) for each in shown.forecasts[:_SHOWN_ROWS]]
    more = len(shown.errors) - len(errors)
    within = f"{100 * shown.confidence:g}% within ±"
    is_ladder = not shown.amounts
    shown_errors = not (is_ladder and shown.choices)  # else the choices have them
    choices = [
        (
            *((percent_up(each.share_of_left),) if is_ladder else ()),
            *(each.spend, each.errors_text, "yes" if each.fits else "no"),
        )
        for each in shown.choices
    ]
    heads = (*(("of what is left",) if is_ladder else ()), "for", "errors", "fits")
    return (
        _facts(facts)
        + _beside_the_guarantee(shown)
        + (table(("account", "counter", "cost", "left after it", "of the promise", "of what was left"), costs, right=(2, 3, 4, 5)) if costs else "")
        + (table(("query", "numbers", "std", within), errors, right=(1, 2, 3)) if shown_errors and (errors or not forecasts) else "")
        + (f"<div>and {more} more</div>" if shown_errors and more > 0 else "")
        + (table(("statistic", "groups", within, "measured as"), forecasts, right=(1, 2)) if shown_errors and forecasts else "")
        + (table(heads, choices, right=(len(heads) - 2,)) if choices else "")
        + "<div>nothing was charged, no record was read</div>"
    )


def _rows_of(frame: Any, columns: Sequence[str]) -> list[list[object]]:
    shown: list[list[object]] = []
    for row in frame.head(_SHOWN_ROWS).itertuples(index=False):
        labels = ["" if value != value else value for value in row[: len(columns)]]
        shown.append([*labels, *(number(float(value)) for value in row[len(columns) :])])
    return shown


def interval(value: float, low: Optional[float], high: Optional[float]) -> str:
    """ "51,204 [50,871, 51,537]"; "none" for what is no number."""

    def shortened(each: float) -> str:
        if math.isinf(each):
            return "unbounded"
        return f"{each:,.4g}" if abs(each) < 1000 else f"{each:,.0f}"

    if value != value:
        return "none"
    if low is None or high is None:
        return shortened(value)
    if math.isinf(low) and math.isinf(high):
        return f"{shortened(value)} [unbounded]"
    return f"{shortened(value)} [{shortened(low)}, {shortened(high)}]"


def _statistics(shown: AnswerTable) -> str:
    """One row for each group, with the interval of each statistic."""
    frame = shown.to_frame(wide=True)
    names, by = shown.statistics, len(shown.columns) - 1
    rows: list[list[object]] = []
    for row in frame.head(_SHOWN_ROWS).to_dict("records"):
        ends = ((row.get(f"{name} low"), row.get(f"{name} high")) for name in names)
        rows.append([*list(row.values())[:by], *(interval(row[name], *pair) for name, pair in zip(names, ends))])
    columns = [*frame.columns[:by], *names]
    confidence = f", {100 * shown.confidence:g}% intervals" if shown.confidence else ""
    clipped = "".join(f"<div>these are the statistics of {text(each)}</div>" for each in shown.clipped)
    title = f"<div><b>{text(shown.name)}</b>, {len(frame)} groups{text(confidence)}</div>"
    more = f"<div>and {len(frame) - _SHOWN_ROWS} more</div>" if len(frame) > _SHOWN_ROWS else ""
    return title + clipped + table(columns, rows, right=list(range(by, len(columns)))) + more


def answer(shown: Answer) -> str:
    facts = [
        ("answer of", shown.dataset),
        ("cost", shown.cost if shown.costs else "free"),
        ("recorded as", shown.event),
        ("made", shown.post_processing),
        ("request id", shown.request_id),
    ]
    parts = [_facts(facts), _beside_the_guarantee(shown)]
    for each in shown.tables[:3]:
        if each.is_statistics:
            parts.append(_statistics(each))
            continue
        frame = each.to_frame()
        columns = [*each.columns, "value", "std", "low", "high"]
        right = range(len(each.columns), len(columns))
        parts.append(f"<div><b>{text(each.name)}</b>, {len(frame)} numbers</div>")
        parts.append(table(columns, _rows_of(frame, each.columns), right=list(right)))
        if len(frame) > _SHOWN_ROWS:
            parts.append(f"<div>and {len(frame) - _SHOWN_ROWS} more</div>")
    if len(shown.tables) > 3:
        parts.append(f"<div>and {len(shown.tables) - 3} more tables: to_frame() has all</div>")
    return "".join(parts)


def synthesis(shown: Synthesis) -> str:
    facts = [
        ("synthesis of", shown.dataset),
        ("method", shown.method),
        ("state", shown.state),
        ("percent", f"{shown.percent:.0f}"),
        ("release", shown.release_id),
        ("request id", shown.request_id),
    ]
    return _facts(facts) + _beside_the_guarantee(shown)

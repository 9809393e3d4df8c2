"""Query sets: what a question counts, as immutable values, and the messages of a request that they become."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Optional, Protocol, Union

from curator_dp._conditions import AnyConditions, Condition, Conditions, Term, Thresholds, bin_condition, conditions_of, value_text
from curator_dp._errors import InvalidQuestion
from curator_dp._schema import Schema
from curator_dp._wire.curator.v1 import workload_pb2

Names = Union[str, Iterable[str]]


@dataclass(frozen=True)
class Naming:
    """What the answers of a query set are called.

    Attributes:
        name: of the table.
        predicates: how many the server knows the answers as; 0 where its labels are kept.
        columns: of the labels, in their order; those that are not in `labels` are the by-columns of the request.
        labels: of each column one text for each predicate.
    """

    name: str
    predicates: int = 0
    columns: tuple[str, ...] = ()
    labels: dict[str, tuple[str, ...]] = field(default_factory=dict)


# Without a naming: a marginal is called by its columns.
NamedSet = tuple[workload_pb2.QuerySet, Optional[Naming]]

_STRATEGIES = {
    "auto": workload_pb2.STRATEGY_UNSPECIFIED,
    "direct": workload_pb2.STRATEGY_DIRECT,
    "histogram": workload_pb2.STRATEGY_BASE_HISTOGRAM,
    "tree": workload_pb2.STRATEGY_TREE,
    "residual": workload_pb2.STRATEGY_RESIDUAL,
    "parity": workload_pb2.STRATEGY_PARITY,
    "selection": workload_pb2.STRATEGY_SELECTION,
}
_OF_MARGINALS = ("direct", "residual", "parity")
_OF_QUANTILES = ("tree", "selection")


def names_of(names: Names, order: Sequence[str] = ()) -> tuple[str, ...]:
    """One name or several. Those of a set, which has no order, come in `order`, so that each run asks the same."""
    if isinstance(names, str):
        return (names,)
    if isinstance(names, (set, frozenset)):
        return tuple(sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name)))
    listed = tuple(names) if isinstance(names, Iterable) else (names,)
    if not all(isinstance(name, str) for name in listed):
        raise InvalidQuestion(f"a name, or a list of names, not {names!r}")
    return listed


def count_of(number: object, name: str) -> int:
    """A whole number from 1 on. InvalidQuestion where it is none."""
    if isinstance(number, bool) or not isinstance(number, Integral) or not 1 <= int(number) < 1 << 31:
        raise InvalidQuestion(f"{name}: {number!r} is no whole number from 1 on", name)
    return int(number)


def _by(names: Sequence[str]) -> str:
    return f" by {','.join(names)}" if names else ""


def _predicates(wheres: Iterable[Conditions], by: Sequence[str], schema: Schema) -> workload_pb2.QuerySet:
    wire = workload_pb2.QuerySet()
    wire.predicates.predicates.extend(each.checked(schema).to_wire() for each in wheres)
    wire.predicates.by.extend(by)
    return wire


def _conditional_marginal(where: Conditions, names: Sequence[str], schema: Schema) -> NamedSet:
    """The cells of a marginal that fulfil the conditions. Columns with conditions have their own bins as predicates."""
    codes: dict[str, list[int]] = {}
    others: list[Term] = []
    for condition in where.all_of:
        named = condition.columns & set(names)
        if not named:
            others.append(condition)
            continue
        column = _only_column(condition, named)
        bins = condition.bins(schema)
        codes[column] = [code for code in codes.get(column, bins) if code in bins]
    _check_some_bin(codes)
    cells = list(itertools.product(*codes.values()))
    wheres = [Conditions(tuple(bin_condition(schema[name], code) for name, code in zip(codes, cell)) + tuple(others)) for cell in cells]
    labels = {name: tuple(schema[name].labels[cell[i]] for cell in cells) for i, name in enumerate(codes)}
    naming = Naming(f"{','.join(names)} where {where}", len(cells), tuple(names), labels)
    return _predicates(wheres, [name for name in names if name not in codes], schema), naming


def _only_column(condition: Term, asked: Iterable[str]) -> str:
    """The one column of a condition on columns that are asked about. InvalidQuestion where it is on others, too."""
    if len(condition.columns) > 1:
        raise InvalidQuestion(
            f"{condition}: a condition that joins {', '.join(sorted(condition.columns))} by \"or\" or \"not\" cannot be joined with "
            f"a question of {', '.join(sorted(asked))}: ask count({str(condition)!r}), or of the other columns alone"
        )
    return next(iter(condition.columns))


def _check_some_bin(codes: dict[str, list[int]]) -> None:
    for column, left in codes.items():
        if not left:
            raise InvalidQuestion(f"no bin of {column} fulfils all conditions on it")


def _both(one: Optional[Conditions], other: Conditions) -> Conditions:
    return other if one is None else one & other


@dataclass(frozen=True)
class Marginals:
    """Counts of each combination of values: of explicit sets of columns, or of all `k` of some columns."""

    sets: tuple[tuple[str, ...], ...] = ()
    k: int = 0
    columns: tuple[str, ...] = ()  # all when empty
    where: Optional[Conditions] = None
    max_cells: Optional[int] = None  # of all `k` of some columns: larger marginals are left out

    def with_where(self, where: Conditions) -> Marginals:
        return replace(self, where=_both(self.where, where))

    def column_sets(self, schema: Schema) -> tuple[tuple[str, ...], ...]:
        columns = self.columns or schema.names
        if not self.sets and self.k > len(columns):
            raise InvalidQuestion(f"marginals: there are no sets of {self.k} of {len(columns)} columns", "k")
        return self.sets or self._kept(itertools.combinations(columns, self.k), schema)

    def _kept(self, sets: Iterable[tuple[str, ...]], schema: Schema) -> tuple[tuple[str, ...], ...]:
        if self.max_cells is None:
            return tuple(sets)
        sized = [(math.prod(schema[name].size for name in names), names) for names in sets]
        kept = tuple(names for cells, names in sized if cells <= self.max_cells)
        if not kept:
            least = min(cells for cells, _ in sized)
            raise InvalidQuestion(f"marginals: max_cells={self.max_cells} leaves none: the smallest has {least} cells", "max_cells")
        return kept

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        if self.where is not None:
            self.where.check(schema)
            return [_conditional_marginal(self.where, names, schema) for names in self.column_sets(schema)]
        wire = workload_pb2.QuerySet()
        if self.sets:
            wire.marginals.sets.extend(workload_pb2.AttributeNames(names=names) for names in self.sets)
        else:
            wire.marginals.all_k_way.k = self.k
            wire.marginals.all_k_way.attributes.extend(self.columns)
            if self.max_cells is not None:
                wire.marginals.all_k_way.max_cells = self.max_cells
        return [(wire, None)]


@dataclass(frozen=True)
class Prefixes:
    """Cumulative counts of one column, up to and with each bin."""

    column: str
    by: tuple[str, ...] = ()
    where: Optional[Conditions] = None

    def with_where(self, where: Conditions) -> Prefixes:
        return replace(self, where=_both(self.where, where))

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        name = f"prefixes of {self.column}{_by(self.by)}"
        if self.where is None and not self.by:
            return [(workload_pb2.QuerySet(prefixes=workload_pb2.Prefixes(attribute=self.column)), Naming(name))]
        where = self.where if self.where is not None else Conditions(())
        where.check(schema)
        column = schema[self.column]
        codes = self._codes(where, schema)
        wheres = [where & Condition(self.column, high=value_text(column.ends[code])) for code in codes]
        labels = {self.column: tuple(column.prefix_label(code) for code in codes)}
        name += f" where {where}" if where.all_of else ""
        return [(_predicates(wheres, self.by, schema), Naming(name, len(codes), (*self.by, self.column), labels))]

    def _codes(self, where: Conditions, schema: Schema) -> list[int]:
        """Of the last bins of the prefixes: those that fulfil the conditions on the column itself."""
        codes = list(range(schema[self.column].run_size))
        for condition in where.all_of:
            if self.column in condition.columns:
                _only_column(condition, (self.column,))
                bins = set(condition.bins(schema))
                codes = [code for code in codes if code in bins]
        _check_some_bin({self.column: codes})
        return codes


@dataclass(frozen=True)
class Ranges:
    """How many records lie between two ends, of one column or of several at once: the listed boxes, or all there are."""

    columns: tuple[str, ...]
    boxes: tuple[tuple[tuple[Optional[str], Optional[str]], ...], ...] = ()

    def with_where(self, where: Conditions) -> Ranges:
        raise InvalidQuestion("ranges take no where(...): write the ranges as conditions, count('age in [30,40] and sex = Female')")

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        wire = workload_pb2.QuerySet()
        wire.ranges.attributes.extend(self.columns)
        for box in self.boxes:
            sides = wire.ranges.boxes.add().sides
            for low, high in box:
                side = sides.add()
                if low is not None:
                    getattr(side, "from").string_value = low
                if high is not None:
                    side.to.string_value = high
        return [(wire, Naming(f"ranges of {','.join(self.columns)}"))]


@dataclass(frozen=True)
class Counts:
    """How many records fulfil conditions; one count for each of `wheres`, and for each combination of values of `by`."""

    wheres: tuple[Conditions, ...]
    by: tuple[str, ...] = ()

    def with_where(self, where: Conditions) -> Counts:
        return replace(self, wheres=tuple(each & where for each in self.wheres))

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        for each in self.wheres:
            each.check(schema)
        what = f"count{_by(self.by)} where {self.wheres[0]}" if len(self.wheres) == 1 else f"{len(self.wheres)} counts{_by(self.by)}"
        return [(_predicates(self.wheres, self.by, schema), Naming(what))]


@dataclass(frozen=True)
class ThresholdCounts:
    """How many records fulfil at least so many of some conditions."""

    thresholds: Thresholds
    by: tuple[str, ...] = ()

    def with_where(self, where: Conditions) -> ThresholdCounts:
        raise InvalidQuestion("thresholds take no where(...): use by= with the columns of the conditions")

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        self.thresholds.check(schema)
        wire = workload_pb2.QuerySet()
        wire.thresholds.conditions.extend(each.checked(schema).to_wire() for each in self.thresholds.conditions)
        wire.thresholds.at_least.extend(self.thresholds.at_least)
        wire.thresholds.k = self.thresholds.each
        wire.thresholds.by.extend(self.by)
        return [(wire, Naming(f"{self.thresholds}{_by(self.by)}"))]


@dataclass(frozen=True)
class Parities:
    """Records with an even number of second values minus those with an odd number, of all sets of 1 to `k` columns."""

    k: int
    columns: tuple[str, ...] = ()  # all when empty

    def with_where(self, where: Conditions) -> Parities:
        raise InvalidQuestion("parities take no where(...)")

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        wire = workload_pb2.QuerySet()
        wire.parities.up_to_k_way.k = self.k
        wire.parities.up_to_k_way.attributes.extend(self.columns)
        return [(wire, Naming(f"parities of up to {self.k} of {','.join(self.columns) or 'all columns'}"))]


class QuerySet(Protocol):
    """What all query sets have."""

    def with_where(self, where: Conditions) -> QuerySet:
        """The same of the records alone that fulfil the conditions. InvalidQuestion where it takes none."""

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        """The messages of a request."""


@dataclass(frozen=True)
class Weighted:
    """A query set whose variances count so much beside those of others."""

    counted: QuerySet
    weight: float

    def with_where(self, where: Conditions) -> Weighted:
        return replace(self, counted=self.counted.with_where(where))

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        sets = self.counted.to_wire(schema)
        for wire, _ in sets:
            wire.weight = self.weight
        return sets


def with_weight(counted: QuerySet, weight: object) -> QuerySet:
    """The same query set with another weight; 1 is that of sets without one. The server checks which weights there are."""
    if isinstance(weight, bool) or not isinstance(weight, Real):
        raise InvalidQuestion(f"weight: {weight!r} is no number, such as 2", "weight")
    unweighted = counted.counted if isinstance(counted, Weighted) else counted
    return unweighted if weight == 1 else Weighted(unweighted, float(weight))


def _has_quantiles(wire: workload_pb2.QuerySet) -> bool:
    return any(each.WhichOneof("statistic") in ("median", "quantiles") for each in wire.statistics.statistics)


def _strategy_of(wire: workload_pb2.QuerySet, strategy: str) -> Any:
    """Marginals take "direct", "residual" and "parity" alone; of statistics only quantiles can be measured in several ways."""
    kind = wire.WhichOneof("queries")
    if kind == "statistics":
        fits = strategy in _OF_QUANTILES and _has_quantiles(wire)
    elif kind == "marginals":
        fits = strategy in _OF_MARGINALS
    else:
        fits = strategy != "selection"
    return _STRATEGIES[strategy if fits else "auto"]


def workload_of(sets: Sequence[NamedSet], strategy: str) -> workload_pb2.Workload:
    """The request's workload. The strategy is that of all sets that can be measured so."""
    if strategy not in _STRATEGIES:
        raise InvalidQuestion(f"strategy: {strategy!r} is none of {', '.join(_STRATEGIES)}")
    if strategy == "selection" and not any(_has_quantiles(wire) for wire, _ in sets):
        raise InvalidQuestion("strategy: 'selection' is of medians and quantiles", "strategy")
    workload = workload_pb2.Workload()
    for wire, _ in sets:
        added = workload.query_sets.add()
        added.CopyFrom(wire)
        added.strategy = _strategy_of(wire, strategy)
    return workload


def with_where(sets: Sequence[QuerySet], where: AnyConditions) -> tuple[QuerySet, ...]:
    conditions = conditions_of(where)
    return tuple(each.with_where(conditions) for each in sets)

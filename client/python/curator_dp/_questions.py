"""Questions: immutable descriptions of counts, which nothing is charged for until they are answered.

A question is a sum of query sets. It is composed without the server; `Dataset` has the methods that make one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Optional, Union

from curator_dp._conditions import AnyConditions, Conditions, Thresholds, bin_condition, conditions_of, value_text
from curator_dp._errors import InvalidQuestion
from curator_dp._schema import Schema
from curator_dp._wire.curator.v1 import workload_pb2

Names = Union[str, Sequence[str]]


@dataclass(frozen=True)
class Naming:
    """What the answers of a query set are called, where the server knows them as predicates.

    Attributes:
        name: of the table.
        columns: of the labels, in their order; those that are not in `labels` are the predicates' own.
        labels: of each column one text for each predicate.
    """

    name: str
    columns: tuple[str, ...]
    labels: dict[str, tuple[str, ...]]


NamedSet = tuple[workload_pb2.QuerySet, Optional[Naming]]

_STRATEGIES = {
    "auto": workload_pb2.STRATEGY_UNSPECIFIED,
    "direct": workload_pb2.STRATEGY_DIRECT,
    "histogram": workload_pb2.STRATEGY_BASE_HISTOGRAM,
    "tree": workload_pb2.STRATEGY_TREE,
}


def names_of(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _predicates(wheres: Iterable[Conditions], by: Sequence[str]) -> workload_pb2.QuerySet:
    wire = workload_pb2.QuerySet()
    wire.predicates.predicates.extend(each.to_wire() for each in wheres)
    wire.predicates.by.extend(by)
    return wire


def _conditional_marginal(where: Conditions, names: Sequence[str], schema: Schema) -> NamedSet:
    """The cells of a marginal that fulfil the conditions. Columns with conditions have their own bins as predicates."""
    codes: dict[str, list[int]] = {}
    for condition in where.all_of:
        if condition.column in names:
            bins = condition.bins(schema)
            codes[condition.column] = [code for code in codes.get(condition.column, bins) if code in bins]
    others = tuple(each for each in where.all_of if each.column not in codes)
    cells = list(itertools.product(*codes.values()))
    wheres = [Conditions(tuple(bin_condition(schema[name], code) for name, code in zip(codes, cell)) + others) for cell in cells]
    labels = {name: tuple(schema[name].labels[cell[i]] for cell in cells) for i, name in enumerate(codes)}
    naming = Naming(f"{','.join(names)} where {where}", tuple(names), labels)
    return _predicates(wheres, [name for name in names if name not in codes]), naming


def _both(one: Optional[Conditions], other: Conditions) -> Conditions:
    return other if one is None else one & other


@dataclass(frozen=True)
class Marginals:
    """Counts of each combination of values: of explicit sets of columns, or of all `k` of some columns."""

    sets: tuple[tuple[str, ...], ...] = ()
    k: int = 0
    columns: tuple[str, ...] = ()  # all when empty
    where: Optional[Conditions] = None

    def with_where(self, where: Conditions) -> Marginals:
        return replace(self, where=_both(self.where, where))

    def column_sets(self, schema: Schema) -> tuple[tuple[str, ...], ...]:
        return self.sets or tuple(itertools.combinations(self.columns or schema.names, self.k))

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
        if self.where is None and not self.by:
            return [(workload_pb2.QuerySet(prefixes=workload_pb2.Prefixes(attribute=self.column)), None)]
        if self.where is not None:
            self.where.check(schema)
        wire = workload_pb2.QuerySet()
        for end in schema[self.column].ends:
            predicate = wire.predicates.predicates.add()
            if self.where is not None:
                predicate.CopyFrom(self.where.to_wire())
            condition = predicate.all_of.add(attribute=self.column)
            condition.between.to.string_value = value_text(end)
        wire.predicates.by.extend(self.by)
        column = schema[self.column]
        labels = {self.column: tuple(column.prefix_label(last) for last in range(column.size))}
        name = f"prefixes of {self.column}" + (f" where {self.where}" if self.where is not None else "")
        return [(wire, Naming(name, (*self.by, self.column), labels))]


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
        return [(wire, None)]


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
        return [(_predicates(self.wheres, self.by), None)]


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
        wire.thresholds.conditions.extend(each.to_wire() for each in self.thresholds.conditions)
        wire.thresholds.at_least.extend(self.thresholds.at_least)
        wire.thresholds.k = self.thresholds.each
        wire.thresholds.by.extend(self.by)
        return [(wire, None)]


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
        return [(wire, None)]


QuerySet = Union[Marginals, Prefixes, Ranges, Counts, ThresholdCounts, Parities]


def workload_of(sets: Sequence[QuerySet], schema: Schema, strategy: str) -> workload_pb2.Workload:
    """The request's workload. The strategy is that of all sets but marginals, which are measured directly."""
    if strategy not in _STRATEGIES:
        raise InvalidQuestion(f"strategy: {strategy!r} is none of {', '.join(_STRATEGIES)}")
    workload = workload_pb2.Workload()
    for each in sets:
        for wire, _ in each.to_wire(schema):
            if wire.WhichOneof("queries") != "marginals":
                wire.strategy = _STRATEGIES[strategy]
            workload.query_sets.append(wire)
    return workload


def namings_of(sets: Sequence[QuerySet], schema: Schema) -> list[Optional[Naming]]:
    """One for each query set of the request's workload."""
    return [naming for each in sets for _, naming in each.to_wire(schema)]


def with_where(sets: Sequence[QuerySet], where: AnyConditions) -> tuple[QuerySet, ...]:
    conditions = conditions_of(where)
    return tuple(each.with_where(conditions) for each in sets)

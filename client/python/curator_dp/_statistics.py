"""Statistics of groups of records: what is asked, and how exact the answers will be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Optional, Union

from curator_dp._conditions import Conditions
from curator_dp._errors import InvalidQuestion
from curator_dp._query_sets import NamedSet, Naming
from curator_dp._schema import Schema
from curator_dp._wire.curator.v1 import query_pb2, workload_pb2

Share = Union[float, Decimal, str]

_OF_COLUMNS = ("sum", "mean", "variance", "median")
_KINDS = ("count", *_OF_COLUMNS, "quantile", "distinct units")
_UNITS = query_pb2.EstimateWorkloadResponse.StatisticForecast
_UNIT_NAMES = {
    _UNITS.RECORDS: "records",
    _UNITS.VALUE: "value",
    _UNITS.VALUE_TIMES_RECORDS: "value x records",
    _UNITS.SQUARED_VALUE_TIMES_RECORDS: "squared value x records",
    _UNITS.RANK: "rank",
}


@dataclass(frozen=True)
class Statistic:
    """One statistic of each group.

    Attributes:
        kind: "count", "sum", "mean", "variance", "median", "quantile" or "distinct units".
        of: a measure, or an integer column; of a count, "" for all records.
        at: of a quantile: a decimal between 0 and 1, "0.25".

    >>> print(cu.Statistic("mean", "income"), cu.Statistic("quantile", "income", "0.25"))
    mean(income) quantile(income, 0.25)
    """

    kind: str
    of: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise InvalidQuestion(f"statistics: {self.kind!r} is none of {', '.join(_KINDS)}", "statistics")
        if not isinstance(self.of, str) or (self.kind not in ("count", "distinct units") and not self.of):
            raise InvalidQuestion(f"statistics: {self.kind} is of a measure or of an integer column: {self.kind}(income)", "statistics")
        if self.kind == "distinct units" and self.of:
            raise InvalidQuestion("statistics: distinct units are of no column", "statistics")
        if (self.kind == "quantile") != bool(self.at):
            raise InvalidQuestion("statistics: a quantile, and nothing else, has a share: quantile(income, 0.25)", "statistics")

    @classmethod
    def parse(cls, text: str) -> Statistic:
        """Of its name, "mean(income)", as answers have it. InvalidQuestion where it is none."""
        kind, _, inner = text.partition("(")
        if kind in ("count", "distinct units") and not inner:
            return cls(kind)
        if not inner.endswith(")"):
            raise InvalidQuestion(f'statistics: {text!r} is no statistic, such as "count", "mean(income)", "quantile(income, 0.25)"')
        if kind != "quantile":
            return cls(kind, inner[:-1])
        of, comma, at = inner[:-1].rpartition(",")
        return cls(kind, of if comma else at, share_text(at.strip()) if comma else "")

    def to_wire(self) -> workload_pb2.Statistic:
        """The message of a request."""
        wire = workload_pb2.Statistic()
        if self.kind == "count":
            wire.count.of = self.of
            wire.count.SetInParent()
        elif self.kind == "quantile":
            wire.quantiles.of = self.of
            wire.quantiles.at.append(self.at)
        elif self.kind == "distinct units":
            wire.distinct_units.SetInParent()
        else:
            setattr(wire, self.kind, self.of)
        return wire

    def __str__(self) -> str:
        if self.kind == "quantile":
            return f"quantile({self.of}, {self.at})"
        return f"{self.kind}({self.of})" if self.of else self.kind


AnyStatistic = Union[str, Statistic]


def statistics_of(given: Union[AnyStatistic, Iterable[AnyStatistic]]) -> tuple[Statistic, ...]:
    """One statistic or several, as texts or as they are. InvalidQuestion where there are none, or what is none."""
    listed = [given] if isinstance(given, (str, Statistic)) else given
    if not isinstance(listed, Iterable):
        raise InvalidQuestion(f"statistics: a list of statistics, not {given!r}", "statistics")
    parsed = [Statistic.parse(each) if isinstance(each, str) else each for each in listed]
    if not parsed or not all(isinstance(each, Statistic) for each in parsed):
        raise InvalidQuestion('statistics: give at least one, ["count", "mean(income)"]', "statistics")
    return tuple(dict.fromkeys(parsed))


def share_text(share: Share) -> str:
    """A share of the values as requests have it: "0.25". InvalidQuestion unless it is between 0 and 1, with at most three digits."""
    try:
        exact = Decimal(str(share))
    except InvalidOperation:
        raise InvalidQuestion(f"quantiles: {share!r} is no decimal between 0 and 1", "quantiles") from None
    if isinstance(share, bool) or not exact.is_finite() or not 0 < exact < 1 or exact != round(exact, 3):
        raise InvalidQuestion(f"quantiles: {share!r} is no decimal between 0 and 1 with at most three digits after the point", "quantiles")
    return format(exact.normalize(), "f")


@dataclass(frozen=True)
class StatisticsSet:
    """Statistics of each combination of values of `by`, of the records that fulfil `where`."""

    statistics: tuple[Statistic, ...]
    by: tuple[str, ...] = ()
    where: Optional[Conditions] = None

    def with_where(self, where: Conditions) -> StatisticsSet:
        return replace(self, where=where if self.where is None else self.where & where)

    def joined(self, other: StatisticsSet) -> Optional[StatisticsSet]:
        """Both as one set, whose statistics share what is measured; None where they are of other groups."""
        if (self.by, self.where) != (other.by, other.where):
            return None
        return replace(self, statistics=tuple(dict.fromkeys(self.statistics + other.statistics)))

    def to_wire(self, schema: Schema) -> list[NamedSet]:
        wire = workload_pb2.QuerySet()
        for name in self.by:
            schema[name]  # InvalidQuestion where there is none
        wire.statistics.statistics.extend(each.to_wire() for each in self.statistics)
        wire.statistics.by.extend(self.by)
        name = ", ".join(str(each) for each in self.statistics) + (f" by {','.join(self.by)}" if self.by else "")
        if self.where is not None:
            self.where.check(schema)
            wire.statistics.where.CopyFrom(self.where.checked(schema).to_wire())
            name += f" where {self.where}"
        return [(wire, Naming(name))]


def joined_sets(one: Sequence[object], other: Sequence[object]) -> tuple[object, ...]:
    """All query sets; statistics of the same groups are joined."""
    sets = list(one)
    for each in other:
        place = next((i for i, have in enumerate(sets) if _joined(have, each) is not None), None)
        if place is None:
            sets.append(each)
        else:
            sets[place] = _joined(sets[place], each)
    return tuple(sets)


def _joined(one: object, other: object) -> Optional[StatisticsSet]:
    return one.joined(other) if isinstance(one, StatisticsSet) and isinstance(other, StatisticsSet) else None


@dataclass(frozen=True)
class StatisticForecast:
    """What a statistic will be off by, known before a record is read.

    Attributes:
        name: "mean(income)".
        groups: how many answers it has.
        std: standard deviation of the noise, in `unit`; 0 where it is not known.
        half_width: of the interval with the quote's confidence, in `unit`.
        unit: "records"; "value", that of the measure; "rank", records between the answer and the quantile; or "value x records" and
            "squared value x records", which are divided by the number of values in the group: see at().
        strategy: how it is measured, for display.
    """

    name: str
    groups: int
    std: float
    half_width: float
    unit: str
    strategy: str

    @property
    def is_per_record(self) -> bool:
        """Whether the errors are to be divided by the number of values in the group."""
        return self.unit.endswith("x records")

    def at(self, records: float) -> StatisticForecast:
        """The same for a group of so many records: the error of a mean in its own unit.

        >>> forecast = cu.StatisticForecast("mean(income)", 4, 1000.0, 2000.0, "value x records", "")
        >>> forecast.at(records=50).half_width
        40.0
        """
        if not records > 0:
            raise InvalidQuestion(f"at: {records!r} is no number of records above 0", "records")
        if not self.is_per_record:
            return self
        unit = self.unit.removesuffix(" x records")
        return replace(self, std=self.std / records, half_width=self.half_width / records, unit=unit)

    def error_text(self) -> str:
        """The half width with its unit, for display."""
        number = f"{self.half_width:,.4g}" if self.half_width < 1000 else f"{self.half_width:,.0f}"
        if self.is_per_record:
            return f"{number} / records in the group"
        return f"{number} records in rank" if self.unit == "rank" else f"{number}{' records' if self.unit == 'records' else ''}"


def forecasts_of(wire: Iterable[query_pb2.EstimateWorkloadResponse.StatisticForecast]) -> tuple[StatisticForecast, ...]:
    return tuple(
        StatisticForecast(
            each.statistic, each.groups, each.standard_deviation, each.confidence_half_width, _UNIT_NAMES.get(each.unit, ""), each.words
        )
        for each in wire
    )

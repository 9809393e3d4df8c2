"""The public facts about the columns of a dataset, and the labels of their bins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Optional, Union

import numpy as np
import pandas as pd

from curator_dp._dates import DateBins, excluded_time_text, read_time
from curator_dp._errors import CuratorError, InvalidQuestion
from curator_dp._wire.curator.v1 import schema_pb2

Edge = Union[int, float]


def number_text(number: float) -> str:
    """The shortest decimal that is this number, for a request: 20000, 0.5, 1e+20."""
    if number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def label_text(number: float) -> str:
    """A number as labels of the server have it: with an exponent only beyond 2^53 and below 10^-6, where it is shorter.

    >>> [label_text(number) for number in (20000, 100000, 0.0001, 0.0000012, 1e-7, 1e20)]
    ['20000', '100000', '0.0001', '0.0000012', '1e-07', '1e+20']
    """
    exact = Decimal(repr(float(number)))
    sign, digits, exponent = exact.normalize().as_tuple()
    assert isinstance(exponent, int)
    plain = format(Decimal(number) if abs(number) >= 1 << 53 else exact.normalize(), "f")
    first, *rest = (str(digit) for digit in digits)
    power = exponent + len(rest)
    scientific = f"{'-' if sign else ''}{first}{'.' if rest else ''}{''.join(rest)}e{'-' if power < 0 else '+'}{abs(power):02d}"
    is_plain = number == 0 or 1e-6 <= abs(number) <= 1 << 53
    return plain if is_plain or len(plain) <= len(scientific) else scientific


class Attribute:
    """One column, whose values lie in bins.

    >>> age = census.schema["age"]
    >>> age.kind, age.size, age.intervals()[0]
    ('integer', 4, Interval(18, 28, closed='left'))

    Attributes:
        name: of the column.
        kind: "categorical", "integer", "numeric", "coded" or "date".
        missing: the label of the last bin, that of missing values; None where there is no such bin.
    """

    def __init__(self, wire: schema_pb2.Attribute) -> None:
        self._wire = wire
        self.name: str = wire.name
        self.kind: str = wire.WhichOneof("kind") or ""
        self.missing: Optional[str] = wire.missing.bin if wire.missing.HasField("bin") else None
        if self.kind not in ("categorical", "coded", "date", "integer", "numeric"):
            raise CuratorError(f"attribute {self.name} is of a kind that this version does not know: install a newer curator_dp")

    # A column may have millions of bins: nothing is made of them before it is wanted.

    @cached_property
    def labels(self) -> list[str]:
        """Of the bins, in their order. Shape: (bins,)."""
        return self.value_labels if self.missing is None else [*self.value_labels, self.missing]

    @cached_property
    def value_labels(self) -> list[str]:
        """Of the bins without that of missing values."""
        if self.kind == "categorical":
            categorical = self._wire.categorical
            return [*categorical.values, *([categorical.catch_all] if categorical.HasField("catch_all") else [])]
        if self.kind == "coded":
            return [str(code) for code in range(self._wire.coded.size)]
        if self._dates is not None:
            return [self._dates.label(code, code) for code in range(len(self._dates))]
        assert self._edges is not None
        return self._integer_labels(self._edges) if self.kind == "integer" else self._numeric_labels(self._edges)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def _edges(self) -> Optional[Sequence[Edge]]:
        """Of bins [edge, next edge); None for a column without numbers."""
        if self.kind == "integer":
            wire = self._wire.integer
            width, end = wire.bin_width if wire.HasField("bin_width") else 1, wire.max + 1
            begins = range(wire.min, end, width)
            return range(wire.min, end + 1, width) if len(begins) * width == end - wire.min else [*begins, end]
        if self.kind == "numeric":
            return [*self._wire.numeric.edges] if self._wire.numeric.edges else _stepped(self._wire.numeric)
        return None

    @cached_property
    def _dates(self) -> Optional[DateBins]:
        return DateBins(self._wire.date) if self.kind == "date" else None

    @staticmethod
    def _integer_labels(edges: Sequence[Edge]) -> list[str]:
        labels = []
        for first, after in zip(edges[:-1], edges[1:]):
            if after - first == 1:
                labels.append(str(first))
            elif after == edges[-1]:
                labels.append(f"[{first}, {after - 1}]")
            else:
                labels.append(f"[{first}, {after})")
        return labels

    @staticmethod
    def _numeric_labels(edges: Sequence[Edge]) -> list[str]:
        texts = [label_text(edge) for edge in edges]
        last = len(texts) - 2
        return [f"[{texts[i]}, {texts[i + 1]}{']' if i == last else ')'}" for i in range(last + 1)]

    @cached_property
    def _value_bins(self) -> int:
        """Without that of missing values."""
        if self._edges is not None:
            return len(self._edges) - 1
        return len(self._dates) if self._dates is not None else len(self.value_labels)

    @property
    def size(self) -> int:
        """The number of bins."""
        return self._value_bins + (self.missing is not None)

    @property
    def missing_text(self) -> str:
        """What synthetic records have in the place of missing values."""
        return next(iter(self._wire.missing.tokens), "")

    @property
    def run_size(self) -> int:
        """The number of bins that prefixes and ranges run over, the first ones: all but that of missing values and, of ordered
        categories, the catch-all."""
        categorical = self._wire.categorical
        return self._value_bins - (self.kind == "categorical" and categorical.ordered and categorical.HasField("catch_all"))

    @property
    def is_ordered(self) -> bool:
        """Whether a value can be below another: of numbers, dates and ordered categories."""
        return self.kind in ("integer", "numeric", "date") or (self.kind == "categorical" and self._wire.categorical.ordered)

    @property
    def ends(self) -> list[Union[str, Edge]]:
        """The value that ends an interval with each bin as its last: what `Interval.to` of a question has. Shape: (run_size,)."""
        if self._dates is not None:
            return [self._dates.end_text(code) for code in range(self.run_size)]
        if self._edges is None:
            return [*self.labels[: self.run_size]]
        if self.kind == "numeric":
            return [*self._edges[1:]]
        return [edge - 1 for edge in self._edges[1:]]

    def bin_of(self, value: str) -> int:
        """The code of the bin that a value lies in. InvalidQuestion where there is none."""
        if self._dates is not None:
            return self._date_bin_of(value, self._dates)
        if self._edges is None:
            if value in self._codes:
                return self._codes[value]
            raise InvalidQuestion(f"{self.name} has no value {value!r}; it has: {', '.join(self.labels[:10])}")
        try:
            number = float(value)
        except ValueError:
            raise InvalidQuestion(f"{self.name} has numbers, and {value!r} is none") from None
        if self.kind == "numeric" and number == self._edges[-1]:
            return self._value_bins - 1
        code = bisect_right(self._edges, number) - 1
        if not 0 <= code < self._value_bins:
            raise InvalidQuestion(f"{self.name} has values from {self._edges[0]} on to {self.ends[-1]}, not {value}")
        return code

    def _date_bin_of(self, value: str, dates: DateBins) -> int:
        read = read_time(value)
        if read is None:
            raise InvalidQuestion(
                f"{value!r} is no day such as 2019-03-31, no time such as 2019-03-31T12:00:00 and no bin of {self.name}, "
                f"which has: {', '.join(self.value_labels[:10])}"
            )
        code = dates.bin_of(read[0])
        if code is None:
            raise InvalidQuestion(f"{self.name} has dates from {dates.begin_text(0)} on to {dates.end_text(len(dates) - 1)}, not {value}")
        return code

    def whole_bin(self, value: str) -> int:
        """The code of the bin that has this label, or this value alone. InvalidQuestion where the value is a part of its bin."""
        if value in self._codes:
            return self._codes[value]
        code = self.bin_of(value)
        is_alone = self._edges is not None and self.kind == "integer" and self._edges[code + 1] - self._edges[code] == 1
        if self._dates is not None or (self._edges is not None and not is_alone):
            raise InvalidQuestion(f"{value} is only a part of the bin {self.labels[code]} of {self.name}; ask for the whole bin")
        return code

    def interval_bins(self, low: Optional[str], high: Optional[str]) -> range:
        """The bins of an interval: `high` is its last value, the edge after it of a numeric column, and of dates the last day, a time
        that is excluded, or a bin. InvalidQuestion where it cuts a bin, or ends in one that lies in no order."""
        first = 0 if low is None else self._end_bin(low, is_high=False)
        last = self.run_size - 1 if high is None else self._end_bin(high, is_high=True)
        if max(first, last) >= self.run_size:
            raise InvalidQuestion(f"{self.labels[max(first, last)]} is no end of an interval of {self.name}: it lies in no order")
        return range(first, last + 1)

    def _end_bin(self, value: str, is_high: bool) -> int:
        if self._dates is not None:
            return self._end_bin_of_dates(value, is_high, self._dates)
        code = self.bin_of(value)
        if is_high and self.kind == "numeric" and _is_same(value, self.value_range(code)[0]):
            code -= 1
        if code < 0:
            raise InvalidQuestion(f"the condition on {self.name} holds for no value: the first one is {self.value_range(0)[0]}")
        end = self.value_range(code)[is_high]
        if not _is_same(value, end):
            raise InvalidQuestion(f"the condition on {self.name} cuts a bin: {value} is not the end {end} of one")
        return code

    def _end_bin_of_dates(self, value: str, is_high: bool, dates: DateBins) -> int:
        value = value.strip(" \t")
        if value in self._codes:
            return self._codes[value]
        code = dates.last_whole(value) if is_high else dates.first_whole(value)
        if code is None:
            cut = self.labels[self.bin_of(value)]
            raise InvalidQuestion(f"the condition on {self.name} cuts a bin: {value} is no {'last' if is_high else 'first'} day of {cut}")
        return code

    def excluded_end(self, value: str) -> str:
        """Of dates: a day, a time or a bin that is excluded, as the time at which the interval ends."""
        assert self._dates is not None
        text = value.strip(" \t")
        read = read_time(text)
        if read is not None:
            return excluded_time_text(read[0])
        code = self._codes.get(text, self._value_bins)
        if code < self._value_bins:
            return excluded_time_text(self._dates.edges[code])
        raise InvalidQuestion(
            f"the condition on {self.name}: {value!r} is no day such as 2019-03-31, no time such as 2019-03-31T12:00:00 "
            "and none of its bins of dates"
        )

    def value_range(self, code: int) -> tuple[str, str]:
        """The ends of a bin as an interval of a question has them: the second one is excluded for a numeric column."""
        if self._dates is not None and code < len(self._dates):
            return self._dates.begin_text(code), self._dates.end_text(code)
        if self._edges is None or code >= self._value_bins:
            return self.labels[code], self.labels[code]
        first, after = self._edges[code], self._edges[code + 1]
        return number_text(first), number_text(after if self.kind == "numeric" else after - 1)

    def prefix_label(self, last: int) -> str:
        """Of the bins up to and with this one, which is below run_size, as the server writes it."""
        if self._dates is not None:
            return self._dates.label(0, last)
        if self._edges is None:
            return self.labels[0] if last == 0 else f"{self.labels[0]} .. {self.labels[last]}"
        first, after = self._edges[0], self._edges[last + 1]
        if self.kind == "numeric":
            return f"[{label_text(first)}, {label_text(after)}{']' if last == self._value_bins - 1 else ')'}"
        if after - first == 1:
            return str(first)
        return f"[{first}, {after - 1}]" if last == self._value_bins - 1 else f"[{first}, {after})"

    def categories(self) -> pd.CategoricalDtype:
        """The bins as ordered categories."""
        return pd.CategoricalDtype(self.labels, ordered=True)

    def intervals(self) -> Optional[pd.IntervalIndex]:
        """The bins of numbers and of dates as intervals, closed on the left, without that of missing values. None for a column of other
        values, and for dates before 1678 or after 2261, of which pandas has no times."""
        if self._dates is not None:
            try:
                times = pd.DatetimeIndex(self._dates.edges)
            except pd.errors.OutOfBoundsDatetime:
                return None
            return pd.IntervalIndex.from_arrays(times[:-1], times[1:], closed="left")
        if self._edges is None:
            return None
        edges = np.asarray(self._edges)
        return pd.IntervalIndex.from_arrays(edges[:-1], edges[1:], closed="left")


def _is_same(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def _stepped(wire: schema_pb2.Numeric) -> list[Edge]:
    """min, min + step, ... max. Decimals, since 0.1 + 0.2 is not 0.3."""
    low, high, step = (Decimal(repr(number)) for number in (wire.min, wire.max, wire.step))
    return [float(low + i * step) for i in range(int((high - low) / step) + 1)]


@dataclass(frozen=True)
class Measure:
    """A column of numbers that sums, means and variances are taken of.

    Attributes:
        name: of the column.
        low, high: numbers outside of these were clipped to them.
        resolution: values are low, low + resolution, ..., high.
    """

    name: str
    low: float
    high: float
    resolution: float

    @property
    def values_text(self) -> str:
        """Its points: "0 to 200000 by 100"."""
        return f"{number_text(self.low)} to {number_text(self.high)} by {number_text(self.resolution)}"

    @property
    def clipped(self) -> str:
        """What statistics of it are of: "income clipped to 0..200000"."""
        return f"{self.name} clipped to {number_text(self.low)}..{number_text(self.high)}"


def _constraint_text(wire: schema_pb2.Constraint) -> str:
    """ "start <= end", or "(city, state) in 16 pairs"."""
    if wire.HasField("order"):
        return f"{wire.order.lower} {'<' if wire.order.strict else '<='} {wire.order.upper}"
    number = len(wire.allowed_pairs.pairs)
    return f"({', '.join(wire.allowed_pairs.attributes)}) in {number} pair{'' if number == 1 else 's'}"


class Schema:
    """All columns of a dataset, in their order: schema["age"] is one of them.

    Attributes:
        attributes: as a tuple of Attribute.
        measures: as a tuple of Measure; a measure may have the name of a column with bins.
        constraints: what all records fulfil, as a tuple of texts: "start <= end", "(city, state) in 16 pairs".

    >>> census.schema.names
    ('age', 'sex', 'zone', 'income')
    """

    def __init__(self, wire: schema_pb2.Schema) -> None:
        self.attributes = tuple(Attribute(each) for each in wire.attributes)
        self.measures = tuple(Measure(each.name, each.low, each.high, each.resolution) for each in wire.measures)
        self.constraints = tuple(_constraint_text(each) for each in wire.constraints)
        self._by_name = {each.name: each for each in self.attributes}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(each.name for each in self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        """The column of this name. InvalidQuestion where there is none."""
        try:
            return self._by_name[name]
        except KeyError:
            raise InvalidQuestion(f"there is no column {name!r}; the columns are: {', '.join(self.names)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

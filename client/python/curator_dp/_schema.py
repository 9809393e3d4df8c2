"""The public facts about the columns of a dataset, and the labels of their bins."""

from __future__ import annotations

from bisect import bisect_right
from decimal import Decimal
from typing import Optional, Union

import numpy as np
import pandas as pd

from curator_dp._errors import CuratorError
from curator_dp._wire.curator.v1 import schema_pb2

Edge = Union[int, float]


def number_text(number: float) -> str:
    """The shortest decimal that is this number, as the command line writes it: 20000, 0.5, 1e+20."""
    if number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


class Attribute:
    """One column, whose values lie in bins.

    >>> age = census.schema["age"]
    >>> age.kind, age.size, age.intervals()[0]
    ('integer', 4, Interval(18, 28, closed='left'))

    Attributes:
        name: of the column.
        kind: "categorical", "integer", "numeric" or "coded".
        labels: of the bins, in their order. Shape: (bins,).
    """

    def __init__(self, wire: schema_pb2.Attribute) -> None:
        self.name: str = wire.name
        self.kind: str = wire.WhichOneof("kind") or ""
        self._edges: Optional[list[Edge]] = None  # of bins [edge, next edge)
        if self.kind == "categorical":
            self.labels: list[str] = [*wire.categorical.values]
            if wire.categorical.HasField("catch_all"):
                self.labels.append(wire.categorical.catch_all)
        elif self.kind == "coded":
            self.labels = [str(code) for code in range(wire.coded.size)]
        elif self.kind == "integer":
            self.labels = self._integer_bins(wire.integer)
        elif self.kind == "numeric":
            self.labels = self._numeric_bins(wire.numeric)
        else:
            raise CuratorError(f"attribute {self.name} is of a kind that this version does not know: install a newer curator_dp")

    def _integer_bins(self, wire: schema_pb2.Integer) -> list[str]:
        width = wire.bin_width if wire.HasField("bin_width") else 1
        self._edges = [*range(wire.min, wire.max + 1, width), wire.max + 1]
        labels = []
        for first, after in zip(self._edges[:-1], self._edges[1:]):
            if after - first == 1:
                labels.append(str(first))
            elif after > wire.max:
                labels.append(f"[{first}, {wire.max}]")
            else:
                labels.append(f"[{first}, {after})")
        return labels

    def _numeric_bins(self, wire: schema_pb2.Numeric) -> list[str]:
        self._edges = [*wire.edges] if wire.edges else _stepped(wire)
        texts = [number_text(edge) for edge in self._edges]
        last = len(texts) - 2
        return [f"[{texts[i]}, {texts[i + 1]}{']' if i == last else ')'}" for i in range(last + 1)]

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.labels)

    @property
    def ends(self) -> list[Union[str, Edge]]:
        """The value that ends an interval with each bin as its last: what `Interval.to` of a question has. Shape: (bins,)."""
        if self._edges is None:
            return [*self.labels]
        if self.kind == "numeric":
            return [*self._edges[1:]]
        return [edge - 1 for edge in self._edges[1:]]

    def bin_of(self, value: str) -> int:
        """The code of the bin that a value lies in. CuratorError where there is none."""
        if self._edges is None:
            if value in self.labels:
                return self.labels.index(value)
            raise CuratorError(f"{self.name} has no value {value!r}; it has: {', '.join(self.labels[:10])}")
        try:
            number = float(value)
        except ValueError:
            raise CuratorError(f"{self.name} has numbers, and {value!r} is none") from None
        if self.kind == "numeric" and number == self._edges[-1]:
            return self.size - 1
        code = bisect_right(self._edges, number) - 1
        if not 0 <= code < self.size:
            raise CuratorError(f"{self.name} has values from {self._edges[0]} on to {self.ends[-1]}, not {value}")
        return code

    def value_range(self, code: int) -> tuple[str, str]:
        """The ends of a bin as an interval of a question has them: the second one is excluded for a numeric column."""
        if self._edges is None:
            return self.labels[code], self.labels[code]
        first, after = self._edges[code], self._edges[code + 1]
        return number_text(first), number_text(after if self.kind == "numeric" else after - 1)

    def prefix_label(self, last: int) -> str:
        """Of the bins up to and with this one, as the server writes it."""
        if self._edges is None:
            return self.labels[0] if last == 0 else f"{self.labels[0]} .. {self.labels[last]}"
        first, after = number_text(self._edges[0]), self._edges[last + 1]
        if self.kind == "numeric":
            return f"[{first}, {number_text(after)}{']' if last == self.size - 1 else ')'}"
        if after - self._edges[0] == 1:
            return first
        return f"[{first}, {number_text(after - 1)}]" if last == self.size - 1 else f"[{first}, {number_text(after)})"

    def categories(self) -> pd.CategoricalDtype:
        """The bins as ordered categories."""
        return pd.CategoricalDtype(self.labels, ordered=True)

    def intervals(self) -> Optional[pd.IntervalIndex]:
        """The bins as intervals, closed on the left; None for a column whose values are no numbers."""
        if self._edges is None:
            return None
        edges = np.asarray(self._edges)
        return pd.IntervalIndex.from_arrays(edges[:-1], edges[1:], closed="left")


def _stepped(wire: schema_pb2.Numeric) -> list[Edge]:
    """min, min + step, ... max. Decimals, since 0.1 + 0.2 is not 0.3."""
    low, high, step = (Decimal(repr(number)) for number in (wire.min, wire.max, wire.step))
    return [float(low + i * step) for i in range(int((high - low) / step) + 1)]


class Schema:
    """All columns of a dataset, in their order: schema["age"] is one of them.

    Attributes:
        attributes: as a tuple of Attribute.

    >>> census.schema.names
    ('age', 'sex', 'zone', 'income')
    """

    def __init__(self, wire: schema_pb2.Schema) -> None:
        self.attributes = tuple(Attribute(each) for each in wire.attributes)
        self._by_name = {each.name: each for each in self.attributes}

    @property
    def names(self) -> tuple[str, ...]:
        """Of the columns."""
        return tuple(each.name for each in self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        """The column of this name. CuratorError where there is none."""
        try:
            return self._by_name[name]
        except KeyError:
            raise CuratorError(f"there is no column {name!r}; the columns are: {', '.join(self.names)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

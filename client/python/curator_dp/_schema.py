"""The public facts about the columns of a dataset, and the labels of their bins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Optional, Union

import numpy as np
import pandas as pd

from curator_dp._errors import CuratorError, InvalidQuestion
from curator_dp._wire.curator.v1 import schema_pb2

Edge = Union[int, float]


def number_text(number: float) -> str:
    """The shortest decimal that is this number, for a request: 20000, 0.5, 1e+20."""
    if number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(number)


def label_text(number: float) -> str:
    """A number as labels of the server have it: with or without an exponent, whichever is shorter: 20000, 1e+05, 110000.

    >>> [label_text(number) for number in (20000, 100000, 110000, 0.001, 0.0001)]
    ['20000', '1e+05', '110000', '0.001', '1e-04']
    """
    exact = Decimal(repr(float(number)))
    sign, digits, exponent = exact.normalize().as_tuple()
    assert isinstance(exponent, int)
    plain = format(Decimal(number) if abs(number) >= 1 << 53 else exact.normalize(), "f")
    first, *rest = (str(digit) for digit in digits)
    power = exponent + len(rest)
    scientific = f"{'-' if sign else ''}{first}{'.' if rest else ''}{''.join(rest)}e{'-' if power < 0 else '+'}{abs(power):02d}"
    return scientific if len(scientific) < len(plain) else plain


class Attribute:
    """One column, whose values lie in bins.

    >>> age = census.schema["age"]
    >>> age.kind, age.size, age.intervals()[0]
    ('integer', 4, Interval(18, 28, closed='left'))

    Attributes:
        name: of the column.
        kind: "categorical", "integer", "numeric" or "coded".
    """

    def __init__(self, wire: schema_pb2.Attribute) -> None:
        self._wire = wire
        self.name: str = wire.name
        self.kind: str = wire.WhichOneof("kind") or ""
        if self.kind not in ("categorical", "coded", "integer", "numeric"):
            raise CuratorError(f"attribute {self.name} is of a kind that this version does not know: install a newer curator_dp")

    # A column may have millions of bins: nothing is made of them before it is wanted.

    @cached_property
    def labels(self) -> list[str]:
        """Of the bins, in their order. Shape: (bins,)."""
        if self.kind == "categorical":
            categorical = self._wire.categorical
            return [*categorical.values, *([categorical.catch_all] if categorical.HasField("catch_all") else [])]
        if self.kind == "coded":
            return [str(code) for code in range(self._wire.coded.size)]
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

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self._edges) - 1 if self._edges is not None else len(self.labels)

    @property
    def ends(self) -> list[Union[str, Edge]]:
        """The value that ends an interval with each bin as its last: what `Interval.to` of a question has. Shape: (bins,)."""
        if self._edges is None:
            return [*self.labels]
        if self.kind == "numeric":
            return [*self._edges[1:]]
        return [edge - 1 for edge in self._edges[1:]]

    def bin_of(self, value: str) -> int:
        """The code of the bin that a value lies in. InvalidQuestion where there is none."""
        if self._edges is None:
            if value in self._codes:
                return self._codes[value]
            raise InvalidQuestion(f"{self.name} has no value {value!r}; it has: {', '.join(self.labels[:10])}")
        try:
            number = float(value)
        except ValueError:
            raise InvalidQuestion(f"{self.name} has numbers, and {value!r} is none") from None
        if self.kind == "numeric" and number == self._edges[-1]:
            return self.size - 1
        code = bisect_right(self._edges, number) - 1
        if not 0 <= code < self.size:
            raise InvalidQuestion(f"{self.name} has values from {self._edges[0]} on to {self.ends[-1]}, not {value}")
        return code

    def whole_bin(self, value: str) -> int:
        """The code of the bin that has this label, or this value alone. InvalidQuestion where the value is a part of its bin."""
        if value in self._codes:
            return self._codes[value]
        code = self.bin_of(value)
        if self._edges is not None and not (self.kind == "integer" and self._edges[code + 1] - self._edges[code] == 1):
            raise InvalidQuestion(f"{value} is only a part of the bin {self.labels[code]} of {self.name}; ask for the whole bin")
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
        first, after = self._edges[0], self._edges[last + 1]
        if self.kind == "numeric":
            return f"[{label_text(first)}, {label_text(after)}{']' if last == self.size - 1 else ')'}"
        if after - first == 1:
            return str(first)
        return f"[{first}, {after - 1}]" if last == self.size - 1 else f"[{first}, {after})"

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
        """The column of this name. InvalidQuestion where there is none."""
        try:
            return self._by_name[name]
        except KeyError:
            raise InvalidQuestion(f"there is no column {name!r}; the columns are: {', '.join(self.names)}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

"""The numbers of an answer as tables: one row for each number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Optional

import numpy as np
import numpy.typing as npt
import pandas as pd

from curator_dp._errors import CuratorError
from curator_dp._query_sets import Naming
from curator_dp._schema import Schema
from curator_dp._wire.curator.v1 import query_pb2

Floats = npt.NDArray[np.float64]


class IncompleteAnswer(CuratorError):
    """The stream of an answer ended early, or its parts do not fit each other. The same call again has the whole answer, free."""


class _Numbers:
    """Numbers that arrive in slices, and their errors: one for each, one for all of a slice, or none."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self._have = 0
        self._values: list[npt.NDArray[Any]] = []
        self._deviations: list[Floats] = []
        self._half_widths: list[Floats] = []
        self._lows: list[Floats] = []
        self._highs: list[Floats] = []
        self.are_counts: Optional[bool] = None
        self.labels: list[str] = []

    def add(self, part: Any) -> None:
        are_counts = len(part.counts) > 0
        numbers = np.array(part.counts, dtype=np.int64) if are_counts else np.array(part.estimates, dtype=np.float64)
        if self.are_counts not in (None, are_counts):
            raise IncompleteAnswer("the answer cannot be read: counts and estimates are mixed")
        if part.offset != self._have or self._have + len(numbers) > self.expected:
            raise IncompleteAnswer(f"the answer cannot be read: numbers from {part.offset} on follow number {self._have}")
        self.are_counts = are_counts
        self._have += len(numbers)
        self._values.append(numbers)
        self._add_errors(part.standard_deviations, len(numbers), self._deviations)
        self._add_errors(part.confidence_half_widths, len(numbers), self._half_widths)
        self._add_intervals(np.array(part.interval_lows), np.array(part.interval_highs), len(numbers))

    def _add_intervals(self, lows: Floats, highs: Floats, numbers: int) -> None:
        if len(lows) == 0 and len(highs) == 0:
            return
        if len(lows) != numbers or len(highs) != numbers or not np.all(lows <= highs):
            raise IncompleteAnswer("the answer cannot be read: intervals that are not those of the numbers beside them")
        self._lows.append(lows)
        self._highs.append(highs)

    @staticmethod
    def _add_errors(errors: Any, numbers: int, to: list[Floats]) -> None:
        if len(errors) == 0:
            return
        if len(errors) not in (1, numbers):
            raise IncompleteAnswer("the answer cannot be read: errors that are not those of the numbers beside them")
        to.append(np.broadcast_to(np.array(errors, dtype=np.float64), (numbers,)))

    def finish(self) -> tuple[npt.NDArray[Any], Optional[Floats], Optional[Floats]]:
        if self._have != self.expected:
            raise IncompleteAnswer(f"the answer is incomplete: {self._have} of {self.expected} numbers have come")
        values = np.concatenate(self._values) if self._values else np.zeros(0, dtype=np.int64)
        return values, self._joined(self._deviations), self._joined(self._half_widths)

    def intervals(self) -> Optional[tuple[Floats, Floats]]:
        """The ends of the intervals of statistics and of post-processed numbers; None of others."""
        lows, highs = self._joined(self._lows), self._joined(self._highs)
        return None if lows is None or highs is None else (lows, highs)

    def _joined(self, errors: list[Floats]) -> Optional[Floats]:
        if not errors:
            return None
        joined = np.concatenate(errors)
        if len(joined) != self._have:
            raise IncompleteAnswer("the answer cannot be read: errors that are not those of the numbers beside them")
        return joined


class AnswerTable:
    """The numbers of one marginal, or of one query set of another class.

    Attributes:
        name: "age,sex" of a marginal; the class of a query set: "ranges".
        columns: of the labels: columns of the dataset, or "where", "at least", "parity", "statistic".
        values: shape (numbers,); integers for measured counts, floats for estimates. NaN for a statistic that is no number, as the mean
            of a group in which hardly a record is.
        std: standard deviation of the noise in each number, shape (numbers,); None where it is unknown.
        half_width: half the width of the interval around each number; None where there is none, and of statistics and post-processed
            numbers, whose intervals need not be symmetric: see low and high.
        confidence: of the intervals: each holds the true number with this probability; 0 where there are none.
    """

    def __init__(
        self,
        header: Any,
        numbers: _Numbers,
        answer: query_pb2.AnswerHeader,
        schema: Schema,
        naming: Optional[Naming] = None,
    ) -> None:
        self._header = header
        self._schema = schema
        self.is_marginal = isinstance(header, query_pb2.MarginalHeader)
        self.query_set: int = header.query_set
        self._asked_of: Optional[dict[str, str]] = None  # the columns of statistics whose names do not say them
        self.columns: tuple[str, ...] = tuple(header.attributes if self.is_marginal else header.columns)
        self.name: str = ",".join(self.columns) if self.is_marginal else header.query_class
        self.values, deviations, half_widths = numbers.finish()
        self._labels = numbers.labels
        self._intervals = None if answer.post_processing and self.is_statistics else numbers.intervals()
        if self.is_statistics:
            self._check_groups()
        if naming is not None:
            self._name_as(naming)
        self._set_errors(deviations, half_widths, answer)

    @property
    def is_statistics(self) -> bool:
        """Whether these are statistics of groups: all of one group after the other, as the last column, "statistic", names them."""
        return not self.is_marginal and self._header.query_class == "statistics"

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns without that of the names of statistics."""
        return self.columns[:-1] if self.is_statistics else self.columns

    def _check_groups(self) -> None:
        """IncompleteAnswer unless each group has the same statistics, in the same order."""
        if not self.columns:
            raise IncompleteAnswer("the answer cannot be read: statistics without their names")
        width = len(self.columns)
        self._groups = [tuple(self._labels[at : at + width - 1]) for at in range(0, len(self._labels), width)]
        names = self._labels[width - 1 :: width]
        each = next((i for i, group in enumerate(self._groups) if group != self._groups[0]), len(self._groups))
        self.statistics = tuple(names[:each])
        parts = range(0, len(names), max(each, 1))
        if any(tuple(names[at : at + each]) != self.statistics or len(set(self._groups[at : at + each])) > 1 for at in parts):
            raise IncompleteAnswer("the answer cannot be read: a group has other statistics than the first one")
        if "statistic" in self.columns[:-1]:
            self.columns = (*self.columns[:-1], "statistic (asked)")

    @property
    def clipped(self) -> tuple[str, ...]:
        """Of statistics: to what the values of their measures were clipped, which they are the statistics of.

        "income clipped to 0..200000".
        """
        return self._clipped_of(self.statistics) if self.is_statistics else ()

    def _clipped_of(self, statistics: Sequence[str]) -> tuple[str, ...]:
        """Of some of the statistics alone: nothing of "count"."""
        if self._asked_of is not None:
            asked = {self._asked_of.get(name, "") for name in statistics}
            return tuple(each.clipped for each in self._schema.measures if each.name in asked)
        of = [name.partition("(")[2] for name in statistics]
        measures = (each for each in self._schema.measures if any(inner.startswith((f"{each.name})", f"{each.name}, ")) for inner in of))
        return tuple(each.clipped for each in measures)

    def _name_as(self, naming: Naming) -> None:
        """Labels by columns in the place of the texts of conditions, the first column. Answers are predicate by predicate."""
        self.name = naming.name
        if naming.predicates == 0:
            return
        each = len(self.values) // naming.predicates
        texts = self._labels[:: len(self.columns)]
        if each * naming.predicates != len(self.values) or any(
            len(set(texts[i * each : (i + 1) * each])) > 1 for i in range(naming.predicates)
        ):
            raise IncompleteAnswer("the answer cannot be read: its predicates are not those of the question")
        own = {name: self._labels[i :: len(self.columns)] for i, name in enumerate(self.columns) if i > 0}
        for name, labels in naming.labels.items():
            own[name] = [label for label in labels for _ in range(each)]
        self.columns = naming.columns
        self._labels = [text for row in zip(*(own[name] for name in naming.columns)) for text in row]

    def _set_errors(self, deviations: Optional[Floats], half_widths: Optional[Floats], answer: query_pb2.AnswerHeader) -> None:
        """As the command line does: post-processed numbers have intervals alone, a model's have none."""
        self.std: Optional[Floats] = None
        self.half_width: Optional[Floats] = None
        self.confidence = 0.0
        if answer.post_processing:
            self.confidence = 0.0 if self._intervals is None else answer.confidence_level
            return
        self.std, self.half_width = deviations, half_widths
        noise = self._header.noise if self._header.HasField("noise") else None
        if noise is not None and self.is_marginal:
            shape = self.values.shape
            self.std = np.full(shape, noise.standard_deviation) if deviations is None else deviations
            self.half_width = np.full(shape, noise.confidence_half_width) if half_widths is None else half_widths
        if self.half_width is not None or self._intervals is not None:
            self.confidence = noise.confidence_level if noise is not None else answer.confidence_level

    @property
    def low(self) -> Optional[Floats]:
        """The lower ends of the intervals, shape (numbers,). May be below 0, although no count is; -inf where a statistic has no bound."""
        if self._intervals is not None:
            return self._intervals[0]
        return None if self.half_width is None else self.values.astype(np.float64) - self.half_width

    @property
    def high(self) -> Optional[Floats]:
        """The upper ends of the intervals, shape (numbers,); inf where a statistic has no bound."""
        if self._intervals is not None:
            return self._intervals[1]
        return None if self.half_width is None else self.values.astype(np.float64) + self.half_width

    @property
    def shape(self) -> tuple[int, ...]:
        """Of `to_numpy()`: the bins of each column of a marginal; (numbers,) of another query set."""
        return tuple(self._header.sizes) if self.is_marginal else self.values.shape

    def to_numpy(self) -> npt.NDArray[Any]:
        """The numbers, in the shape of the table: `shape`.

        >>> census.marginals(["age", "sex"]).answer(rho="0.002")["age", "sex"].to_numpy().shape
        (4, 3)
        """
        return self.values.reshape(self.shape)

    def label_columns(self) -> dict[str, pd.Categorical]:
        """What identifies each number: for each column the labels, shape (numbers,), as ordered categories where they are bins."""
        if self.is_marginal:
            return self._marginal_labels()
        texts = np.array(self._labels, dtype=object).reshape(len(self.values), len(self.columns))
        labels = {}
        for i, name in enumerate(self.columns):
            bins = self._schema[name].labels if name in self._schema else []
            if not set(texts[:, i]) <= set(bins):  # ranges, and conditions
                bins = list(dict.fromkeys(texts[:, i]))
            labels[name] = pd.Categorical(texts[:, i], categories=bins, ordered=True)
        return labels

    def _marginal_labels(self) -> dict[str, pd.Categorical]:
        labels = {}
        after = 1  # cells of the columns that vary faster
        for name, size in zip(reversed(self.columns), reversed(self._header.sizes)):
            attribute = self._schema[name]
            if attribute.size != size:
                raise IncompleteAnswer(f"the answer's column {name} with {size} bins is not the schema's")
            codes = np.arange(len(self.values)) // after % size
            labels[name] = pd.Categorical.from_codes(codes, dtype=attribute.categories())
            after *= size
        return dict(reversed(labels.items()))

    def to_frame(self, *, wide: bool = False, as_intervals: bool = False) -> pd.DataFrame:
        """One row for each number: label columns, then value, std, low and high. A label column with one of these names, or "query",
        is called "value (column)".

        Args:
            wide: a marginal of two columns as a cross table of its values; statistics as one row for each group, with the columns
                "mean(income)", "mean(income) low" and "mean(income) high" for each.
            as_intervals: bins of numbers and dates as pandas intervals, closed on the left; that of missing values is missing.

        >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> answer["age", "sex"].to_frame(wide=True).shape
        (4, 3)
        """
        labels: dict[str, Any] = dict(self.label_columns())
        if as_intervals:
            for name in self.columns:
                intervals = self._schema[name].intervals() if name in self._schema else None
                if intervals is not None and list(labels[name].categories) == self._schema[name].labels:
                    codes = np.where(labels[name].codes < len(intervals), labels[name].codes, -1)  # missing values are in none
                    labels[name] = pd.Categorical.from_codes(codes, categories=intervals, ordered=True)
        frame = pd.DataFrame({label_name(name): column for name, column in labels.items()})
        frame["value"] = self.values
        for name, numbers in (("std", self.std), ("low", self.low), ("high", self.high)):
            frame[name] = np.nan if numbers is None else numbers
        if not wide:
            return frame
        if self.is_statistics:
            return self._wide_statistics(frame)
        if len(self.columns) < 2:
            raise CuratorError(f"{self.name} has one column: wide=True is for two or more")
        *index, across = (label_name(name) for name in self.columns)
        if frame.duplicated([*index, across]).any():
            raise CuratorError(f"{self.name} has several numbers with the same labels: wide=True shows one for each")
        return frame.pivot(index=index, columns=across, values="value")


    def _wide_statistics(self, frame: pd.DataFrame) -> pd.DataFrame:
        """A row for each group, in the order of the answer."""
        each = len(self.statistics)
        groups = frame[[label_name(name) for name in self.key_columns]].iloc[:: max(each, 1)].reset_index(drop=True)
        columns: dict[str, Any] = {str(name): groups[name] for name in groups.columns}
        for i, name in enumerate(self.statistics):
            columns[name] = self.values[i::each]
            if self._intervals is not None:
                columns[f"{name} low"], columns[f"{name} high"] = (ends[i::each] for ends in self._intervals)
        return pd.DataFrame(columns)


NUMBER_COLUMNS = ("value", "std", "low", "high")


def label_name(column: str) -> str:
    """What a column of the dataset is called in a frame: "value" is "value (column)", beside the numbers' own."""
    return f"{column} (column)" if column in ("query", *NUMBER_COLUMNS) else column


def read_tables(
    chunks: Iterable[query_pb2.AnswerChunk], schema: Schema, namings: Sequence[Optional[Naming]] = ()
) -> tuple[query_pb2.AnswerHeader, list[AnswerTable]]:
    """The header and the tables of a stream, in the order of the request. IncompleteAnswer where it is not whole.

    `namings`: one for each query set of the request, where they are known.
    """
    header: Optional[query_pb2.AnswerHeader] = None
    opened: list[tuple[Any, _Numbers]] = []
    for chunk in chunks:
        part = chunk.WhichOneof("part")
        if part == "header":
            header = chunk.header
        elif part == "marginal":
            opened.append((chunk.marginal, _Numbers(int(np.prod(chunk.marginal.sizes, dtype=object)))))
        elif part == "query_set":
            opened.append((chunk.query_set, _Numbers(chunk.query_set.answer_count)))
        elif part in ("cells", "answers") and opened:
            opened[-1][1].add(getattr(chunk, part))
            if part == "answers":
                opened[-1][1].labels.extend(chunk.answers.labels)
        else:
            raise IncompleteAnswer("the answer cannot be read: a part of an unknown kind")
    if header is None or len(opened) != header.marginal_count + header.query_set_count:
        raise IncompleteAnswer("the answer is incomplete: tables are missing")
    named = dict(enumerate(namings))
    tables = [AnswerTable(table, numbers, header, schema, named.get(table.query_set)) for table, numbers in opened]
    return header, sorted(tables, key=lambda table: table.query_set)

"""Answers: tables of noisy counts with their errors, and what they cost."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
import pandas as pd
from google.protobuf import json_format

from curator_dp import _html
from curator_dp._errors import CuratorError, NotFound
from curator_dp._facts import facts_of
from curator_dp._query_sets import Naming
from curator_dp._schema import Schema
from curator_dp._spend import percent_down, percent_up
from curator_dp._tables import NUMBER_COLUMNS, AnswerTable, label_name, read_tables
from curator_dp._wire.curator.v1 import budget_pb2, query_pb2, schema_pb2

if TYPE_CHECKING:
    from curator_dp._client import Client


@dataclass(frozen=True)
class Cost:
    """What a request costs one account.

    Attributes:
        account: "dataset/census".
        counter: "epsilon", "epsilon_squared", "delta" or "rho".
        amount: exact.
        left: after it, and now of an answer that was stored before; None where it does not fit.
        share_of_promise: the amount as a share of what the account may spend in all: 0.02 for 2%.
        share_left: of the same, what is left after it; None where it does not fit, or was charged before.
    """

    account: str
    counter: str
    amount: Decimal
    left: Optional[Decimal]
    share_of_promise: float = 0.0
    share_left: Optional[float] = None

    @property
    def share_of_left(self) -> Optional[float]:
        """The amount as a share of what was left before it; None where share_left is."""
        before = self.share_of_promise + (self.share_left or 0.0)
        return None if self.share_left is None or before <= 0 else self.share_of_promise / before


def costs_of(wire: Sequence[budget_pb2.Cost], replayed: bool = False) -> tuple[Cost, ...]:
    return tuple(
        Cost(
            each.account,
            each.counter,
            Decimal(each.amount),
            Decimal(each.remaining) if each.remaining else None,
            each.share_of_promise,
            each.share_left if each.remaining and not replayed else None,
        )
        for each in wire
    )


def _cost_words(costs: Sequence[Cost], shares: Sequence[float]) -> str:
    """ "rho 0.001, 4.2% of the promise of dataset/census; ..., 61% left"."""
    accounts = list(dict.fromkeys(each.account for each in costs))
    texts = []
    for account, share in zip(accounts, [*shares, *([0.0] * len(accounts))]):
        amounts = ", ".join(f"{each.counter} {each.amount}" for each in costs if each.account == account)
        texts.append(f"{amounts}{f', {percent_up(share)} of the promise' if share else ''} of {account}")
    return "; ".join(texts)


@dataclass(frozen=True)
class Receipt:
    """The server's signed proof of one charge, to be kept: with it `verify` shows later that the ledger still has the charge.

    Attributes:
        statement: the JSON object that was signed.
        signature: Ed25519, 64 bytes.
        public_key: of the server that signed, 32 bytes.
    """

    statement: str
    signature: bytes
    public_key: bytes

    @classmethod
    def of_wire(cls, wire: budget_pb2.Receipt) -> Optional[Receipt]:
        """None where nothing was charged."""
        return cls(wire.statement, wire.signature, wire.public_key) if wire.statement else None

    def fields(self) -> dict[str, Any]:
        """What the statement says: "ledger_id", "dataset_id", "sequence", "entry_hash", "charge_id", ...

        >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> answer.receipt.fields()["charge_id"] == answer.charge_id
        True
        """
        fields: dict[str, Any] = json.loads(self.statement)
        return fields


class Answer:
    """The answer to a question. It is stored on the server, and the same question again returns the same numbers, free.

    Attributes:
        request_id: under which it was asked: answer(..., request_id=...) returns it again, also on another day.
        release_id, charge_id: as the server has them; empty for an answer that was computed from earlier ones.
        replayed: whether it was stored before, so that nothing was charged now.
        costs: what it cost each account, as a tuple of Cost. Empty for a free answer.
        share_of_promise: how much of the promise of each account that was, in their order: 0.02 for 2%, of the counter of which it took
            the largest share.
        cost: the same in words: "rho 0.001, 4.2% of the promise of dataset/census; 61% left"; "nothing now; ..." where it was stored
            before.
        max_error_of: as in Quote.
        event: what was recorded, for display.
        receipt: the signed proof of the charge; None for a free answer.
        free_from: the releases from which it was computed, free.
        could_be_free_from: releases from which `prefer_free=True` would have answered.
        post_processing: "non-negative, integer"; empty for the numbers as they were measured.
        domain_from_records, rows_from_query: as in Quote.
        tables: one AnswerTable for each marginal and each other query set, in the order of the question.
    """

    def __init__(
        self,
        chunks: Sequence[query_pb2.AnswerChunk],
        schema: schema_pb2.Schema,
        dataset: str,
        client: Optional[Client],
        namings: Sequence[Optional[Naming]] = (),
    ) -> None:
        self._chunks = chunks
        self._namings = namings
        self._wire_schema = schema
        self._schema = Schema(schema)
        self._client = client
        self.dataset = dataset
        header, self.tables = read_tables(chunks, self._schema, namings)
        self.request_id: str = header.request_id
        self.release_id: str = header.release_id
        self.charge_id: str = header.charge_id
        self.replayed: bool = header.replayed
        self.costs = costs_of(header.costs, header.replayed)
        self.share_of_promise: tuple[float, ...] = tuple(header.share_of_promise)
        self.max_error_of = ""
        self.event: str = header.event
        self.receipt = Receipt.of_wire(header.receipt)
        self.free_from = tuple(header.free_from)
        self.could_be_free_from = tuple(header.could_be_free_from)
        self.post_processing: str = header.post_processing
        self.domain_from_records: bool = header.domain_from_records
        self.rows_from_query: bool = header.rows_from_query

    def __getitem__(self, columns: Union[str, int, tuple[str, ...]]) -> AnswerTable:
        """The marginal over these columns, or the statistics by them, in any order: a["age"], a["age", "sex"]. Or the table with this
        index: a[0].

        NotFound where there is none.

        >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> answer["sex", "age"].columns
        ('age', 'sex')
        """
        if isinstance(columns, int):
            return self.tables[columns]
        wanted = {columns} if isinstance(columns, str) else set(columns)
        found = [table for table in self.tables if set(table.key_columns) == wanted]
        if not found:
            raise NotFound(f"the answer has no table over {', '.join(sorted(wanted))}; it has: {'; '.join(self._names())}")
        if len(found) > 1:
            indices = ", ".join(str(i) for i, table in enumerate(self.tables) if table in found)
            raise CuratorError(f"the answer has {len(found)} tables over {', '.join(sorted(wanted))}: take one by its index, {indices}")
        return found[0]

    def __len__(self) -> int:
        return len(self.tables)

    def _names(self) -> list[str]:
        return [", ".join(table.key_columns) or table.name for table in self.tables]

    def to_frame(self, *, as_intervals: bool = False, wide: bool = False) -> pd.DataFrame:
        """All numbers in one tidy table.

        Columns: "query" (the name of the table that a number belongs to), each label column (missing where a table does not have
        it), "value", "std", "low", "high". Categories are ordered as bins are.

        Args:
            wide: of the only table: see AnswerTable.to_frame(); statistics have one row for each group.
            as_intervals: of the only table: bins of numbers and dates as pandas intervals, closed on the left; that of missing values is
                missing.

        >>> frame = census.marginals(["age", "sex"]).answer(rho="0.002").to_frame()
        >>> frame.shape, frame["age"].cat.categories.to_list()
        ((12, 7), ['[18, 28)', '[28, 38)', '[38, 48)', '[48, 57]'])
        """
        if wide:
            if len(self.tables) != 1:
                raise CuratorError("wide=True is for one table: answer[...].to_frame(wide=True)")
            return self.tables[0].to_frame(wide=True, as_intervals=as_intervals)
        if as_intervals and len(self.tables) != 1:
            raise CuratorError("as_intervals=True is for one table: answer[...].to_frame(as_intervals=True)")
        if as_intervals:
            frame = self.tables[0].to_frame(as_intervals=True)
            frame.insert(0, "query", self.tables[0].name)
            return frame
        sizes = [len(table.values) for table in self.tables]
        names = pd.Categorical(np.repeat([table.name for table in self.tables], sizes))
        frame = pd.DataFrame({"query": names, **{label_name(name): column for name, column in self._labels(sizes).items()}})
        for name in NUMBER_COLUMNS:
            frame[name] = self._numbers(name, sizes)
        return frame

    def _labels(self, sizes: list[int]) -> dict[str, pd.Categorical]:
        labelled = [table.label_columns() for table in self.tables]
        occurring = list(dict.fromkeys(name for labels in labelled for name in labels))
        ordered = [name for name in self._schema.names if name in occurring]
        ordered += [name for name in occurring if name not in ordered]
        return {name: _joined([labels.get(name) for labels in labelled], sizes) for name in ordered}

    def _numbers(self, name: str, sizes: list[int]) -> Any:
        if name == "value":
            return np.concatenate([table.values for table in self.tables]) if self.tables else np.zeros(0)
        parts = [getattr(table, name) for table in self.tables]
        return np.concatenate([np.full(size, np.nan) if part is None else part for part, size in zip(parts, sizes)] or [np.zeros(0)])

    def to_numpy(self) -> Any:
        """The numbers of the only table, in its shape: one dimension for each column of a marginal.

        >>> census.marginals(["age", "sex"]).answer(rho="0.002").to_numpy().shape
        (4, 3)
        """
        if len(self.tables) != 1:
            raise CuratorError("to_numpy() is for one table: answer['age', 'sex'].to_numpy()")
        return self.tables[0].to_numpy()

    def to_polars(self) -> Any:
        """to_frame() as a polars.DataFrame. Needs polars and pyarrow."""
        try:
            import polars
        except ImportError:
            raise CuratorError("to_polars() needs polars and pyarrow, which Debian 12 does not have: pip install polars pyarrow") from None
        return polars.from_pandas(self.to_frame())

    def to_arrow(self) -> Any:
        """to_frame() as a pyarrow.Table. Needs pyarrow."""
        try:
            import pyarrow
        except ImportError:
            raise CuratorError("to_arrow() needs pyarrow, which Debian 12 does not have: pip install pyarrow") from None
        return pyarrow.Table.from_pandas(self.to_frame(), preserve_index=False)

    def at(
        self,
        *,
        confidence: Optional[float] = None,
        non_negative: bool = False,
        consistent: bool = False,
        integer: bool = False,
    ) -> Answer:
        """The same measurements with other intervals or after post-processing. Free: no record is read.

        Args:
            confidence: of each interval, between 0 and 1.
            non_negative: counts below 0 become 0.
            consistent: overlapping marginals agree with each other, by weighted least squares.
            integer: whole numbers.

        Changed numbers have no standard deviations: their errors are no longer those of the noise. Their intervals are those of the
        measured numbers, from 0 on where they are non-negative, and wide enough to hold the changed ones.

        >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> answer.at(confidence=0.8).tables[0].confidence, answer.at(integer=True).post_processing
        (0.8, 'integer')
        """
        if self._client is None or not self.release_id:
            raise CuratorError("at() is for an answer that was charged for, and asks the server: load(path, client) gives one a client")
        chunks = self._client._release(self.release_id, confidence, non_negative, consistent, integer)
        return Answer(chunks, self._wire_schema, self.dataset, self._client, self._namings)

    def plot(self, *columns: str, ax: Any = None) -> Any:
        """Numbers as dots with their intervals as bars. Needs matplotlib. Of statistics each has a plot of its own; an interval without
        an end is dotted up to the end of the axis.

        Args:
            columns: of the table to plot: the one over exactly these, of statistics by these; otherwise each table of at most two columns
                that has them, in a plot of its own, with the first of them along the axis. The first table when left out.
            ax: the axes to draw one table on; new ones when left out.

        Returns:
            The axes; a list of them for several tables.

        >>> axes = census.marginals(["age", "sex"]).answer(rho="0.002").plot("age", "sex")
        >>> axes.get_xlabel()
        'age'
        """
        from curator_dp import _plots

        tables = self._tables_with(columns) if columns else self.tables[:1]
        if len(tables) == 1 and tables[0].is_statistics:
            drawn = _plots.plot_statistics(tables[0], ax, columns[:1])
            return drawn[0] if len(drawn) == 1 else drawn
        if len(tables) != 1 and ax is not None:
            raise CuratorError(f"{len(tables)} tables have {', '.join(columns)}, and ax= is for one: name the columns of one")
        axes = [_plots.plot_table(table, ax, columns[:1]) for table in tables]
        return axes[0] if len(axes) == 1 else axes

    def _tables_with(self, columns: tuple[str, ...]) -> list[AnswerTable]:
        exact = [table for table in self.tables if set(table.key_columns) == set(columns)]
        found = exact or [table for table in self.tables if set(table.columns) >= set(columns) and len(table.columns) <= 2]
        if not found:
            raise NotFound(f"the answer has no table of at most two columns with {', '.join(columns)}; it has: {'; '.join(self._names())}")
        return found

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes all that came from the server, with the receipt, to one JSON file. `curator_dp.load` reads it.

        >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> answer.save(folder / "ages.curator")
        >>> cu.load(folder / "ages.curator").to_frame().equals(answer.to_frame())
        True
        """
        document = {
            "document": "curator.answer.v1",
            "dataset": self.dataset,
            "schema": json_format.MessageToDict(self._wire_schema, preserving_proto_field_name=True),
            "names": [asdict(each) if each is not None else None for each in self._namings],
            "chunks": [json_format.MessageToDict(chunk, preserving_proto_field_name=True) for chunk in self._chunks],
        }
        temporary = Path(f"{os.fspath(path)}.new")
        temporary.write_text(json.dumps(document), encoding="utf-8")
        temporary.replace(os.fspath(path))

    @property
    def cost(self) -> str:
        """What the answer cost, in words; "nothing" for a free one.

        >>> first = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> census.marginals(["age", "sex"]).answer(rho="0.002").cost.split(":")[0]
        'nothing now; when it was charged'
        """
        if not self.costs:
            return "nothing"
        words = _cost_words(self.costs, self.share_of_promise)
        if self.replayed:
            return f"nothing now; when it was charged: {words}"
        known = [each.share_left for each in self.costs if each.share_left is not None and each.share_of_promise > 0]
        return f"{words}; {percent_down(min(known))} left" if known else words

    def __repr__(self) -> str:
        numbers = sum(len(table.values) for table in self.tables)
        return f"<Answer of {self.dataset}: {numbers} numbers, cost {self.cost}{facts_of(self)}>"

    def _repr_html_(self) -> str:
        return _html.answer(self)


def _joined(parts: list[Optional[pd.Categorical]], sizes: list[int]) -> pd.Categorical:
    """One column of the labels of several tables, of which some do not have it."""
    given = [part for part in parts if part is not None]
    categories = given[0].categories
    for part in given[1:]:
        if not part.categories.equals(categories):
            categories = categories.append(part.categories.difference(categories, sort=False))
    codes = np.full(sum(sizes), -1, dtype=np.int64)
    begin = 0
    for part, size in zip(parts, sizes):
        if part is not None:
            same = part.categories.equals(categories[: len(part.categories)])
            codes[begin : begin + size] = part.codes if same else categories.get_indexer(part.categories)[part.codes]
        begin += size
    return pd.Categorical.from_codes(codes, categories=categories, ordered=True)


def load(path: Union[str, os.PathLike[str]], client: Optional[Client] = None) -> Answer:
    """Reads an answer that Answer.save() wrote. With a client, `at()` works on it. CuratorError where the file is no such answer."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
        if document["document"] != "curator.answer.v1":
            raise KeyError("document")
        schema = json_format.ParseDict(document["schema"], schema_pb2.Schema())
        chunks = [json_format.ParseDict(chunk, query_pb2.AnswerChunk()) for chunk in document["chunks"]]
        namings = [_naming_of(each) if each else None for each in document["names"]]
        return Answer(chunks, schema, str(document["dataset"]), client, namings)
    except (ValueError, KeyError, TypeError, json_format.ParseError) as error:
        raise CuratorError(f"{os.fspath(path)} is no saved answer: {error}") from None


def _naming_of(saved: dict[str, Any]) -> Naming:
    return Naming(saved["name"], saved["predicates"], tuple(saved["columns"]), {name: tuple(texts) for name, texts in saved["labels"].items()})

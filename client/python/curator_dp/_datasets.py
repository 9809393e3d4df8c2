"""Datasets: what is public of them, and the questions that can be asked of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Optional, Union

import pandas as pd

from curator_dp import _html, _query_sets
from curator_dp._budgets import Budget
from curator_dp._charges import Charge, Event, Lifetime, lifetime_seconds
from curator_dp._conditions import AnyConditions, Value, conditions_of, parse_thresholds, value_text
from curator_dp._enums import name_of
from curator_dp._errors import CuratorError, InvalidQuestion, Unavailable
from curator_dp._facts import facts_of
from curator_dp._query_sets import Names, count_of, names_of
from curator_dp._questions import Question, checked_parts
from curator_dp._request_ids import AnyRequestId, checked_request_id, new_request_id
from curator_dp._schema import Schema
from curator_dp._spend import Amount, spend_of
from curator_dp._sql import SqlQuestion
from curator_dp._statistics import AnyStatistic, Share, Statistic, StatisticsSet, share_text, statistics_of
from curator_dp._synthesis import Synthesis
from curator_dp._wire.curator.v1 import accountant_pb2, dataset_pb2, query_pb2, synthesis_pb2

if TYPE_CHECKING:
    from curator_dp._client import Client

# Beyond it a list of datasets shows no budgets: each is a call of its own.
_MOST_BUDGETS = 100


class Dataset:
    """A private table: what is public of it, and the questions that can be asked of it.

    Attributes:
        name, owner: of the dataset.
        id: permanent, and no other dataset's.
        version: 0 until it is sealed; grows with each part that is sealed.
        state: "CREATED", "SEALED" or "ARCHIVED".
        schema: its columns and their bins, a Schema.
        domain_from_records: ranges, categories or bins were chosen by somebody who had seen records: the guarantee does not cover
            that choice.
        rows_from_query: the guarantee is about the rows that were imported, which came from a query.
    """

    def __init__(self, client: Client, wire: dataset_pb2.Dataset) -> None:
        self._client = client
        self._wire = wire
        self.name: str = wire.name
        self.owner: str = wire.owner
        self.id: str = wire.id
        self.version: int = wire.version
        self.domain_from_records: bool = wire.domain_from_records
        self.rows_from_query: bool = wire.rows_from_query
        self.state = name_of(dataset_pb2.DatasetState, wire.state, "DATASET_STATE_")
        self.schema = Schema(wire.schema)

    # ---- Questions. None of these but sql() asks the server, and nothing is charged.

    def marginals(self, *sets: Union[int, Names], over: Names = (), max_cells: Optional[int] = None) -> Question:
        """Counts of each combination of values.

        Args:
            sets: one number k, for all sets of k columns; or sets of columns: marginals(["age", "sex"], "education").
            over: the columns of which all k are taken; all of the dataset when empty.
            max_cells: of all sets of k columns, those with more cells than this are left out; a quote says how many.

        >>> census.marginals(2, over=["age", "sex", "zone"]).quote(rho="0.01").numbers
        33
        >>> quote = census.marginals(2, over=["age", "sex", "zone"], max_cells=9).quote(rho="0.01")
        >>> quote.numbers, quote.left_out
        (9, 2)
        """
        if len(sets) == 1 and not isinstance(sets[0], Iterable):
            most = None if max_cells is None else count_of(max_cells, "max_cells")
            return self._question(_query_sets.Marginals(k=count_of(sets[0], "k"), columns=self._columns(over), max_cells=most))
        if max_cells is not None:
            raise InvalidQuestion("marginals: max_cells is for all sets of k columns, marginals(2, max_cells=1000)", "max_cells")
        named = tuple(self._columns(each) for each in sets if isinstance(each, Iterable))
        if not sets or over or len(named) < len(sets):
            raise InvalidQuestion('marginals: either one number, marginals(2, over=["age", "sex"]), or sets of columns')
        return self._question(_query_sets.Marginals(sets=named))

    def prefixes(self, column: str, by: Names = ()) -> Question:
        """Cumulative counts of a column, up to and with each of its bins; for each combination of values of `by`.

        >>> [each.numbers for each in census.prefixes("income", by="sex").quote(rho="0.01").errors]
        [9]
        """
        return self._question(_query_sets.Prefixes(column, self._columns(by)))

    def ranges(self, *columns: str, between: Sequence[tuple[Optional[Value], Optional[Value]]] = ()) -> Question:
        """How many records lie between two ends.

        Args:
            columns: one, or several for boxes.
            between: the intervals of one column, [(30, 40), (18, 37)]; all there are when empty. None is the column's own end.

        >>> census.ranges("age", between=[(18, 37), (38, None)]).quote(rho="0.01").numbers
        2
        """
        if between and len(columns) != 1:
            raise InvalidQuestion("ranges: between= is for one column; boxes are conditions: count('age in [30,40] and zone in [1,2]')")
        return self._question(_query_sets.Ranges(columns, tuple((_ends_of(each),) for each in between)))

    def count(self, *conditions: AnyConditions, by: Names = (), where: Optional[AnyConditions] = None) -> Question:
        """How many records there are, for each combination of values of `by`.

        Args:
            conditions: "age in [30,40] and sex = Female", or built with col(): one count for each of these, as a table of its own.
            by: columns.
            where: instead of `conditions`: a statistic as mean() and others are, of the records that fulfil it, which can be added to them.

        >>> question = census.count("age in [18,37]", cu.col("zone") == 1, by="sex")
        >>> question.quote(rho="0.01").errors[0].numbers
        6
        """
        if not conditions:
            return self.statistics("count", by=by, where=where)
        if where is not None:
            raise InvalidQuestion("count: give either conditions, count('age >= 65'), or where=", "where")
        return self._question(_query_sets.Counts(tuple(conditions_of(each) for each in conditions), self._columns(by)))

    def sql(self, statement: str) -> SqlQuestion:
        """A question in SQL: one SELECT from this dataset, a part of PostgreSQL's (docs/SQL.md). The server translates it, free.

        The answer's to_frame() has one row for each group, in the order of the statement.

        Raises:
            InvalidQuestion: with the line, a mark under the place, and what would be understood.
        """
        request = query_pb2.TranslateSqlRequest(dataset=self.name, sql=statement)
        return SqlQuestion(self, (), statement=statement, translation=self._client._translate_sql(request))

    def sum(self, measure: str, *, by: Names = (), where: Optional[AnyConditions] = None) -> Question:
        """The sum of a measure, of its values as they were clipped, in each group.

        Args:
            measure: or an integer column with bins of one value.
            by: columns: one answer for each combination of their values; one of all records when empty.
            where: of the records alone that fulfil it.
        """
        return self.statistics(Statistic("sum", measure), by=by, where=where)

    def mean(self, measure: str, *, by: Names = (), where: Optional[AnyConditions] = None) -> Question:
        """The mean of a measure in each group: arguments as in sum(). NaN for a group in which hardly a record is.

        The interval of a mean is unbounded where the noisy number of values is not clear of 0.
        """
        return self.statistics(Statistic("mean", measure), by=by, where=where)

    def variance(self, measure: str, *, by: Names = (), where: Optional[AnyConditions] = None) -> Question:
        """The variance of a measure in each group, divided by the number of values minus one: arguments as in sum()."""
        return self.statistics(Statistic("variance", measure), by=by, where=where)

    def median(self, measure: str, *, by: Names = (), where: Optional[AnyConditions] = None) -> Question:
        """The median of a measure in each group, "quantile(income, 0.5)" in answers: arguments as in sum()."""
        return self.statistics(Statistic("median", measure), by=by, where=where)

    def quantiles(
        self, measure: str, at: Union[Share, Iterable[Share]], *, by: Names = (), where: Optional[AnyConditions] = None
    ) -> Question:
        """Quantiles of a measure, a numeric or an integer column in each group: quantiles("income", [0.25, 0.75]).

        Args:
            at: decimals between 0 and 1, with at most three digits after the point.
            measure, by, where: as in sum().

        How they are measured is `measured(strategy=...)`: "tree", "selection", or the better one of both, "auto".
        """
        shares = [at] if isinstance(at, (str, float, Decimal)) or not isinstance(at, Iterable) else at
        return self.statistics([Statistic("quantile", measure, share_text(each)) for each in shares], by=by, where=where)

    def distinct_units(self, *, by: Names = (), where: Optional[AnyConditions] = None) -> Question:
        """How many persons or groups, of whatever the dataset protects, have a record in each group."""
        return self.statistics(Statistic("distinct units"), by=by, where=where)

    def statistics(
        self,
        statistics: Union[AnyStatistic, Iterable[AnyStatistic]],
        *,
        by: Names = (),
        where: Optional[AnyConditions] = None,
    ) -> Question:
        """Several statistics of the same groups, which share what is measured.

        Args:
            statistics: "count", "mean(income)", "quantile(income, 0.25)", ..., or Statistic.
            by, where: as in sum().

        >>> census.statistics(["count", "mean(age)"], by="sex") == census.count(by="sex") + census.mean("age", by="sex")
        True
        """
        conditions = None if where is None else conditions_of(where)
        return self._question(StatisticsSet(statistics_of(statistics), self._columns(by), conditions))

    def thresholds(self, text: str, by: Names = ()) -> Question:
        """How many records fulfil at least so many conditions.

        >>> census.thresholds("at least 1,2 of (age >= 48, zone = 1)").quote(rho="0.01").errors[0].numbers
        2
        """
        return self._question(_query_sets.ThresholdCounts(parse_thresholds(text), self._columns(by)))

    def parities(self, k: int, over: Names = ()) -> Question:
        """Records with an even number of second values minus those with an odd number, of all sets of 1 to k two-valued columns.

        InvalidQuestion where a column of `over` has other than two bins.
        """
        return self._question(_query_sets.Parities(count_of(k, "k"), self._columns(over)))

    def _columns(self, names: Names) -> tuple[str, ...]:
        return names_of(names, self.schema.names)

    def _question(self, queries: _query_sets.QuerySet) -> Question:
        return Question(self, (queries,))

    # ---- Calls

    def budget(self) -> Budget:
        """What the accounts that your charges post to have spent, and what is left. Exact decimals.

        >>> census.budget().accounts[0].name
        'dataset/census'
        """
        return self._client._budget(self.name)

    def synthesize(
        self,
        method: str = "auto",
        *,
        epsilon: Optional[Amount] = None,
        delta: Optional[Amount] = None,
        rho: Optional[Amount] = None,
        workload: Optional[Question] = None,
        parts: Optional[Names] = None,
        request_id: Optional[AnyRequestId] = None,
        fresh: bool = False,
        **settings: object,
    ) -> Synthesis:
        """Begins to learn a model of the data, and charges for it: returns when the charge is durable. wait() for the model.

        Args:
            method: "auto" chooses one by what is public and a noisy number of records; "aim", "mwem", ...: client.synthesizers()
                has them, and their settings.
            epsilon, delta, rho: the amount to spend.
            workload: what the model should answer well; all two-way marginals when left out. Its parts and mechanism are not used,
                and must be left out.
            parts: of a partitioned dataset; all sealed ones when left out.
            request_id, fresh: as in Question.answer().
            settings: of the method: rounds=20.

        >>> model = census.synthesize(rho="0.001").wait(progress=False)
        >>> model.sample(100).shape
        (100, 4)
        """
        request = synthesis_pb2.CreateSynthesisRequest(dataset=self.name)
        request.spec.method = method
        spend = spend_of(epsilon, delta, rho)
        if spend is None:
            raise InvalidQuestion("synthesize: give an amount, epsilon= or rho=", "spec.spend")
        request.spec.spend.CopyFrom(spend)
        for key, value in settings.items():
            request.spec.settings[key] = str(value)
        if workload is not None:
            request.spec.workload.CopyFrom(workload.workload_for_model(self.name))
        if parts is not None:
            request.spec.parts.extend(checked_parts(parts))
        request.request_id = self._client._request_id("synthesis", request, self, request_id, fresh)
        return Synthesis(self._client, self._client._create_synthesis(request), self, request)

    def charge(
        self, event: Event, *, summary: str = "", lifetime: Optional[Lifetime] = None, request_id: Optional[AnyRequestId] = None
    ) -> Charge:
        """A charge for a mechanism of your own: a context, see Charge.

        Args:
            event: what the mechanism does: gaussian(sigma2=600, l2=6), pure(epsilon), ...
            summary: one public line for display.
            lifetime: of the reservation, seconds or a timedelta; one hour when left out.
            request_id: of a reservation that is to be found again; a new one when left out.

        >>> with census.charge(cu.zcdp("0.001"), summary="a histogram of our own") as charge:
        ...     pass  # read the data and publish
        >>> charge.state
        'COMMITTED'
        """
        request = accountant_pb2.ReserveBudgetRequest(dataset=self.name, event=event.to_wire(), summary=summary)
        seconds = lifetime_seconds(lifetime)
        if seconds is not None:
            request.lifetime.seconds = seconds
        request.request_id = checked_request_id(request_id) if request_id is not None else new_request_id()
        return Charge(self._client, request)

    # ---- For the owner.

    def imports(self) -> pd.DataFrame:
        """PRIVATE: what was imported into a dataset of yours that is not sealed, from the first to the last; undone ones are left out.

        Returns:
            One row for each import: "import", its request id; "part"; "time", in UTC; "rows", those that were accepted; "source", "file",
            "table" or "query".
        """
        return pd.DataFrame([_import_row(each) for each in self._client._list_imports(self.name)], columns=list(_IMPORT_COLUMNS))

    def undo_import(self, import_id: AnyRequestId, *, request_id: Optional[AnyRequestId] = None) -> None:
        """Removes the records of an import of yours, until the dataset or its part is sealed; the history says so. Repeating it changes
        nothing.

        Args:
            import_id: its request id, the "import" of imports().

        Raises NotFound where there is no such import, and CuratorError where its records are sealed.
        """
        request = dataset_pb2.UndoImportRequest(dataset=self.name, import_request_id=checked_request_id(import_id, "import_id"))
        request.request_id = checked_request_id(request_id) if request_id is not None else new_request_id()
        self._client._undo_import(request)

    def delete(self, *, request_id: Optional[AnyRequestId] = None) -> str:
        """Removes the records of a dataset of yours that was never charged, for good. Its name is free; its history stays.

        Returns its id, by which its history is read. CuratorError where there is a charge, a look of yours, or a successor.
        """
        request = dataset_pb2.DeleteDatasetRequest(dataset=self.name)
        request.request_id = checked_request_id(request_id) if request_id is not None else new_request_id()
        return self._client._delete_dataset(request)

    def __repr__(self) -> str:
        columns = _number_of(len(self.schema.attributes), "column")
        measures = f", {_number_of(len(self.schema.measures), 'measure')}" if self.schema.measures else ""
        return f"<Dataset {self.name} of {self.owner}: {self.state}, {columns}{measures}{facts_of(self)}>"

    def _repr_html_(self) -> str:
        try:
            budget: Optional[Budget] = self.budget()
        except CuratorError:
            budget = None  # public, or not yours to see
        return _html.dataset(self, budget)


_IMPORT_COLUMNS = ("import", "part", "time", "rows", "source")


def _number_of(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _import_row(wire: dataset_pb2.Import) -> tuple[object, ...]:
    source = name_of(dataset_pb2.RecordSource, wire.source, "RECORD_SOURCE_").lower()
    time = pd.Timestamp(wire.time.ToNanoseconds(), tz="UTC") if wire.HasField("time") else pd.NaT
    return (wire.request_id, wire.part, time, wire.rows_accepted, "file" if source == "unspecified" else source)


def _ends_of(pair: object) -> tuple[Optional[str], Optional[str]]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise InvalidQuestion(f"between: pairs of ends, [(18, 37)], not {pair!r}", "between")
    low, high = (None if end is None else value_text(end) for end in pair)
    return low, high


def _row_of(dataset: Dataset, budget: Optional[Budget]) -> tuple[object, ...]:
    account = budget.accounts[0] if budget and budget.accounts else None
    left = f"{account.counters[0].name} {account.left}" if account else ""
    promise = account.promise if account else ""
    return (dataset.name, dataset.owner, dataset.state, budget.protects if budget else "", promise, left)


class DatasetTable(Sequence[Dataset]):
    """The datasets that you may see, with their promises and what is left of them."""

    columns = ("name", "owner", "state", "protects", "promise", "left")

    def __init__(self, client: Client, datasets: Sequence[Dataset]) -> None:
        self._client = client
        self._datasets = tuple(datasets)
        self._rows: list[tuple[object, ...]] = []

    def __getitem__(self, index: Any) -> Any:
        return self._datasets[index]

    def __len__(self) -> int:
        return len(self._datasets)

    def rows(self) -> list[tuple[object, ...]]:
        """One for each dataset: `columns`. Budgets are asked for once, and shown of the first 100 datasets."""
        if not self._rows:
            budgets = self._budgets()
            self._rows = [_row_of(each, budgets.get(each.name)) for each in self._datasets]
        return self._rows

    def _budgets(self) -> dict[str, Budget]:
        budgets = {}
        for each in self._datasets[:_MOST_BUDGETS]:
            try:
                budgets[each.name] = each.budget()
            except Unavailable:
                break
            except CuratorError:
                continue  # public, or not yours to see
        return budgets

    def to_frame(self) -> pd.DataFrame:
        """One row for each dataset: "name", "owner", "state", "protects", "promise", "left"."""
        return pd.DataFrame(self.rows(), columns=list(self.columns))

    def __repr__(self) -> str:
        return str(self.to_frame().to_string(index=False))

    def _repr_html_(self) -> str:
        return _html.datasets(self)

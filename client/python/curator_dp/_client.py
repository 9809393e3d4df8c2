"""The client: datasets, questions and their answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Optional, Union

import pandas as pd

from curator_dp import _conditions, _html, _questions, _tokens
from curator_dp._answers import Answer
from curator_dp._budgets import Budget, promise_of
from curator_dp._charges import Charge, Event, lifetime_seconds
from curator_dp._conditions import AnyConditions
from curator_dp._connection import Connection, Metadata, Options, RetryPolicy, cancelled_unless_read, takes_tokens
from curator_dp._errors import CuratorError, InvalidQuestion, NotFound
from curator_dp._questions import Names, names_of
from curator_dp._quotes import Quote, confidence_of
from curator_dp._request_ids import Study, checked_request_id, new_request_id
from curator_dp._schema import Schema
from curator_dp._services import Service
from curator_dp._spend import Amount, spend_of
from curator_dp._synthesis import Synthesis
from curator_dp._wire.curator.v1 import (
    accountant_pb2,
    budget_pb2,
    dataset_pb2,
    operation_pb2,
    query_pb2,
    synthesis_pb2,
    version_pb2,
    workload_pb2,
)

_MECHANISMS = {
    "auto": workload_pb2.MECHANISM_UNSPECIFIED,
    "laplace": workload_pb2.MECHANISM_DISCRETE_LAPLACE,
    "gaussian": workload_pb2.MECHANISM_DISCRETE_GAUSSIAN,
}
_LARGEST_PAGE = 1000
# Beyond it a list of datasets shows no budgets: each is a call of its own.
_MOST_BUDGETS = 100


def _mechanism_of(name: str) -> Any:
    if name not in _MECHANISMS:
        raise InvalidQuestion(f"mechanism: {name!r} is none of {', '.join(_MECHANISMS)}", "mechanism")
    return _MECHANISMS[name]


class Dataset:
    """A private table: what is public of it, and the questions that can be asked of it.

    Attributes:
        name, owner: of the dataset.
        id: permanent, and no other dataset's.
        version: 0 until it is sealed; grows with each part that is sealed.
        state: "CREATED", "SEALED" or "ARCHIVED".
        schema: its columns and their bins, a Schema.
    """

    def __init__(self, client: Client, wire: dataset_pb2.Dataset) -> None:
        self._client = client
        self._wire = wire
        self.name: str = wire.name
        self.owner: str = wire.owner
        self.id: str = wire.id
        self.version: int = wire.version
        self.state = dataset_pb2.DatasetState.Name(wire.state).removeprefix("DATASET_STATE_")
        self.schema = Schema(wire.schema)

    # ---- Questions. None of these asks the server, and nothing is charged.

    def marginals(self, *sets: Union[int, Names], over: Names = ()) -> Question:
        """Counts of each combination of values.

        Args:
            sets: one number k, for all sets of k columns; or sets of columns: marginals(["age", "sex"], "education").
            over: the columns of which all k are taken; all of the dataset when empty.

        >>> census.marginals(2, over=["age", "sex", "zone"]).quote(rho="0.01").numbers
        33
        """
        if len(sets) == 1 and isinstance(sets[0], int):
            return self._question(_questions.Marginals(k=sets[0], columns=names_of(over)))
        if not sets or over or any(isinstance(each, int) for each in sets):
            raise InvalidQuestion('marginals: either one number, marginals(2, over=["age", "sex"]), or sets of columns')
        return self._question(_questions.Marginals(sets=tuple(names_of(each) for each in sets if not isinstance(each, int))))

    def prefixes(self, column: str, by: Names = ()) -> Question:
        """Cumulative counts of a column, up to and with each of its bins; for each combination of values of `by`.

        >>> [each.numbers for each in census.prefixes("income", by="sex").quote(rho="0.01").errors]
        [9]
        """
        return self._question(_questions.Prefixes(column, names_of(by)))

    def ranges(self, *columns: str, between: Sequence[tuple[Any, Any]] = ()) -> Question:
        """How many records lie between two ends.

        Args:
            columns: one, or several for boxes.
            between: the intervals of one column, [(30, 40), (18, 37)]; all there are when empty. None is the column's own end.

        >>> census.ranges("age", between=[(18, 37), (38, None)]).quote(rho="0.01").numbers
        2
        """
        if between and len(columns) != 1:
            raise InvalidQuestion("ranges: between= is for one column; boxes are conditions: count('age in [30,40] and zone in [1,2]')")
        text = _conditions.value_text
        boxes = tuple(((None if low is None else text(low), None if high is None else text(high)),) for low, high in between)
        return self._question(_questions.Ranges(columns, boxes))

    def count(self, *where: AnyConditions, by: Names = ()) -> Question:
        """How many records fulfil all conditions: one count for each of `where`, and for each combination of values of `by`.

        Args:
            where: "age in [30,40] and sex = Female", or built with col().

        >>> question = census.count("age in [18,37]", cu.col("zone") == 1, by="sex")
        >>> question.quote(rho="0.01").errors[0].numbers
        6
        """
        if not where:
            raise InvalidQuestion("count: give a condition, count('age >= 65'); marginals(1) has the counts of all values")
        return self._question(_questions.Counts(tuple(_conditions.conditions_of(each) for each in where), names_of(by)))

    def thresholds(self, text: str, by: Names = ()) -> Question:
        """How many records fulfil at least so many conditions.

        >>> census.thresholds("at least 1,2 of (age >= 48, zone = 1)").quote(rho="0.01").errors[0].numbers
        2
        """
        return self._question(_questions.ThresholdCounts(_conditions.parse_thresholds(text), names_of(by)))

    def parities(self, k: int, over: Names = ()) -> Question:
        """Records with an even number of second values minus those with an odd number, of all sets of 1 to k two-valued columns.

        InvalidQuestion where a column of `over` has other than two bins.
        """
        return self._question(_questions.Parities(k, names_of(over)))

    def _question(self, queries: _questions.QuerySet) -> Question:
        return Question(self, (queries,))

    # ---- Calls

    def budget(self) -> Budget:
        """What the accounts that your charges post to have spent, and what is left. Exact decimals.

        >>> census.budget().accounts[0].name
        'dataset/census'
        """
        return self._client._budget(self.name, False)

    def compare(self) -> Budget:
        """The budget with the epsilon of the charges so far under other rules, which takes the server longer.

        >>> "rdp" in [each.calculator for each in census.compare().comparison]
        True
        """
        return self._client._budget(self.name, True)

    def synthesize(
        self,
        method: str,
        *,
        epsilon: Optional[Amount] = None,
        delta: Optional[Amount] = None,
        rho: Optional[Amount] = None,
        workload: Optional[Question] = None,
        parts: Names = (),
        request_id: Optional[str] = None,
        fresh: bool = False,
        **settings: object,
    ) -> Synthesis:
        """Begins to learn a model of the data, and charges for it: returns when the charge is durable. wait() for the model.

        Args:
            method: "mwem", "rap", ...: client.synthesizers() has them, and their settings.
            epsilon, delta, rho: the amount to spend.
            workload: what the model should answer well; all two-way marginals when left out.
            parts: of a partitioned dataset; all sealed ones when empty.
            request_id, fresh: as in Question.answer().
            settings: of the method: rounds=20.

        >>> model = census.synthesize("mwem", rho="0.001", rounds=2).wait(progress=False)
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
            request.spec.workload.CopyFrom(workload.to_wire())
        request.spec.parts.extend(names_of(parts))
        request.request_id = self._client._request_id("synthesis", request, self, request_id, fresh)
        return Synthesis(self._client, self._client._create_synthesis(request), request)

    def charge(
        self, event: Event, *, summary: str = "", lifetime: Any = None, request_id: Optional[str] = None
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

    def __repr__(self) -> str:
        return f"<Dataset {self.name} of {self.owner}: {self.state}, {len(self.schema.attributes)} columns>"

    def _repr_html_(self) -> str:
        try:
            budget: Optional[Budget] = self.budget()
        except CuratorError:
            budget = None  # public, or not yours to see
        return _html.dataset(self, budget)


@dataclass(frozen=True)
class Question:
    """A question that nothing was charged for yet. Immutable: where() and + make new ones.

    Attributes:
        dataset: the Dataset that it is about.
        sets: what is counted.
        parts: of a partitioned dataset; all sealed ones when empty.
        strategy: "auto", "direct", "histogram" or "tree": what noise is added to, except for marginals.
        mechanism: "auto", "laplace" or "gaussian".
    """

    dataset: Dataset
    sets: tuple[_questions.QuerySet, ...]
    parts: tuple[str, ...] = ()
    strategy: str = "auto"
    mechanism: str = "auto"

    def where(self, conditions: AnyConditions) -> Question:
        """The same counts of the records alone that fulfil the conditions: "age in [18,37] and sex = Female", or built with col().

        >>> census.marginals(["sex", "zone"]).where("age in [18,37]").quote(rho="0.01").errors[0].name
        'sex,zone where age in [18,37]'
        """
        return replace(self, sets=_questions.with_where(self.sets, conditions))

    def __add__(self, other: Question) -> Question:
        """Both questions as one, answered together at one price.

        >>> (census.marginals("age") + census.prefixes("income")).quote(rho="0.01").numbers
        7
        """
        if (self.dataset.name, self.parts, self.strategy, self.mechanism) != (
            other.dataset.name,
            other.parts,
            other.strategy,
            other.mechanism,
        ):
            raise InvalidQuestion("questions that are added are about one dataset, the same parts, and measured in the same way")
        return replace(self, sets=self.sets + other.sets)

    def measured(self, *, strategy: str = "auto", mechanism: str = "auto") -> Question:
        """The same question, measured in another way: see `strategy` and `mechanism`.

        >>> census.ranges("age").measured(strategy="tree").quote(rho="0.01").numbers
        10
        """
        return replace(self, strategy=strategy, mechanism=mechanism)

    def of_parts(self, parts: Names) -> Question:
        """The same question of some parts of a partitioned dataset, whose accounts alone are charged."""
        return replace(self, parts=names_of(parts))

    def to_wire(self) -> workload_pb2.Workload:
        """The workload of the request."""
        return _questions.workload_of(self.sets, self.dataset.schema, self.strategy)

    def _namings(self) -> list[Optional[_questions.Naming]]:
        return _questions.namings_of(self.sets, self.dataset.schema)

    def _fill(self, request: Any, spend: Optional[workload_pb2.Spend], max_error: Optional[float], confidence: Optional[float]) -> None:
        if spend is not None and max_error is not None:
            raise InvalidQuestion("give either an amount, epsilon= or rho=, or max_error=")
        request.dataset = self.dataset.name
        request.workload.CopyFrom(self.to_wire())
        request.mechanism = _mechanism_of(self.mechanism)
        request.parts.extend(self.parts)
        if spend is not None:
            request.spend.CopyFrom(spend)
        if max_error is not None:
            request.target.max_error = max_error
            if confidence is not None:
                request.target.confidence = confidence
        if confidence is not None:
            request.confidence_level = confidence

    def quote(
        self,
        *,
        epsilon: Optional[Amount] = None,
        delta: Optional[Amount] = None,
        rho: Optional[Amount] = None,
        max_error: Optional[float] = None,
        confidence: Optional[float] = None,
    ) -> Quote:
        """The price and the expected errors. Free: from public facts alone.

        Args:
            epsilon, delta, rho: the amount to spend, or
            max_error: the largest error of all numbers together, in records: the least amount that reaches it is found.
            confidence: of max_error and of each interval, between 0 and 1; 0.95 when left out.

        >>> quote = census.marginals("age").quote(rho="0.01")
        >>> quote.costs[0].amount, quote.fits
        (Decimal('0.01'), True)
        """
        spend = spend_of(epsilon, delta, rho)
        if spend is None and max_error is None:
            raise InvalidQuestion("quote: give an amount, epsilon= or rho=, or the error to reach, max_error=")
        request = query_pb2.EstimateWorkloadRequest()
        self._fill(request, spend, max_error, confidence)
        return Quote(self, confidence_of(confidence), self.dataset._client._estimate(request))

    def answer(
        self,
        *,
        epsilon: Optional[Amount] = None,
        delta: Optional[Amount] = None,
        rho: Optional[Amount] = None,
        max_error: Optional[float] = None,
        confidence: Optional[float] = None,
        prefer_free: bool = False,
        request_id: Optional[str] = None,
        fresh: bool = False,
    ) -> Answer:
        """Charges the amount and answers with noise. The same call again, also on another day, costs nothing and returns the same.

        Args:
            epsilon, delta, rho, max_error: as in quote().
            confidence: of each interval, between 0 and 1; 0.95 when left out. It does not affect the noise or the charge, but for
                max_error.
            prefer_free: answer from earlier releases, free, if they determine all numbers; then no amount is needed.
            request_id: of a request of another day, which is returned again. By default it is derived from the whole request and from
                the study (see connect()).
            fresh: ask under a new id: pay again, for new noise.

        Raises:
            BudgetFull, QuotaExceeded, InvalidQuestion, RequestIdReused: nothing was charged.
            OutcomeUnknown: the connection was lost; the same call again finds out, and is charged once.

        >>> answer = census.marginals(["age", "sex"]).answer(rho="0.002")
        >>> answer.to_frame().columns.to_list()
        ['query', 'age', 'sex', 'value', 'std', 'low', 'high']
        >>> census.marginals(["age", "sex"]).answer(rho="0.002").replayed
        True
        """
        request = query_pb2.AnswerWorkloadRequest(prefer_free=prefer_free)
        spend = spend_of(epsilon, delta, rho)
        if spend is None and max_error is None and not prefer_free:
            raise InvalidQuestion("answer: give an amount, epsilon= or rho=, the error to reach, max_error=, or prefer_free=True")
        self._fill(request, spend, max_error, confidence)
        client = self.dataset._client
        request.request_id = client._request_id("workload", _of_draw(request), self.dataset, request_id, fresh)
        chunks = client._answer(request)
        return Answer(chunks, self.dataset._wire.schema, self.dataset.name, client, self._namings())


def _of_draw(request: query_pb2.AnswerWorkloadRequest) -> query_pb2.AnswerWorkloadRequest:
    """What the draw and the charge depend on: intervals can be computed again for any level, free."""
    drawn = query_pb2.AnswerWorkloadRequest()
    drawn.CopyFrom(request)
    for field in ("confidence_level", "prefer_free", "post_processing"):
        drawn.ClearField(field)
    return drawn


class DatasetTable(Sequence[Dataset]):
    """The datasets that you may see, with their promises and what is left of them."""

    columns = ("name", "owner", "state", "protects", "promise", "left")

    def __init__(self, client: Client, datasets: Sequence[Dataset]) -> None:
        self._client = client
        self._datasets = tuple(datasets)

    def __getitem__(self, index: Any) -> Any:
        return self._datasets[index]

    def __len__(self) -> int:
        return len(self._datasets)

    def rows(self) -> list[tuple[object, ...]]:
        """One for each dataset: `columns`."""
        shown: list[tuple[object, ...]] = []
        for i, each in enumerate(self._datasets):
            budget = self._budget_of(each) if i < _MOST_BUDGETS else None
            account = budget.accounts[0] if budget and budget.accounts else None
            left = f"{account.counters[0].name} {account.left}" if account else ""
            protects = budget.protects if budget else ""
            shown.append((each.name, each.owner, each.state, protects, account.promise if account else "", left))
        return shown

    def _budget_of(self, dataset: Dataset) -> Optional[Budget]:
        try:
            return dataset.budget()
        except CuratorError:
            return None

    def to_frame(self) -> pd.DataFrame:
        """One row for each dataset: "name", "owner", "state", "protects", "promise", "left"."""
        return pd.DataFrame(self.rows(), columns=list(self.columns))

    def __repr__(self) -> str:
        return str(self.to_frame().to_string(index=False))

    def _repr_html_(self) -> str:
        return _html.datasets(self)


class Client:
    """A connection to a server, made by connect(). Thread-safe. A context manager that closes it."""

    def __init__(self, connection: Connection, study_path: Union[str, os.PathLike[str], None]) -> None:
        self._connection = connection
        self._study: Optional[Study] = None  # made with the first derived id
        self._study_path = study_path
        channel = connection.channel
        self._versions = Service(channel, version_pb2, "VersionService")
        self._datasets = Service(channel, dataset_pb2, "DatasetService")
        self._queries = Service(channel, query_pb2, "QueryService")
        self._budgets = Service(channel, budget_pb2, "BudgetService")
        self._accountant = Service(channel, accountant_pb2, "AccountantService")
        self._syntheses = Service(channel, synthesis_pb2, "SynthesisService")
        self._operations = Service(channel, operation_pb2, "OperationService")

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection. Work on the server goes on."""
        self._connection.close()

    # ---- For users

    def __getitem__(self, name: str) -> Dataset:
        """The dataset of this name. NotFound where there is none that you may see.

        >>> client["census"].schema["age"].labels
        ['[18, 28)', '[28, 38)', '[38, 48)', '[48, 57]']
        """
        request = dataset_pb2.GetDatasetRequest(dataset=name)
        return Dataset(self, self._connection.unary(self._datasets.GetDataset, request, dataset_pb2.Dataset))

    def datasets(self) -> DatasetTable:
        """All datasets that you may see.

        >>> client.datasets().to_frame()["name"].to_list()
        ['census']
        """
        return DatasetTable(self, [Dataset(self, each) for each in self._list_datasets()])

    def synthesizers(self) -> pd.DataFrame:
        """The methods of synthesize() and their settings: "method", "setting", "default", "summary".

        >>> sorted(set(client.synthesizers()["method"]))
        ['dpsyn', 'mwem', 'nested', 'prior', 'priview', 'rap']
        """
        listed = self._connection.unary(
            self._syntheses.ListSynthesizers, synthesis_pb2.ListSynthesizersRequest(), synthesis_pb2.ListSynthesizersResponse
        )
        rows = []
        for method in listed.synthesizers:
            rows.append((method.method, "", "", method.summary))
            rows += [(method.method, each.key, each.default_value, each.summary) for each in method.settings]
        return pd.DataFrame(rows, columns=["method", "setting", "default", "summary"])

    def operation(self, operation_id: str) -> Synthesis:
        """A synthesis that was begun before, by its id. NotFound where you may see none.

        >>> begun = census.synthesize("mwem", rho="0.001", rounds=2)
        >>> client.operation(begun.id).wait(progress=False).state
        'DONE'
        """
        return Synthesis(self, self._operation(operation_id))

    def version(self) -> str:
        """Of the server: "0.1.0". Empty where it does not know who you are; what it shows then is that it can be reached."""
        response = self._connection.unary(self._versions.GetVersion, version_pb2.GetVersionRequest(), version_pb2.GetVersionResponse)
        return str(response.version)

    # ---- For the other classes

    def _request_id(self, kind: str, request: Any, dataset: Dataset, given: Optional[str], fresh: bool) -> str:
        if given is not None and fresh:
            raise InvalidQuestion("give either request_id= or fresh=True")
        if given is not None:
            return checked_request_id(given)
        if fresh:
            return new_request_id()
        if self._study is None:
            self._study = Study(self._study_path)
        return self._study.request_id(kind, request, dataset.id, dataset.version)

    def _list_datasets(self) -> Iterator[dataset_pb2.Dataset]:
        request = dataset_pb2.ListDatasetsRequest(page_size=_LARGEST_PAGE)
        while True:
            page = self._connection.unary(self._datasets.ListDatasets, request, dataset_pb2.ListDatasetsResponse)
            yield from page.datasets
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def _dataset_of_id(self, dataset_id: str) -> str:
        for each in self._list_datasets():
            if each.id == dataset_id:
                return str(each.name)
        raise NotFound(f"there is no dataset {dataset_id} that you may see")

    def _estimate(self, request: query_pb2.EstimateWorkloadRequest) -> query_pb2.EstimateWorkloadResponse:
        return self._connection.unary(self._queries.EstimateWorkload, request, query_pb2.EstimateWorkloadResponse)

    def _stream(self, method: Any, request: Any, request_id: str = "") -> list[Any]:
        """All messages of a stream; from its beginning again where the connection was lost."""

        def attempt(metadata: Metadata) -> list[Any]:
            with cancelled_unless_read(method(request, metadata=metadata)) as call:
                return list(call)

        return self._connection.run(attempt, request_id)

    def _answer(self, request: query_pb2.AnswerWorkloadRequest) -> list[query_pb2.AnswerChunk]:
        return self._stream(self._queries.AnswerWorkload, request, request.request_id)

    def _release(
        self, release_id: str, confidence: Optional[float], non_negative: bool, consistent: bool, integer: bool
    ) -> list[query_pb2.AnswerChunk]:
        request = query_pb2.GetReleaseRequest(release_id=release_id)
        if confidence is not None:
            request.confidence_level = confidence
        if non_negative or consistent or integer:
            request.post_processing.non_negative = non_negative
            request.post_processing.consistent = consistent
            request.post_processing.integer = integer
        chunks = self._stream(self._queries.GetRelease, request)
        return [each.answer for each in chunks if each.HasField("answer")]

    def _query_model(self, release_id: str, question: Question) -> Answer:
        request = synthesis_pb2.QueryModelRequest(release_id=release_id, workload=question.to_wire())
        chunks = self._stream(self._syntheses.QueryModel, request)
        return Answer(chunks, question.dataset._wire.schema, question.dataset.name, None, question._namings())

    def _budget(self, dataset: str, with_comparison: bool) -> Budget:
        request = budget_pb2.GetBudgetRequest(dataset=dataset, with_comparison=with_comparison)
        return Budget(dataset, self._connection.unary(self._budgets.GetBudget, request, budget_pb2.GetBudgetResponse))

    def _create_synthesis(self, request: Optional[synthesis_pb2.CreateSynthesisRequest]) -> operation_pb2.Operation:
        assert request is not None
        return self._connection.unary(self._syntheses.CreateSynthesis, request, operation_pb2.Operation, request.request_id)

    def _operation(self, operation_id: str) -> operation_pb2.Operation:
        return self._connection.unary(
            self._operations.GetOperation, operation_pb2.GetOperationRequest(operation_id=operation_id), operation_pb2.Operation
        )

    def _cancel_operation(self, operation_id: str) -> operation_pb2.Operation:
        request = operation_pb2.CancelOperationRequest(operation_id=operation_id)
        return self._connection.unary(self._operations.CancelOperation, request, operation_pb2.Operation)

    def _watch(self, operation_id: str, see: Callable[[operation_pb2.Operation], None]) -> None:
        """Has `see` called whenever the operation changes, until it has ended. A lost connection is made again."""
        request = operation_pb2.WatchOperationRequest(operation_id=operation_id)

        def attempt(metadata: Metadata) -> None:
            with cancelled_unless_read(self._operations.WatchOperation(request, metadata=metadata)) as call:
                for operation in call:
                    see(operation)

        self._connection.run(attempt)

    def _sample(self, release_id: str, rows: Optional[int], as_bins: bool, dataset: str) -> tuple[bytes, Schema]:
        request = synthesis_pb2.SampleModelRequest(release_id=release_id, as_bins=as_bins)
        if rows is not None:
            request.rows = rows
        chunks = self._stream(self._syntheses.SampleModel, request)
        return b"".join(each.csv for each in chunks), self[dataset].schema

    def _reserve(self, request: accountant_pb2.ReserveBudgetRequest) -> accountant_pb2.Charge:
        return self._connection.unary(self._accountant.ReserveBudget, request, accountant_pb2.Charge, request.request_id)

    def _start_charge(self, charge_id: str, request_id: str) -> accountant_pb2.Charge:
        request = accountant_pb2.StartChargeRequest(charge_id=charge_id)
        return self._connection.unary(self._accountant.StartCharge, request, accountant_pb2.Charge, request_id)

    def _commit_charge(self, charge_id: str, request_id: str) -> accountant_pb2.Charge:
        request = accountant_pb2.CommitBudgetRequest(charge_id=charge_id)
        return self._connection.unary(self._accountant.CommitBudget, request, accountant_pb2.Charge, request_id)

    def _cancel_charge(self, charge_id: str, reason: str, request_id: str) -> accountant_pb2.Charge:
        request = accountant_pb2.CancelReservationRequest(charge_id=charge_id, reason=reason)
        return self._connection.unary(self._accountant.CancelReservation, request, accountant_pb2.Charge, request_id)

    def _receipt_key(self) -> budget_pb2.GetReceiptKeyResponse:
        return self._connection.unary(self._budgets.GetReceiptKey, budget_pb2.GetReceiptKeyRequest(), budget_pb2.GetReceiptKeyResponse)

    def _chain_links(self, dataset: str, after: int) -> list[budget_pb2.ChainLink]:
        return self._stream(self._budgets.ListChainLinks, budget_pb2.ListChainLinksRequest(dataset=dataset, after_sequence=after))


def _token_of(
    url: str, api_token: Optional[str], token_file: Optional[str], token_command: Optional[str], has_other: bool
) -> Optional[_tokens.TokenSource]:
    given = [each for each in (api_token, token_file, token_command) if each is not None]
    if len(given) > 1:
        raise CuratorError("connect: give one of api_token=, token_file= and token_command=")
    if api_token is not None:
        return _tokens.of_text(api_token)
    if token_command is not None:
        return _tokens.of_command(token_command)
    path = token_file or (None if has_other else os.environ.get("CURATOR_TOKEN_FILE"))
    if path:
        return _tokens.of_file(path)
    return None if has_other or not takes_tokens(url) else _tokens.of_login(url)


def connect(
    url: str,
    *,
    principal: str = "",
    api_token: Optional[str] = None,
    token_file: Optional[str] = None,
    token_command: Optional[str] = None,
    authorities: str = "",
    certificate: str = "",
    key: str = "",
    study: Union[str, os.PathLike[str], None] = None,
    retry: Optional[RetryPolicy] = None,
) -> Client:
    """A client of a server. It connects on the first call.

    Args:
        url: "https://HOST[:PORT]" over TLS; "unix:/PATH", a socket of this host; or "HOST:PORT" of a development server.
        principal: the name that a development server (--dev) accepts without proof. It provides no security.
        api_token, token_file, token_command: who you are: a token, a file with one, or a command that prints one. Otherwise
            $CURATOR_TOKEN_FILE, and then the login that `curator login` keeps.
        authorities: a PEM file of those who sign the server's certificate; the system's when it is empty.
        certificate, key: PEM files of your own certificate, which proves who you are instead of a token.
        study: the file with the seed of request ids, which is made when there is none; .curator-study in the working folder when left
            out. The same question of one study costs once.
        retry: when a request is sent again.

    >>> import curator_dp as cu
    >>> client = cu.connect("127.0.0.1:7878", principal="ana")
    """
    has_other = bool(principal or certificate)
    options = Options(
        server=url,
        principal=principal,
        token=_token_of(url, api_token, token_file, token_command, has_other),
        authorities=authorities,
        certificate=certificate,
        key=key,
        retry=retry or RetryPolicy(),
    )
    return Client(Connection(options), study)

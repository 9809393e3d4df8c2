"""The client: datasets, questions and their answers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Optional, Union

import pandas as pd

from curator_dp import _tokens
from curator_dp._answers import Answer
from curator_dp._budgets import Budget
from curator_dp._connection import Connection, Metadata, Options, RetryPolicy, cancelled_unless_read, takes_tokens
from curator_dp._datasets import Dataset, DatasetTable
from curator_dp._errors import CuratorError, InvalidQuestion, NotFound, Unavailable
from curator_dp._questions import Question
from curator_dp._request_ids import STUDY_FILE, AnyRequestId, Study, checked_request_id, new_request_id
from curator_dp._schema import Schema
from curator_dp._services import Service
from curator_dp._synthesis import Synthesis
from curator_dp._wire.curator.v1 import (
    accountant_pb2,
    budget_pb2,
    dataset_pb2,
    operation_pb2,
    query_pb2,
    synthesis_pb2,
    version_pb2,
)

_LARGEST_PAGE = 1000

AnyPath = Union[str, os.PathLike[str]]


class Client:
    """A connection to a server, made by connect(). Thread-safe. A context manager that closes it."""

    def __init__(self, connection: Connection, study_path: Optional[AnyPath]) -> None:
        self._connection = connection
        self._study: Optional[Study] = None  # made with the first derived id, in the folder that was the working one before
        self._study_path = Path(study_path or STUDY_FILE).absolute()
        self._study_lock = threading.Lock()
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
        ['aim', 'auto', 'dpsyn', 'mst', 'mwem', 'nested', 'prior', 'priview', 'rap', 'swift']
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
        operation = self._operation(operation_id)
        return Synthesis(self, operation, self[operation.dataset])

    def version(self) -> str:
        """Of the server: "0.1.0". Empty where it does not know who you are; what it shows then is that it can be reached."""
        response = self._connection.unary(self._versions.GetVersion, version_pb2.GetVersionRequest(), version_pb2.GetVersionResponse)
        return str(response.version)

    # ---- For the other classes

    def _request_id(self, kind: str, request: Any, dataset: Dataset, given: Optional[AnyRequestId], fresh: bool) -> str:
        if given is not None and fresh:
            raise InvalidQuestion("give either request_id= or fresh=True")
        if given is not None:
            return checked_request_id(given)
        if fresh:
            return new_request_id()
        with self._study_lock:
            if self._study is None:
                self._study = Study(self._study_path)
        return self._study.request_id(kind, request, dataset.id, self._current_version(dataset))

    def _current_version(self, dataset: Dataset) -> int:
        """A part may have been sealed since the dataset was fetched: a question of all parts is then another one."""
        return self[dataset.name].version if dataset._wire.HasField("partition") else dataset.version

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

    def _translate_sql(self, request: query_pb2.TranslateSqlRequest) -> query_pb2.TranslateSqlResponse:
        return self._connection.unary(self._queries.TranslateSql, request, query_pb2.TranslateSqlResponse)

    def _stream(self, method: Any, request: Any, request_id: str = "") -> list[Any]:
        """All messages of a stream; from its beginning again where the connection was lost."""

        def attempt(metadata: Metadata) -> list[Any]:
            with cancelled_unless_read(method(request, metadata=metadata)) as call:
                return list(call)

        return self._connection.run(attempt, request_id)

    def _answer(self, request: query_pb2.AnswerWorkloadRequest) -> list[query_pb2.AnswerChunk]:
        return self._stream(self._queries.AnswerWorkload, request, request.request_id)

    def _release_chunks(self, request: query_pb2.GetReleaseRequest) -> list[query_pb2.GetReleaseChunk]:
        return self._stream(self._queries.GetRelease, request)

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
        chunks = self._release_chunks(request)
        return [each.answer for each in chunks if each.HasField("answer")]

    def _query_model(self, release_id: str, dataset: str, question: Question) -> Answer:
        request = synthesis_pb2.QueryModelRequest(release_id=release_id, workload=question.workload_for_model(dataset))
        chunks = self._stream(self._syntheses.QueryModel, request)
        return Answer(chunks, question.dataset._wire.schema, question.dataset.name, None, question._namings())

    def _budget(self, dataset: str, with_comparison: bool = False) -> Budget:
        request = budget_pb2.GetBudgetRequest(dataset=dataset, with_comparison=with_comparison)
        return Budget(self, dataset, self._connection.unary(self._budgets.GetBudget, request, budget_pb2.GetBudgetResponse))

    def _burn_down(self, dataset: str, account: str, points: int) -> budget_pb2.GetBurnDownResponse:
        request = budget_pb2.GetBurnDownRequest(dataset=dataset, account=account, points=points)
        return self._connection.unary(self._budgets.GetBurnDown, request, budget_pb2.GetBurnDownResponse)

    def _create_synthesis(self, request: Optional[synthesis_pb2.CreateSynthesisRequest]) -> operation_pb2.Operation:
        assert request is not None
        return self._connection.unary(self._syntheses.CreateSynthesis, request, operation_pb2.Operation, request.request_id)

    def _delete_dataset(self, request: dataset_pb2.DeleteDatasetRequest) -> str:
        response = self._connection.unary(
            self._datasets.DeleteDataset, request, dataset_pb2.DeleteDatasetResponse, request.request_id
        )
        return response.dataset_id

    def _list_imports(self, dataset: str) -> Iterator[dataset_pb2.Import]:
        request = dataset_pb2.ListImportsRequest(dataset=dataset, page_size=_LARGEST_PAGE)
        while True:
            page = self._connection.unary(self._datasets.ListImports, request, dataset_pb2.ListImportsResponse)
            yield from page.imports
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def _undo_import(self, request: dataset_pb2.UndoImportRequest) -> None:
        self._connection.unary(self._datasets.UndoImport, request, dataset_pb2.UndoImportResponse, request.request_id)

    def _operation(self, operation_id: str) -> operation_pb2.Operation:
        return self._connection.unary(
            self._operations.GetOperation, operation_pb2.GetOperationRequest(operation_id=operation_id), operation_pb2.Operation
        )

    def _cancel_operation(self, operation_id: str) -> operation_pb2.Operation:
        request = operation_pb2.CancelOperationRequest(operation_id=operation_id)
        return self._connection.unary(self._operations.CancelOperation, request, operation_pb2.Operation)

    def _watch(self, operation_id: str, see: Callable[[operation_pb2.Operation], None]) -> None:
        """Has `see` called whenever the operation changes, until it has ended. A lost connection is made again, however often, as
        long as something has come over each one."""
        request = operation_pb2.WatchOperationRequest(operation_id=operation_id)
        has_come = False

        def attempt(metadata: Metadata) -> None:
            nonlocal has_come
            with cancelled_unless_read(self._operations.WatchOperation(request, metadata=metadata)) as call:
                for operation in call:
                    has_come = True
                    see(operation)

        while True:
            has_come = False
            try:
                return self._connection.run(attempt)
            except Unavailable:
                if not has_come:
                    raise

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
    url: str, api_token: Optional[str], token_file: Optional[AnyPath], token_command: Optional[str], has_other: bool
) -> Optional[_tokens.TokenSource]:
    given = [each for each in (api_token, token_file, token_command) if each is not None]
    if len(given) > 1:
        raise CuratorError("connect: give one of api_token=, token_file= and token_command=")
    if "" in given:
        raise CuratorError("connect: the token, its file or its command is an empty text")
    if api_token is not None:
        return _tokens.of_text(api_token)
    if token_command is not None:
        return _tokens.of_command(token_command)
    named = None if has_other else os.environ.get("CURATOR_TOKEN_FILE")
    path = os.fspath(token_file) if token_file is not None else named
    if path:
        return _tokens.of_file(path)
    return None if has_other or not takes_tokens(url) else _tokens.of_login(url)


def connect(
    url: str,
    *,
    principal: str = "",
    api_token: Optional[str] = None,
    token_file: Optional[AnyPath] = None,
    token_command: Optional[str] = None,
    authorities: AnyPath = "",
    certificate: AnyPath = "",
    key: AnyPath = "",
    study: Optional[AnyPath] = None,
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
        authorities=os.fspath(authorities),
        certificate=os.fspath(certificate),
        key=os.fspath(key),
        retry=retry or RetryPolicy(),
    )
    return Client(Connection(options), study)

"""Synthetic data: a model that is learned from noisy measurements, stored, and sampled for free."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
import pandas as pd

from curator_dp import _html
from curator_dp._enums import name_of
from curator_dp._errors import CuratorError
from curator_dp._facts import WithFacts, facts_of
from curator_dp._schema import Attribute, Schema
from curator_dp._wire.curator.v1 import operation_pb2, synthesis_pb2

if TYPE_CHECKING:
    from curator_dp._answers import Answer
    from curator_dp._client import Client
    from curator_dp._questions import Question


class _Progress:
    """A bar where tqdm is installed and somebody looks; nothing otherwise."""

    def __init__(self, title: str, is_wanted: bool) -> None:
        self._bar: Any = None
        if not is_wanted:
            return
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return
        self._bar = tqdm(total=100, desc=title, unit="%", bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}")

    def show(self, operation: operation_pb2.Operation) -> None:
        if self._bar is None:
            return
        self._bar.n = min(100.0, operation.percent)
        queue = operation.queue_position
        self._bar.set_postfix_str(f"{queue} in the queue" if queue else "")

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class Synthesis:
    """A model that is being learned, or that is stored. Its cost was charged when it began; everything after that is free.

    Attributes:
        id: of the operation, and of its charge: client.operation(id) finds it again.
        dataset, method, request_id: what was asked.
        state: "QUEUED", "RUNNING", "DONE", "FAILED" or "INTERRUPTED".
        percent: of the schedule.
        release_id: of the model, once it is DONE.
        error: why it FAILED.
        domain_from_records, rows_from_query: as in Dataset.
    """

    def __init__(
        self,
        client: Client,
        operation: operation_pb2.Operation,
        facts: WithFacts,
        request: Optional[synthesis_pb2.CreateSynthesisRequest] = None,
    ) -> None:
        """`facts`: of its dataset; an operation of the protocol has none."""
        self._client = client
        self.domain_from_records = facts.domain_from_records
        self.rows_from_query = facts.rows_from_query
        self._request = request
        self.method = request.spec.method if request is not None else ""
        self._take(operation)

    def _take(self, operation: operation_pb2.Operation) -> None:
        self.id: str = operation.id
        self.dataset: str = operation.dataset
        self.request_id: str = operation.request_id
        self.state = name_of(operation_pb2.Operation.State, operation.state)
        self.percent: float = operation.percent
        self.release_id: str = operation.release_id
        self.error: str = operation.error

    def wait(self, progress: Optional[bool] = None) -> Synthesis:
        """Waits until the model is stored, and returns it. Ctrl-C leaves the work running.

        Args:
            progress: whether to show a bar; by default where standard error is a terminal or a notebook.
        """
        shows = _is_watched() if progress is None else progress
        bar = _Progress(f"{self.method or 'synthesis'} of {self.dataset}", shows)

        def see(operation: operation_pb2.Operation) -> None:
            self._take(operation)
            bar.show(operation)

        try:
            self._follow(see)
        except KeyboardInterrupt:
            print(f'{self.method or "the synthesis"} goes on: client.operation("{self.id}").wait() waits for it again', file=sys.stderr)
            raise
        finally:
            bar.close()
        return self._checked()

    def _follow(self, see: Callable[[operation_pb2.Operation], None]) -> None:
        """Until the operation has ended; one that the server was stopped in is asked for again, once, under its request id."""
        may_ask_again = self._request is not None
        while True:
            if self.state == "INTERRUPTED" and may_ask_again:
                may_ask_again = False
                see(self._client._create_synthesis(self._request))
            if self.state not in ("QUEUED", "RUNNING"):
                return
            self._client._watch(self.id, see)

    def _checked(self) -> Synthesis:
        if self.state == "DONE":
            return self
        if self.state == "INTERRUPTED":
            raise CuratorError(
                f"the server stopped before the synthesis had ended: synthesize(..., request_id={self.request_id!r}) goes on with it, "
                "and charges nothing new",
                "INTERRUPTED",
            )
        raise CuratorError(f"the synthesis {self.id} is {self.state}: {self.error}", self.state)

    def refresh(self) -> Synthesis:
        """Asks the server for the state."""
        self._take(self._client._operation(self.id))
        return self

    def cancel(self) -> Synthesis:
        """Ends it. A queued one gives its cost back; what has started stays charged."""
        self._take(self._client._cancel_operation(self.id))
        return self

    def _model(self) -> str:
        if not self.release_id:
            self.refresh()
        if self.release_id:
            return self.release_id
        if self.state in ("QUEUED", "RUNNING"):
            raise CuratorError(f"the model is not ready: it is {self.state}; wait() for it first")
        self._checked()
        raise CuratorError(f"the synthesis {self.id} is {self.state}, and has no model")

    def sample(self, rows: Optional[int] = None, *, as_bins: bool = False) -> pd.DataFrame:
        """Synthetic records. Free; the same model and the same number of rows give the same records.

        Args:
            rows: how many; by default the model's own noisy number of records.
            as_bins: bins as intervals ("[30, 40)") instead of values inside them.

        Returns:
            One row for each record; categories are ordered as bins are. Missing values are NaN, NaT or <NA> unless `as_bins`.

        >>> model = census.synthesize("mwem", rho="0.001", rounds=2).wait(progress=False)
        >>> model.sample(3, as_bins=True)["age"].cat.categories.to_list()
        ['[18, 28)', '[28, 38)', '[38, 48)', '[48, 57]']
        """
        csv, schema = self._client._sample(self._model(), rows, as_bins, self.dataset)
        return frame_of_csv(csv, schema, as_bins)

    def ask(self, question: Question) -> Answer:
        """The model's answer to a question. Free; the errors do not include that of the model itself.

        >>> model = census.synthesize("mwem", rho="0.001", rounds=2).wait(progress=False)
        >>> model.ask(census.marginals("age")).to_frame().shape[0]
        4
        """
        return self._client._query_model(self._model(), self.dataset, question)

    def __repr__(self) -> str:
        return f"<Synthesis {self.id} of {self.dataset}: {self.state}, {self.percent:.0f}%{facts_of(self)}>"

    def _repr_html_(self) -> str:
        return _html.synthesis(self)


def _is_watched() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _categorical(texts: pd.Series, labels: list[str], name: str) -> pd.Categorical:
    unknown = set(texts.dropna()) - set(labels)
    if unknown:
        raise CuratorError(f"{name} has the unknown bin {min(unknown)!r}: install a newer curator_dp")
    return pd.Categorical(texts, categories=labels, ordered=True)


def _values(texts: pd.Series, attribute: Attribute) -> Any:
    """As pandas has them; missing ones as it has those: NaN, NaT, <NA>."""
    is_missing = texts == attribute.missing_text if attribute.missing is not None else pd.Series(False, index=texts.index)
    if attribute.kind == "categorical":
        return _categorical(texts.mask(is_missing), attribute.value_labels, attribute.name)
    if attribute.kind == "date":
        times = np.array(texts.mask(is_missing, "NaT"), dtype="datetime64[s]")
        try:
            return pd.DatetimeIndex(times)
        except pd.errors.OutOfBoundsDatetime:
            return times.astype(object)
    if attribute.kind == "numeric":
        return texts.mask(is_missing, "nan").astype("float64")
    if attribute.missing is None:
        return texts.astype("int64")
    integers = pd.Series(pd.NA, index=texts.index, dtype="Int64")
    integers[~is_missing] = texts[~is_missing].astype("int64")
    return integers


def frame_of_csv(csv: bytes, schema: Schema, as_bins: bool) -> pd.DataFrame:
    """Synthetic records as a table."""
    # An empty line is a missing value where there is one column.
    frame = pd.read_csv(io.BytesIO(csv), dtype=str, keep_default_na=False, na_filter=False, skip_blank_lines=False)
    for name in frame.columns:
        attribute = schema[name] if name in schema else None
        if attribute is None:
            frame[name] = frame[name].astype("int64")
        else:
            frame[name] = _categorical(frame[name], attribute.labels, name) if as_bins else _values(frame[name], attribute)
    return frame

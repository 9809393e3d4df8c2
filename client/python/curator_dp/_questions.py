"""Questions of a dataset: what they would cost, and their answers."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Optional

from curator_dp import _query_sets
from curator_dp._answers import Answer
from curator_dp._conditions import AnyConditions
from curator_dp._errors import InvalidQuestion
from curator_dp._query_sets import Names, names_of
from curator_dp._quotes import Quote
from curator_dp._request_ids import AnyRequestId
from curator_dp._spend import DEFAULT_CONFIDENCE, Amount, spend_of
from curator_dp._statistics import StatisticsSet, joined_sets
from curator_dp._targets import ErrorToReach, Records, error_of
from curator_dp._wire.curator.v1 import query_pb2, workload_pb2

if TYPE_CHECKING:
    from curator_dp._datasets import Dataset

_MECHANISMS = {
    "auto": workload_pb2.MECHANISM_UNSPECIFIED,
    "laplace": workload_pb2.MECHANISM_DISCRETE_LAPLACE,
    "gaussian": workload_pb2.MECHANISM_DISCRETE_GAUSSIAN,
}
_OBJECTIVES = {"sum": workload_pb2.OBJECTIVE_SUM, "worst": workload_pb2.OBJECTIVE_WORST}


def checked_parts(parts: Names) -> tuple[str, ...]:
    """InvalidQuestion where there are none: no parts at all in a request are all of them."""
    names = names_of(parts)
    if not names:
        raise InvalidQuestion("parts: the list is empty; leave it out for all parts", "parts")
    return names


def _mechanism_of(name: str) -> Any:
    if name not in _MECHANISMS:
        raise InvalidQuestion(f"mechanism: {name!r} is none of {', '.join(_MECHANISMS)}", "mechanism")
    return _MECHANISMS[name]


def _objective_of(name: Optional[str], error: Optional[ErrorToReach]) -> Any:
    if name is None:
        return workload_pb2.OBJECTIVE_UNSPECIFIED
    if name not in _OBJECTIVES:
        raise InvalidQuestion(f"objective: {name!r} is none of {', '.join(_OBJECTIVES)}", "objective")
    if error is not None:
        raise InvalidQuestion("objective: goes with an amount; max_error= makes the worst error least, rmse= the mean", "objective")
    return _OBJECTIVES[name]


@dataclass(frozen=True)
class Question:
    """A question that nothing was charged for yet. Immutable: where() and + make new ones.

    Attributes:
        dataset: the Dataset that it is about.
        sets: what is counted.
        parts: of a partitioned dataset; all sealed ones when empty, as without of_parts().
        strategy: what noise is added to: "auto" (the one with the least expected error), "direct", "histogram", "tree", or, for all
            sets of a question, "residual" (Gaussian noise) or "parity" (marginals over columns of two values, Laplace noise). Marginals
            take "direct", "residual" and "parity" alone. Of quantiles "auto", "tree" or "selection".
        mechanism: "auto", "laplace" or "gaussian".
    """

    dataset: Dataset
    sets: tuple[_query_sets.QuerySet, ...]
    parts: tuple[str, ...] = ()
    strategy: str = "auto"
    mechanism: str = "auto"

    def where(self, conditions: AnyConditions) -> Question:
        """The same counts of the records alone that fulfil the conditions: "age in [18,37] and sex = Female", or built with col().

        >>> census.marginals(["sex", "zone"]).where("age in [18,37]").quote(rho="0.01").errors[0].name
        'sex,zone where age in [18,37]'
        """
        return replace(self, sets=_query_sets.with_where(self.sets, conditions))

    def __add__(self, other: Question) -> Question:
        """Both questions as one, answered together at one price. Statistics of the same groups become one table, and share what is
        measured: a mean beside a count costs as much as a mean. A server answers statistics, or other questions, and not both at once.

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
        return replace(self, sets=joined_sets(self.sets, other.sets))

    def measured(
        self, *, strategy: Optional[str] = None, mechanism: Optional[str] = None, weight: Optional[float] = None
    ) -> Question:
        """The same question, measured in another way. What is left out stays as it is.

        Args:
            strategy, mechanism: as in Question.
            weight: how much the variances of each query set of this question count beside those of others that are added to it, from
                1e-6 to 1e6; 1 without it. Of counts alone, and not beside max_error=, which holds for all numbers alike.

        >>> census.ranges("age").measured(strategy="tree").quote(rho="0.01").numbers
        10
        >>> both = census.marginals(["age", "sex"]) + census.ranges("age").measured(weight=20)
        >>> two, one = both.quote(rho="0.01").errors
        >>> one.std < 0.7 * two.std
        True
        """
        sets = self.sets
        if weight is not None:
            if not sets or any(isinstance(each, StatisticsSet) for each in sets):
                raise InvalidQuestion("weight: is of counts; statistics share an amount evenly", "weight")
            sets = tuple(_query_sets.with_weight(each, weight) for each in sets)
        return replace(self, sets=sets, strategy=strategy or self.strategy, mechanism=mechanism or self.mechanism)

    def of_parts(self, parts: Names) -> Question:
        """The same question of some parts of a partitioned dataset, whose accounts alone are charged."""
        return replace(self, parts=checked_parts(parts))

    def to_wire(self) -> workload_pb2.Workload:
        """The message of a request."""
        return _query_sets.workload_of(self._named_sets, self.strategy)

    @cached_property
    def _named_sets(self) -> list[_query_sets.NamedSet]:
        """The query sets of the request, each with what its answers are called."""
        return [named for each in self.sets for named in each.to_wire(self.dataset.schema)]

    def workload_for_model(self, dataset: str) -> workload_pb2.Workload:
        """The message, for a model of this dataset: which parts it is of, and how they were measured, is the model's own.

        InvalidQuestion where the question has parts, a mechanism, or another dataset.
        """
        if self.dataset.name != dataset:
            raise InvalidQuestion(f"the question is about {self.dataset.name}, and the model about {dataset}", "workload")
        if self.parts or self.mechanism != "auto":
            raise InvalidQuestion("a question for a model has no parts and no mechanism: synthesize(..., parts=...) has them", "workload")
        return self.to_wire()

    def _namings(self) -> list[Optional[_query_sets.Naming]]:
        return [naming for _, naming in self._named_sets]

    def _select(self, request: query_pb2.AnswerWorkloadRequest) -> None:
        """Sets what is shown of the answer: everything."""

    def _answer_of(self, chunks: list[query_pb2.AnswerChunk]) -> Answer:
        return Answer(chunks, self.dataset._wire.schema, self.dataset.name, self.dataset._client, self._namings())

    def _fill(
        self,
        request: Any,
        spend: Optional[workload_pb2.Spend],
        error: Optional[ErrorToReach],
        objective: Optional[str],
        confidence: Optional[float],
    ) -> None:
        if spend is not None and error is not None:
            raise InvalidQuestion(f"give either an amount, epsilon= or rho=, or {error.argument}=")
        request.dataset = self.dataset.name
        request.workload.CopyFrom(self.to_wire())
        request.mechanism = _mechanism_of(self.mechanism)
        request.parts.extend(self.parts)
        if spend is not None:
            request.spend.CopyFrom(spend)
        request.objective = _objective_of(objective, error)
        if error is not None:
            setattr(request.target, error.argument, error.records)
            if confidence is not None and error.argument == "max_error":
                request.target.confidence = confidence
        if confidence is not None:
            request.confidence_level = confidence

    def quote(
        self,
        *,
        epsilon: Optional[Amount] = None,
        delta: Optional[Amount] = None,
        rho: Optional[Amount] = None,
        max_error: Optional[Records] = None,
        rmse: Optional[Records] = None,
        assume_rows: Optional[int] = None,
        of_release: Any = None,
        objective: Optional[str] = None,
        confidence: Optional[float] = None,
    ) -> Quote:
        """The price and the expected errors. Free: from public facts alone. Without an amount and without an error to reach, what 1%, 3%,
        10% and 30% of what is left would buy: `choices`.

        Args:
            epsilon, delta, rho: the amount to spend, or
            max_error: the largest error of all numbers together, in records, or in percent of one of the next two, "5%": the least amount
                that reaches it is found. Or
            rmse: the root of the mean squared error, likewise: the mean over the numbers of each query set, then over the sets by their
                weights.
            assume_rows: a number of records that you take the table to have, or
            of_release: a release that you may read, its id or its answer, with a noisy number of records: a marginal, a count, or a model.
            objective: what is made least with an amount, by the weights of the sets: "sum", of the mean variances of the query sets, as
                when it is left out, or "worst", the largest variance of all numbers.
            confidence: of max_error and of each interval, between 0 and 1; 0.95 when left out.

        >>> quote = census.marginals("age").quote(rho="0.01")
        >>> quote.costs[0].amount, quote.fits
        (Decimal('0.01'), True)
        >>> [choice.share_of_left for choice in census.marginals("age").quote().choices]
        [0.01, 0.03, 0.1, 0.3]
        >>> census.marginals("age").quote(rmse=20).errors[0].std <= 20
        True
        """
        spend = spend_of(epsilon, delta, rho)
        request = query_pb2.EstimateWorkloadRequest()
        error = error_of(self.dataset._client, max_error, rmse, assume_rows, of_release)
        self._fill(request, spend, error, objective, confidence)
        return Quote(self, confidence, self.dataset._client._estimate(request), error, objective)

    def answer(
        self,
        *,
        epsilon: Optional[Amount] = None,
        delta: Optional[Amount] = None,
        rho: Optional[Amount] = None,
        max_error: Optional[Records] = None,
        rmse: Optional[Records] = None,
        assume_rows: Optional[int] = None,
        of_release: Any = None,
        objective: Optional[str] = None,
        confidence: Optional[float] = None,
        prefer_free: bool = False,
        request_id: Optional[AnyRequestId] = None,
        fresh: bool = False,
    ) -> Answer:
        """Charges the amount and answers with noise. The same call again, also on another day, costs nothing and returns the same.

        Args:
            epsilon, delta, rho, max_error, rmse, assume_rows, of_release, objective: as in quote().
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
        if spend is None and max_error is None and rmse is None and not prefer_free:
            raise InvalidQuestion("answer: give an amount, epsilon= or rho=, the error to reach, max_error= or rmse=, or prefer_free=True")
        client = self.dataset._client
        error = error_of(client, max_error, rmse, assume_rows, of_release)
        self._fill(request, spend, error, objective, confidence)
        self._select(request)
        request.request_id = client._request_id("workload", _of_draw(request), self.dataset, request_id, fresh)
        try:
            chunks = client._answer(request)
        except KeyboardInterrupt:
            print(
                f"the request may have been charged; its answer, which is charged once: answer(..., request_id={request.request_id!r})",
                file=sys.stderr,
            )
            raise
        answer = self._answer_of(chunks)
        answer.max_error_of = error.words if error else ""
        return answer


def _of_draw(request: query_pb2.AnswerWorkloadRequest) -> query_pb2.AnswerWorkloadRequest:
    """What the draw and the charge depend on: intervals can be computed again for any level, free."""
    drawn = query_pb2.AnswerWorkloadRequest()
    drawn.CopyFrom(request)
    for field in ("confidence_level", "prefer_free", "post_processing", "selection"):
        drawn.ClearField(field)
    if drawn.HasField("target") and not drawn.target.HasField("confidence") and not drawn.target.HasField("rmse"):
        drawn.target.confidence = DEFAULT_CONFIDENCE
    if drawn.objective == workload_pb2.OBJECTIVE_SUM:
        drawn.ClearField("objective")  # which is the default
    return drawn

"""Quotes: what a question would cost and how wrong its answers may be, from public facts alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Optional, Union

import pandas as pd

from curator_dp import _html
from curator_dp._answers import Cost, costs_of
from curator_dp._errors import CuratorError
from curator_dp._facts import facts_of
from curator_dp._spend import DEFAULT_CONFIDENCE, percent_up, settings_of, words_of
from curator_dp._statistics import forecasts_of
from curator_dp._targets import ErrorToReach
from curator_dp._wire.curator.v1 import query_pb2, workload_pb2

if TYPE_CHECKING:
    from curator_dp._answers import Answer
    from curator_dp._questions import Question


_PRICES = {"epsilon", "delta", "rho", "max_error", "rmse"}


@dataclass(frozen=True)
class ExpectedError:
    """The error of one marginal, or of one query set of another class, or of all marginals of one that is measured by residuals or parities.

    Attributes:
        name: "age,sex"; "2-way marginals"; "query set 2".
        numbers: how many there are.
        std: of one number: its root mean square over the set.
        half_width: each number lies within this of the true one, with the quote's confidence.
        strategy: how it is measured, for display.
        gap: where that is by residuals: what was made least is above the least that residuals can reach by this share of it at most,
            0.01 for 1%. Else None.
    """

    name: str
    numbers: int
    std: float
    half_width: float
    strategy: str
    gap: Optional[float] = None


class Choice:
    """The question for another amount.

    Attributes:
        spend: "rho 0.06".
        amounts: the same as arguments of answer(): {"rho": Decimal("0.06")}.
        share_of_left: of a quote without an amount: how much of what is left it takes, 0.01 for 1%; else 0.
        max_error: no number is wrong by more, with the quote's confidence.
        costs: as a tuple of Cost.
        forecasts: of its statistics, as in Quote.
        fits: whether all accounts have that much left now.
    """

    def __init__(
        self,
        question: Question,
        confidence: Optional[float],
        wire: query_pb2.EstimateWorkloadResponse.Choice,
        objective: Optional[str] = None,
        error: Optional[ErrorToReach] = None,
    ) -> None:
        """With `error` the choice is what reaches it, and is asked for so."""
        self._question = question
        self._confidence = confidence
        self.spend = words_of(wire.spend)
        self.amounts = settings_of(wire.spend)
        self.share_of_left: float = wire.share_of_left
        self.max_error: float = wire.max_error
        self.costs = costs_of(wire.costs)
        self.forecasts = forecasts_of(wire.statistics)
        self.fits: bool = wire.fits
        self._price: dict[str, Any] = {error.argument: error.records} if error else {**self.amounts, "objective": objective}

    def answer(self, **options: Any) -> Answer:
        """Asks the question for this amount, and charges it. Options as in Question.answer(); confidence and objective are the quote's."""
        price = {} if options.keys() & _PRICES else self._price
        arguments: dict[str, Any] = {"confidence": self._confidence, **price, **options}
        return self._question.answer(**arguments)

    @property
    def errors_text(self) -> str:
        """For display: "all errors within ±50", or the error of each of the first statistics."""
        return _errors_text(self)

    def __repr__(self) -> str:
        share = f"{percent_up(self.share_of_left)} of what is left: " if self.share_of_left else ""
        return f"<Choice: {share}{self.spend}, {_errors_text(self)}{'' if self.fits else ', does not fit'}>"


class Quote:
    """The price and the expected errors of a question. Nothing was charged, and no record was read.

    Attributes:
        costs: what it would cost each account, as a tuple of Cost.
        spend: "rho 0.03": what was given, or the least that reaches the error; empty where neither was given.
        amounts: the same as arguments of answer().
        event: what would be recorded, for display.
        errors: one ExpectedError for each table of the answer, but for those of statistics.
        forecasts: one StatisticForecast for each statistic: the error of a mean is to be divided by the number of values in its group.
        numbers: how many the answer has.
        left_out: of all sets of k columns, those that max_cells leaves out.
        max_error: no number of the answer is wrong by more, with probability `confidence`.
        rmse: the root mean squared error that was to be reached, in records; None where none was.
        confidence: of `max_error` and of each half width.
        fits: whether all accounts have that much left now.
        max_error_of: what a percentage in max_error= or rmse= is of: "5% of 2000 records, a noisy number: ..."; empty where it was none.
        choices: the errors for other amounts, from the cheapest on, as a tuple of Choice. Where no amount was given: what 1%, 3%, 10% and
            30% of what is left would buy; then `costs`, `event`, `max_error` and `fits`, which are of one amount, are empty, and
            errors in `errors` and `forecasts` are NaN.
        free_from: releases from which `prefer_free=True` would answer.
        refused_by_rule: the rule of the owner that would refuse the question; empty when none would.
        domain_from_records: ranges, categories or bins were chosen by somebody who had seen records: the guarantee does not cover
            that choice.
        rows_from_query: the guarantee is about the rows that were imported, which came from a query.
    """

    def __init__(
        self,
        question: Question,
        confidence: Optional[float],
        wire: query_pb2.EstimateWorkloadResponse,
        error: Optional[ErrorToReach] = None,
        objective: Optional[str] = None,
    ) -> None:
        self.max_error_of = error.words if error else ""
        self.rmse = error.records if error and error.argument == "rmse" else None
        self._error = error
        # Other amounts than the least that reaches an error are forecast with what it makes least.
        self._objective = "worst" if error and error.argument == "max_error" else objective
        self._question = question
        self._wire = wire
        self._asked_confidence = confidence
        self.confidence = DEFAULT_CONFIDENCE if confidence is None else confidence
        self.costs: tuple[Cost, ...] = costs_of(wire.costs)
        self.spend = words_of(wire.spend)
        self.amounts: dict[str, Decimal] = settings_of(wire.spend)
        self.event: str = wire.event
        self.max_error: float = wire.max_error
        self.fits: bool = wire.fits
        self.errors = _errors_of(wire, _names_of(question, wire))
        self.forecasts = forecasts_of(wire.statistics)
        self.numbers: int = sum(each.numbers for each in self.errors) + sum(each.groups for each in self.forecasts)
        if not self.amounts and wire.choices:  # they are errors of no amount: those of each are in `choices`
            self.errors = tuple(replace(each, std=math.nan, half_width=math.nan) for each in self.errors)
            self.forecasts = tuple(replace(each, std=math.nan, half_width=math.nan) for each in self.forecasts)
        self.left_out: int = wire.marginals_left_out
        self.choices = tuple(Choice(question, confidence, each, objective) for each in wire.choices)
        self.free_from = tuple(wire.free_from)
        self.refused_by_rule: str = wire.refused_by_rule
        self.domain_from_records: bool = wire.domain_from_records
        self.rows_from_query: bool = wire.rows_from_query

    @property
    def cheapest(self) -> Choice:
        """What was quoted: for an error, the least amount that reaches it; without an amount the first of `choices`.

        >>> cheapest = census.marginals("age").quote(max_error=60).cheapest
        >>> cheapest.max_error <= 60, cheapest.fits
        (True, True)
        """
        if not self.amounts and self.choices:
            return self.choices[0]
        wire = self._wire
        choice = query_pb2.EstimateWorkloadResponse.Choice(
            spend=wire.spend, costs=wire.costs, fits=wire.fits, max_error=wire.max_error, statistics=wire.statistics
        )
        return Choice(self._question, self._asked_confidence, choice, self._objective, self._error)

    def answer(self, **options: Any) -> Answer:
        """Asks the question for the quoted amount or error, and charges the amount. Options as in Question.answer(); confidence and objective are the
        quote's.

        >>> census.marginals(["age", "sex"]).quote(rho="0.002").answer().costs[0].amount
        Decimal('0.002')
        """
        if not self.amounts:
            raise CuratorError("the quote has no amount: give answer() one, or take one of its choices: quote.choices[0].answer()")
        return self.cheapest.answer(**options)

    def to_frame(self) -> pd.DataFrame:
        """The expected errors: columns "query", "numbers", "std", "half_width", "strategy", and "unit" where there are statistics.
        Without it, in records.

        >>> census.marginals("age").quote(rho="0.01").to_frame()["query"].to_list()
        ['age']
        """
        rows = [(each.name, each.numbers, each.std, each.half_width, each.strategy) for each in self.errors]
        columns = ["query", "numbers", "std", "half_width", "strategy"]
        if not self.forecasts:
            return pd.DataFrame(rows, columns=columns)
        with_units = [(*row, "records") for row in rows]
        with_units += [(each.name, each.groups, each.std, each.half_width, each.strategy, each.unit) for each in self.forecasts]
        return pd.DataFrame(with_units, columns=[*columns, "unit"])

    def __repr__(self) -> str:
        if not self.amounts and self.choices:
            return f"<Quote: {'; '.join(repr(each)[9:-1] for each in self.choices)}{facts_of(self)}>"
        fits = "" if self.fits else ", does not fit the budget"
        rmse = "" if self.rmse is None else f"root mean squared error {self.rmse:g}, "
        return f"<Quote: {self.spend}, {rmse}{_errors_text(self)} with {100 * self.confidence:g}%{fits}{facts_of(self)}>"

    def _repr_html_(self) -> str:
        return _html.quote(self)


def _errors_text(shown: Union[Quote, Choice]) -> str:
    """Of statistics there is no error in records that all of them have: that of each."""
    parts = [f"{each.name} within ±{each.error_text()}" for each in shown.forecasts[:3]]
    if shown.max_error > 0 or not parts:
        parts.insert(0, f"all errors within ±{shown.max_error:g}")
    return ", ".join(parts)


def _names_of(question: Question, wire: query_pb2.EstimateWorkloadResponse) -> list[str]:
    """Of the query sets whose errors are forecast as a whole. Marginals are, where they are measured by residuals or parities."""
    names = [each.name if each else "" for each in question._namings()]
    joint = (workload_pb2.STRATEGY_RESIDUAL, workload_pb2.STRATEGY_PARITY)
    if all(names) or not any(each.strategy in joint for each in wire.query_sets):
        return names
    return [name or _marginals_name(each.marginals) for name, each in zip(names, question.to_wire().query_sets)]


def _marginals_name(marginals: workload_pb2.Marginals) -> str:
    if len(marginals.sets) == 1:
        return ",".join(marginals.sets[0].names)
    return f"{len(marginals.sets)} marginals" if marginals.sets else f"{marginals.all_k_way.k}-way marginals"


def _errors_of(wire: query_pb2.EstimateWorkloadResponse, names: list[str]) -> tuple[ExpectedError, ...]:
    placed: list[tuple[int, ExpectedError]] = []
    of_sets = {each.query_set for each in wire.query_sets}  # whose marginals have errors of their own besides
    for each in wire.marginals:
        if each.query_set in of_sets:
            continue
        noise = each.noise
        name = ",".join(each.attributes)
        error = ExpectedError(name, each.cells, noise.standard_deviation, noise.confidence_half_width, "each cell")
        placed.append((each.query_set, error))
    of_statistics = {each.query_set for each in wire.statistics}
    for other in wire.query_sets:
        if other.query_set in of_statistics:
            continue
        name = names[other.query_set] or f"query set {other.query_set}"
        gap = other.gap if other.strategy == workload_pb2.STRATEGY_RESIDUAL else None
        error = ExpectedError(name, other.answers, other.standard_deviation, other.confidence_half_width, other.words, gap)
        placed.append((other.query_set, error))
    return tuple(error for _, error in sorted(placed, key=lambda each: each[0]))

"""What accounts have spent, and what is left. Amounts are exact decimals."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING, Optional

import pandas as pd

from curator_dp import _html
from curator_dp._enums import name_of
from curator_dp._errors import CuratorError
from curator_dp._facts import facts_of
from curator_dp._spend import percent_up
from curator_dp._wire.curator.v1 import budget_pb2

if TYPE_CHECKING:
    from curator_dp._client import Client


@dataclass(frozen=True)
class Counter:
    """One quantity that an account counts.

    Attributes:
        name: "epsilon", "epsilon_squared", "delta" or "rho".
        limit, spent, held, left: exact; `held` is reserved and not started, `left` = limit - spent - held.
    """

    name: str
    limit: Decimal
    spent: Decimal
    held: Decimal
    left: Decimal

    @property
    def share_spent(self) -> float:
        """Of the limit, with what is held; 1 where the limit is 0."""
        return float((self.spent + self.held) / self.limit) if self.limit else 1.0

    @property
    def summary(self) -> str:
        """For display: "0.03 of 0.056, 0.026 left"."""
        return f"{self.spent + self.held} of {self.limit}, {self.left} left"


@dataclass(frozen=True)
class Account:
    """An account that charges post to.

    Attributes:
        name: "dataset/census", "dataset/census/analyst/ana".
        promise: "epsilon 2, delta 1e-9 (ZCDP)": all its charges together keep it.
        counters: as a tuple of Counter.
        requests_left: how many more requests at the cost of your last one fit; None where there was none.
        epsilon_used: all charges so far are (epsilon_used, delta of the promise)-DP together; None where the server does not know it.
        share_spent: the largest share of a counter's limit that was spent, 0.35 for 35%.
    """

    name: str
    promise: str
    counters: tuple[Counter, ...]
    requests_left: Optional[int]
    epsilon_used: Optional[Decimal] = None
    share_spent: float = 0.0

    @property
    def used(self) -> str:
        """For display: "35% spent, epsilon 0.71 used of epsilon 2, delta 1e-9 (ZCDP)"."""
        epsilon = "" if self.epsilon_used is None else f", epsilon {_rounded_up(self.epsilon_used)} used of {self.promise}"
        return f"{percent_up(self.share_spent)} spent{epsilon}"

    @property
    def spent(self) -> Decimal:
        """Of the first counter."""
        return self.counters[0].spent

    @property
    def left(self) -> Decimal:
        """Of the first counter."""
        return self.counters[0].left


@dataclass(frozen=True)
class CalculatedEpsilon:
    """The epsilon of a history by one calculator, for information: no account counts by it.

    Attributes:
        calculator: "basic", "rdp", "numerical", ...
        epsilon: at the delta of the promise; None where it cannot count these charges.
        adaptive: whether it also holds where each question was chosen after the answers before.
        is_lower_bound: the true epsilon is at least this; otherwise at most.
        remark: of the calculation, for display.
    """

    calculator: str
    epsilon: Optional[Decimal]
    adaptive: bool
    is_lower_bound: bool
    remark: str


class Budget:
    """The budget of a dataset as you see it.

    Attributes:
        dataset: its name.
        accounts: the dataset's own account (or those of its parts) first, as a tuple of Account.
        protects: whom every promise protects: "one record, added or removed".
        read_only: why the dataset accepts no charge; empty when it does.
        domain_from_records, rows_from_query: as of Dataset.
        comparison: the epsilon of the charges so far under other rules; empty unless asked for with compare().
    """

    def __init__(self, client: Client, dataset: str, wire: budget_pb2.GetBudgetResponse) -> None:
        self._client = client
        self.dataset = dataset
        self.accounts = tuple(_account_of(each) for each in wire.accounts)
        self.protects: str = wire.protects
        self.read_only: str = wire.read_only
        self.domain_from_records: bool = wire.domain_from_records
        self.rows_from_query: bool = wire.rows_from_query
        self.comparison = tuple(
            CalculatedEpsilon(
                each.calculator,
                Decimal(each.epsilon) if each.epsilon else None,
                each.adaptive,
                each.is_lower_bound,
                each.remark,
            )
            for each in wire.comparison.calculated
        )

    def compare(self) -> Budget:
        """The budget of now, with the epsilon of the charges so far under other rules, which takes the server longer.

        >>> "rdp" in [each.calculator for each in census.budget().compare().comparison]
        True
        """
        return self._client._budget(self.dataset, with_comparison=True)

    def history(self, account: str = "", *, points: int = 500) -> pd.DataFrame:
        """How an account came to what it has spent. Free.

        Args:
            account: its name; the dataset's own when it is empty.
            points: how many at most of each counter, 1 to 2,000.

        Returns:
            One row for each point: "time" (UTC, whole seconds), "counter", "limit", "spent", "held" (exact decimals). Between two
            points nothing changes that is not in the second one.

        >>> census.budget().history()["spent"].is_monotonic_increasing
        True
        """
        rows = [
            (pd.Timestamp(point.time.seconds, unit="s", tz="UTC"), counter.name, *map(Decimal, (point.limit, point.spent, point.held)))
            for counter in self._client._burn_down(self.dataset, account, points).counters
            for point in counter.points
        ]
        return pd.DataFrame(rows, columns=["time", "counter", "limit", "spent", "held"])

    @property
    def _first(self) -> Account:
        if not self.accounts:
            raise CuratorError(f"{self.dataset} has no account yet: no part of it was made")
        return self.accounts[0]

    @property
    def left(self) -> Decimal:
        """Of the first counter of the first account. Other accounts may have less: see `accounts`.

        >>> budget = census.budget()
        >>> budget.left + budget.spent == budget.accounts[0].counters[0].limit
        True
        """
        return self._first.left

    @property
    def spent(self) -> Decimal:
        """Of the first counter of the first account."""
        return self._first.spent

    @property
    def requests_left(self) -> Optional[int]:
        """How many more requests at the cost of your last one fit in all accounts; None where there was none."""
        known = [each.requests_left for each in self.accounts if each.requests_left is not None]
        return min(known) if known else None

    def to_frame(self) -> pd.DataFrame:
        """One row for each counter: "account", "promise", "counter", "limit", "spent", "held", "left" (exact decimals), and of its account
        "share_spent" and "epsilon_used".

        >>> census.budget().to_frame()[["account", "counter"]].values.tolist()
        [['dataset/census', 'rho']]
        """
        rows = [
            (
                *(account.name, account.promise, counter.name, counter.limit, counter.spent, counter.held, counter.left),
                *(account.share_spent, account.epsilon_used),
            )
            for account in self.accounts
            for counter in account.counters
        ]
        names = ["account", "promise", "counter", "limit", "spent", "held", "left", "share_spent", "epsilon_used"]
        return pd.DataFrame(rows, columns=names)

    def __repr__(self) -> str:
        lines = (
            f"{account.name}: {', '.join(f'{each.name} {each.summary}' for each in account.counters)}, {account.used}"
            for account in self.accounts
        )
        return f"<Budget of {self.dataset}: {'; '.join(lines)}{facts_of(self)}>"

    def _repr_html_(self) -> str:
        return _html.budget(self)


def _rounded_up(amount: Decimal) -> Decimal:
    """To four significant digits."""
    rounded = Context(prec=4, rounding=ROUND_CEILING).plus(amount)
    return rounded if rounded < 10_000 else amount


def promise_of(wire: budget_pb2.BudgetLimit) -> str:
    """For display: "epsilon 2, delta 1e-9 (ZCDP)"."""
    rule = name_of(budget_pb2.Rule, wire.rule, "RULE_")
    delta = f", delta {wire.delta}" if wire.delta else ""
    return f"epsilon {wire.epsilon}{delta} ({rule})"


def _account_of(wire: budget_pb2.Account) -> Account:
    counters = tuple(
        Counter(each.name, Decimal(each.limit), Decimal(each.spent), Decimal(each.held), Decimal(each.remaining))
        for each in wire.counters
    )
    left = wire.requests_left_like_last if wire.HasField("requests_left_like_last") else None
    used = Decimal(wire.epsilon_used) if wire.epsilon_used else None
    return Account(wire.name, promise_of(wire.promise), counters, left, used, wire.share_spent)

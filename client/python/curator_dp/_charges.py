"""Charges for mechanisms of one's own: what they do to the data, and the reservation that pays for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Optional, Union

from curator_dp._answers import Cost, Receipt, costs_of
from curator_dp._enums import name_of
from curator_dp._errors import CuratorError, InvalidQuestion, OutcomeUnknown
from curator_dp._spend import Amount, amount_text, exact
from curator_dp._wire.curator.v1 import accountant_pb2, event_pb2

if TYPE_CHECKING:
    from curator_dp._client import Client

Number = Union[int, float, str, Fraction, Decimal]
Lifetime = Union[timedelta, int, float]


@dataclass(frozen=True)
class Event:
    """What a mechanism does to the data, independent of how accounts count it. Sensitivities are those under the dataset's own
    neighbour relation and unit. Made by gaussian(), laplace(), pure(), ..., and repeated by `*`.

    Attributes:
        wire_bytes: of the message `Event`.
    """

    wire_bytes: bytes

    @classmethod
    def of(cls, wire: event_pb2.Event) -> Event:
        """The same event."""
        return cls(wire.SerializeToString(deterministic=True))

    def to_wire(self) -> event_pb2.Event:
        """The message of a request."""
        wire = event_pb2.Event()
        wire.ParseFromString(self.wire_bytes)
        return wire

    def __mul__(self, times: int) -> Event:
        """The same mechanism so many times.

        >>> (cu.zcdp("0.001") * 5).to_wire().composed.parts[0].count
        5
        """
        return composed([self], times)

    __rmul__ = __mul__


def _quotient(value: Number, field: str) -> str:
    """An exact quotient. A float is taken as it is written: 0.1 is one tenth."""
    try:
        fraction = Fraction(exact(value))
    except (ValueError, TypeError, ArithmeticError):
        raise InvalidQuestion(f"{field}: {value!r} is no number", field) from None
    if fraction <= 0:
        raise InvalidQuestion(f"{field}: {value!r} must be greater than 0", field)
    return str(fraction)


def gaussian(sigma2: Number, l2: Number = 1) -> Event:
    """Gaussian noise of variance `sigma2` on a real vector of L2 sensitivity `l2`.

    >>> import curator_dp as cu
    >>> cu.gaussian(sigma2=600, l2=6).to_wire().gaussian.l2_sensitivity_squared
    '36'
    """
    square = Fraction(_quotient(l2, "l2")) ** 2
    wire = event_pb2.GaussianEvent(sigma_squared=_quotient(sigma2, "sigma2"), l2_sensitivity_squared=str(square))
    return Event.of(event_pb2.Event(gaussian=wire))


def laplace(scale: Number, l1: Number = 1) -> Event:
    """Laplace noise of scale `scale` on a real vector of L1 sensitivity `l1`.

    >>> cu.laplace(scale=20).to_wire().laplace.scale
    '20'
    """
    wire = event_pb2.LaplaceEvent(scale=_quotient(scale, "scale"), l1_sensitivity=_quotient(l1, "l1"))
    return Event.of(event_pb2.Event(laplace=wire))


def discrete_gaussian(sigma2: Number, l2_squared: int = 1) -> Event:
    """Discrete Gaussian noise of parameter `sigma2` on an integer vector whose squared L2 sensitivity is `l2_squared`.

    >>> cu.discrete_gaussian(sigma2="1e4", l2_squared=2).to_wire().discrete_gaussian.sigma_squared
    '10000'
    """
    wire = event_pb2.DiscreteGaussianEvent(sigma_squared=_quotient(sigma2, "sigma2"), l2_sensitivity_squared=l2_squared)
    return Event.of(event_pb2.Event(discrete_gaussian=wire))


def discrete_laplace(scale: Number, l1: int = 1) -> Event:
    """Discrete Laplace noise of scale `scale` on an integer vector of L1 sensitivity `l1`.

    >>> cu.discrete_laplace(scale="1/3").to_wire().discrete_laplace.scale
    '1/3'
    """
    wire = event_pb2.DiscreteLaplaceEvent(scale=_quotient(scale, "scale"), l1_sensitivity=l1)
    return Event.of(event_pb2.Event(discrete_laplace=wire))


def exponential(range: Amount) -> Event:  # noqa: A002 (the field's name for it)
    """The exponential mechanism, whose log-probability ratios of neighbours span at most `range`.

    >>> cu.exponential("0.1").to_wire().exponential_mechanism.range
    '0.1'
    """
    wire = event_pb2.ExponentialMechanismEvent(range=amount_text(range, "range"))
    return Event.of(event_pb2.Event(exponential_mechanism=wire))


def pure(epsilon: Amount) -> Event:
    """Any epsilon-DP mechanism.

    >>> cu.pure(0.5).to_wire().pure.epsilon
    '0.5'
    """
    return Event.of(event_pb2.Event(pure=event_pb2.PureEvent(epsilon=amount_text(epsilon, "epsilon"))))


def approximate(epsilon: Amount, delta: Amount) -> Event:
    """Any (epsilon, delta)-DP mechanism.

    >>> cu.approximate(0.5, delta="1e-9").to_wire().approximate.delta
    '0.000000001'
    """
    wire = event_pb2.ApproximateEvent(epsilon=amount_text(epsilon, "epsilon"), delta=amount_text(delta, "delta"))
    return Event.of(event_pb2.Event(approximate=wire))


def zcdp(rho: Amount) -> Event:
    """Any rho-zCDP mechanism.

    >>> cu.zcdp(0.01).to_wire().zcdp.rho
    '0.01'
    """
    return Event.of(event_pb2.Event(zcdp=event_pb2.ZcdpEvent(rho=amount_text(rho, "rho"))))


def composed(events: list[Event], times: int = 1) -> Event:
    """All of these, each `times` times.

    >>> len(cu.composed([cu.pure(0.5), cu.zcdp(0.01)], times=3).to_wire().composed.parts)
    2
    """
    parts = [event_pb2.ComposedEvent.Part(event=each.to_wire(), count=times) for each in events]
    return Event.of(event_pb2.Event(composed=event_pb2.ComposedEvent(parts=parts)))


class Charge:
    """A charge for a mechanism outside of the server, as a context: it is charged when the block begins, before anything is read.

    with d.charge(cu.gaussian(sigma2=600, l2=6)) as charge:
        ...  # read the data and publish

    The block's end commits it. An exception inside leaves it spent: the server cannot know what was published. A charge is entered
    once: a block that runs its mechanism again is another charge. Where the start fails, the block does not run, and the reservation
    is cancelled.

    Attributes:
        id, request_id: as the server has them; empty before it is reserved.
        state: "RESERVED", "STARTED", "COMMITTED", "CANCELLED" or "FORFEITED"; empty before it is reserved.
        costs: as a tuple of Cost.
        receipt: the signed proof of the charge; None before it is started.
        dataset_version: of the dataset that was charged: what the mechanism may read.
    """

    def __init__(self, client: Client, request: accountant_pb2.ReserveBudgetRequest) -> None:
        self._client = client
        self._request = request
        self.request_id: str = request.request_id
        self._take(accountant_pb2.Charge())

    def _take(self, wire: accountant_pb2.Charge) -> Charge:
        self.id: str = wire.id
        self.state = name_of(accountant_pb2.Charge.State, wire.state) if wire.state else ""
        self.costs: tuple[Cost, ...] = costs_of(wire.costs)
        self.receipt = Receipt.of_wire(wire.receipt)
        self.dataset_version: int = wire.dataset_version
        return self

    def reserve(self) -> Charge:
        """Holds the cost, for `lifetime`; a reservation that is neither started nor cancelled until then counts as spent."""
        return self._call("reserve", lambda: self._client._reserve(self._request))

    def start(self) -> Charge:
        """Makes the cost durable: from now on the data may be read, and the charge stands."""
        return self._call("start", lambda: self._client._start_charge(self.id, self.request_id))

    def commit(self) -> Charge:
        """Says that the mechanism has ended."""
        return self._call("commit", lambda: self._client._commit_charge(self.id, self.request_id))

    def cancel(self, reason: str = "") -> Charge:
        """Gives the cost back, before the start only."""
        return self._call("cancel", lambda: self._client._cancel_charge(self.id, reason, self.request_id))

    def _call(self, step: str, call: Callable[[], accountant_pb2.Charge]) -> Charge:
        try:
            return self._take(call())
        except OutcomeUnknown as error:
            raise OutcomeUnknown(
                error.message, self.request_id, f"{step}() of this charge again finds out; each step is done once, whatever is repeated"
            ) from None

    def __enter__(self) -> Charge:
        if not self.state:
            self.reserve()
        if self.state != "RESERVED":
            raise CuratorError(
                f"the charge {self.id} is {self.state}: its mechanism may have run; d.charge(...) with a new request id pays for another run"
            )
        try:
            return self.start()
        except BaseException as error:  # Ctrl-C, too
            is_cancelled = self._cancel_unless_started()
            fate = "was cancelled" if is_cancelled else "could not be cancelled, and counts as spent"
            error.add_note(f"the block did not run, and the charge {self.id} {fate}")
            raise

    def _cancel_unless_started(self) -> bool:
        try:
            self.cancel("the start failed")
        except CuratorError:
            return False  # it was started all the same, or the server cannot be reached
        return True

    def __exit__(
        self, kind: Optional[type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if kind is None:
            self.commit()

    def __repr__(self) -> str:
        return f"<Charge {self.id or '(not reserved)'}: {self.state or 'new'}>"


def lifetime_seconds(lifetime: Optional[Lifetime]) -> Optional[int]:
    """Whole seconds. InvalidQuestion where it is less than one."""
    if lifetime is None:
        return None
    seconds = lifetime.total_seconds() if isinstance(lifetime, timedelta) else float(lifetime)
    if not 1 <= seconds < 1 << 31:
        raise InvalidQuestion(f"lifetime: at least one second, not {lifetime!r}", "lifetime")
    return int(seconds)

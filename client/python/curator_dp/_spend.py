"""What a request may spend: exact decimals, never floats."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from numbers import Integral, Rational, Real
from typing import Any, Optional, Union

from curator_dp._errors import InvalidQuestion
from curator_dp._wire.curator.v1 import workload_pb2

Amount = Union[Decimal, int, str, float]

DEFAULT_CONFIDENCE = 0.95  # the server's


def decimal_of(amount: Amount, field: str) -> Decimal:
    """An exact decimal. A float is taken as it is written: 0.1 is one tenth. So are NumPy's numbers."""
    if isinstance(amount, bool):
        raise InvalidQuestion(f"{field}: {amount!r} is no amount", field)
    try:
        number = Decimal(exact(amount))
    except (InvalidOperation, TypeError, ValueError):
        raise InvalidQuestion(f"{field}: {amount!r} is no amount, such as 0.03 or Decimal('0.03')", field) from None
    if not number.is_finite() or number < 0:
        raise InvalidQuestion(f"{field}: {amount!r} must be a finite amount that is not negative", field)
    return number


def exact(number: Any) -> Any:
    """What Decimal and Fraction read exactly. A float is taken as it is written."""
    if isinstance(number, Integral):
        return int(number)
    return repr(float(number)) if isinstance(number, Real) and not isinstance(number, Rational) else number


def amount_text(amount: Amount, field: str) -> str:
    """As the server reads it: without an exponent and without trailing zeros, so that equal amounts are equal texts."""
    text = format(decimal_of(amount, field), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def spend_of(
    epsilon: Optional[Amount] = None, delta: Optional[Amount] = None, rho: Optional[Amount] = None
) -> Optional[workload_pb2.Spend]:
    """The spend of a request; None where nothing is given."""
    if epsilon is None and delta is None and rho is None:
        return None
    spend = workload_pb2.Spend()
    for field, amount in (("epsilon", epsilon), ("delta", delta), ("rho", rho)):
        if amount is not None:
            setattr(spend, field, amount_text(amount, field))
    return spend


def _percent(share: float, direction: Callable[[float], int], tolerance: float) -> str:
    percent = 100 * share
    if not percent > 0:
        return "0%"
    places = _places(percent)
    rounded = direction(percent * 10**places * (1 + tolerance)) / 10**places
    return f"{rounded:.{_places(rounded)}f}%" if rounded > 0 else "0%"


def _places(percent: float) -> int:
    """Behind the point, for two significant digits."""
    return min(12, max(0, 1 - math.floor(math.log10(percent * (1 + 1e-12)))))


def percent_up(share: float) -> str:
    """Of two significant digits, rounded up: "0.012%", "4.2%", "62%"."""
    return _percent(share, math.ceil, -1e-9)


def percent_down(share: float) -> str:
    """The same, rounded down."""
    return _percent(share, math.floor, 1e-9)


def words_of(spend: workload_pb2.Spend) -> str:
    """ "rho 0.03"; "epsilon 1, delta 1e-9"."""
    given = [(name, getattr(spend, name)) for name in ("epsilon", "delta", "rho")]
    return ", ".join(f"{name} {amount}" for name, amount in given if amount)


def settings_of(spend: workload_pb2.Spend) -> dict[str, Decimal]:
    """The arguments of answer() for this spend."""
    return {name: Decimal(getattr(spend, name)) for name in ("epsilon", "delta", "rho") if getattr(spend, name)}

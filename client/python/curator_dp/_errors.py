"""What went wrong, as exceptions that carry what the server said.

Every exception says what can be done. ``CuratorError`` is the base of all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any, Optional

import grpc

from curator_dp._wire.curator.rpc import error_details_pb2, status_pb2

_TRAILER = "grpc-status-details-bin"


class CuratorError(Exception):
    """An error of a call, or of the arguments of one.

    Attributes:
        reason: the constant that names the cause ("LEDGER_CONTRADICTS_ITSELF"); empty when the server named none.
    """

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        """As it is, for another process: constructors of subclasses add advice to their messages."""
        return (_restored, (type(self), self.args, self.__dict__))


def _restored(kind: type[CuratorError], args: tuple[Any, ...], fields: dict[str, Any]) -> CuratorError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(fields)
    return error


@dataclass(frozen=True)
class FullAccount:
    """One counter of one account that could not take a charge. An account with two full counters appears twice.

    Attributes:
        account: "dataset/census".
        rule: how the account counts: "PURE", "ADVANCED" or "ZCDP".
        counter: "epsilon", "epsilon_squared", "delta" or "rho".
        asked: what the request would have cost.
        remaining: what is left.
    """

    account: str
    rule: str
    counter: str
    asked: Decimal
    remaining: Decimal


class BudgetFull(CuratorError):
    """The request costs more than is left. Nothing was charged, and no record was read.

    Attributes:
        accounts: every full counter, as a tuple of FullAccount.
    """

    def __init__(self, message: str, accounts: tuple[FullAccount, ...]) -> None:
        left = "; ".join(f"{each.account} has {each.counter} {each.remaining} left of {each.asked} asked" for each in accounts)
        super().__init__(f"{message}\n{left}\nask for less, or quote(...) first; the owner of the dataset can raise a limit", "BUDGET_FULL")
        self.accounts = accounts


class QuotaExceeded(CuratorError):
    """You are over one of your quotas of the server, which are about its work, not about privacy. No budget was charged.

    Attributes:
        retry_after: when the same request may be sent again.
    """

    def __init__(self, message: str, retry_after: timedelta) -> None:
        super().__init__(f"{message}\nask again in {retry_after.total_seconds():g} s; nothing was charged", "QUOTA")
        self.retry_after = retry_after


class NotAuthenticated(CuratorError):
    """The server does not know who you are."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(f"{message}\nlog in with `curator login`, or give connect() a token or a certificate", reason)


class NotAllowed(CuratorError):
    """You may not do this, or a rule of the dataset's owner refuses it. Nothing was charged."""


class NotFound(CuratorError):
    """There is no such thing, or none that you may see."""


class InvalidQuestion(CuratorError):
    """The request cannot be answered as it is. Nothing was charged.

    Attributes:
        field: the path of what is wrong within the request ("workload.query_sets[0].marginals.all_k_way.k"); empty
            where it is not one field.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message, "INVALID_ARGUMENT")
        self.field = field


class RequestIdReused(CuratorError):
    """The request id belongs to another request of yours. Nothing was charged, and nothing of the other is returned.

    Attributes:
        request_id: that id.
    """

    def __init__(self, message: str, request_id: str) -> None:
        super().__init__(
            f"{message}\nleave request_id out to have one that is derived from the request, or use fresh=True for a new one",
            "ALREADY_EXISTS",
        )
        self.request_id = request_id


class Unavailable(CuratorError):
    """No server answers, or the server cannot answer now. Nothing was charged."""


class OutcomeUnknown(CuratorError):
    """The connection was lost after the request was sent: it may have been charged.

    The same call again finds out: under the same request id nothing is charged twice, and the answer is the same.

    Attributes:
        request_id: under which to ask again: answer(..., request_id=error.request_id).
        message: of the server or the connection, without the advice that the exception prints.
    """

    def __init__(self, message: str, request_id: str, advice: str = "") -> None:
        usual = f"run the same call again, with request_id={request_id!r}: it is charged once, and its answer stays the same"
        super().__init__(f"{message}\n{advice or usual}", "UNKNOWN_OUTCOME")
        self.request_id = request_id
        self.message = message


class LedgerContradiction(CuratorError):
    """The ledger of the dataset does not agree with itself, with its anchor, or with a receipt."""


@dataclass(frozen=True)
class Details:
    """What came beside the message of an error."""

    reason: str = ""
    retry_after: Optional[timedelta] = None
    field: str = ""
    accounts: tuple[FullAccount, ...] = ()


def _account_of(violation: error_details_pb2.QuotaFailure.Violation) -> FullAccount:
    dimensions = violation.quota_dimensions
    return FullAccount(
        account=violation.subject,
        rule=dimensions.get("rule", ""),
        counter=violation.quota_metric,
        asked=Decimal(dimensions.get("asked") or 0),
        remaining=Decimal(dimensions.get("remaining") or 0),
    )


def details_of(error: grpc.RpcError) -> Details:
    """The details that the server sent; a trailer that cannot be read is ignored."""
    trailers = dict(error.trailing_metadata() or ())
    status = status_pb2.Status()
    try:
        status.ParseFromString(trailers.get(_TRAILER, b""))
        return _details_in(status)
    except Exception:  # what a proxy wrote there
        return Details()


def _details_in(status: status_pb2.Status) -> Details:
    reason, field = "", ""
    retry_after: Optional[timedelta] = None
    accounts: tuple[FullAccount, ...] = ()
    for detail in status.details:
        kind = detail.type_url.rpartition("/")[2]
        if kind == "google.rpc.ErrorInfo":
            reason = error_details_pb2.ErrorInfo.FromString(detail.value).reason
        elif kind == "google.rpc.RetryInfo":
            delay = error_details_pb2.RetryInfo.FromString(detail.value).retry_delay
            retry_after = timedelta(seconds=delay.seconds, microseconds=-(-delay.nanos // 1000))
        elif kind == "google.rpc.BadRequest":
            violations = error_details_pb2.BadRequest.FromString(detail.value).field_violations
            field = violations[0].field if violations else ""
        elif kind == "google.rpc.QuotaFailure":
            failure = error_details_pb2.QuotaFailure.FromString(detail.value)
            accounts = tuple(_account_of(violation) for violation in failure.violations)
    return Details(reason, retry_after, field, accounts)


def is_over_quota(code: grpc.StatusCode, details: Details) -> bool:
    return code == grpc.StatusCode.RESOURCE_EXHAUSTED and details.reason == "QUOTA"


def may_retry(code: grpc.StatusCode, details: Details) -> bool:
    """Whether a request id makes a repetition safe: the rule of the C++ client (client/error.h)."""
    if code == grpc.StatusCode.UNAVAILABLE:
        return True
    return (code == grpc.StatusCode.ABORTED or is_over_quota(code, details)) and details.retry_after is not None


def is_unknown(code: grpc.StatusCode, details: Details) -> bool:
    """Whether a request may have been charged though no answer came: the rule of the command line."""
    if details.reason in ("OVERLOADED", "STORE_FULL"):  # the server says that it changed nothing
        return False
    is_broken_stream = code == grpc.StatusCode.DATA_LOSS and not details.reason
    return is_broken_stream or code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED)


def settles(code: grpc.StatusCode, details: Details) -> bool:
    """Whether an error tells that no earlier attempt under the same request id was charged."""
    settling = (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.ALREADY_EXISTS, grpc.StatusCode.FAILED_PRECONDITION)
    return bool(details.accounts) or code in settling


def exception_of(error: grpc.RpcError, request_id: str = "", is_earlier_unknown: bool = False) -> CuratorError:
    """The exception for a failed call.

    Args:
        request_id: of the request, where it has one.
        is_earlier_unknown: whether the outcome of an attempt before this one is unknown.
    """
    code, message, details = error.code(), error.details() or "", details_of(error)
    if request_id and (is_unknown(code, details) or (is_earlier_unknown and not settles(code, details))):
        return OutcomeUnknown(message, request_id)
    if details.accounts:
        return BudgetFull(message.partition("\n")[0], details.accounts)
    if is_over_quota(code, details):
        return QuotaExceeded(message, details.retry_after or timedelta())
    if code == grpc.StatusCode.UNAVAILABLE:
        return Unavailable(message, details.reason)
    if code == grpc.StatusCode.ALREADY_EXISTS and request_id:
        return RequestIdReused(message, request_id)
    if code == grpc.StatusCode.INVALID_ARGUMENT:
        return InvalidQuestion(message, details.field)
    if code == grpc.StatusCode.DATA_LOSS:
        return LedgerContradiction(message, details.reason)
    kinds = {
        grpc.StatusCode.UNAUTHENTICATED: NotAuthenticated,
        grpc.StatusCode.PERMISSION_DENIED: NotAllowed,
        grpc.StatusCode.NOT_FOUND: NotFound,
    }
    return kinds.get(code, CuratorError)(message, details.reason)

"""A channel to a server, and the loop that repeats a request until it succeeds or the retry window has closed.

The rules are those of the C++ client (client/error.h): UNAVAILABLE is repeated, whose outcome may be unknown, since the server
replays a charge under the same request id; and so are ABORTED with RetryInfo and an exceeded quota, where nothing happened.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Optional, TypeVar

import grpc

from curator_dp import _errors
from curator_dp._tokens import TokenSource

T = TypeVar("T")

# Answers come in chunks of at most 1 MiB; a list of datasets with large schemas is one message.
_LARGEST_MESSAGE_BYTES = 16 << 20
_HTTPS = "https://"
_GET_VERSION = "/curator.v1.VersionService/GetVersion"
# A little more than gRPC's own interval.
_WATCH_SECONDS = 0.3

Metadata = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class RetryPolicy:
    """When a request is sent again: only where it can have been charged at most once under its request id, or was not charged.

    Attributes:
        first_delay: seconds after the first failure; doubled after each one.
        longest_delay: seconds.
        window: no attempt begins later than so many seconds after the first failure.
    """

    first_delay: float = 0.1
    longest_delay: float = 1.0
    window: float = 3.0

    def delay_after(self, failures: int, asked: Optional[timedelta]) -> float:
        """Seconds to wait: between half and all of the doubled delay, or what the server asked for and up to half of it more."""
        delay: float = min(self.first_delay * 2 ** (failures - 1), self.longest_delay)
        least = max(delay / 2, asked.total_seconds() if asked else 0.0)
        return least + random.uniform(0, max(delay / 2, least / 2))


@dataclass(frozen=True)
class Options:
    server: str
    principal: str = ""
    token: Optional[TokenSource] = None
    authorities: str = ""
    certificate: str = ""
    key: str = ""
    retry: RetryPolicy = field(default_factory=RetryPolicy)


def takes_tokens(server: str) -> bool:
    """Whether nobody on the way can read what is sent: over TLS or a unix socket."""
    return server.startswith((_HTTPS, "unix:"))


def _target_of(server: str) -> str:
    if not server.startswith(_HTTPS):
        return server
    target = server[len(_HTTPS) :].rstrip("/")
    host, colon, port = target.rpartition(":")
    has_port = bool(colon) and "]" not in port
    return target if has_port else f"{target}:443"


def _content_of(path: str) -> Optional[bytes]:
    if not path:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _errors.CuratorError(f"{path} cannot be read: {error.strerror}") from None


def _channel_of(options: Options) -> Any:
    settings = [
        ("grpc.max_receive_message_length", _LARGEST_MESSAGE_BYTES),
        ("grpc.enable_http_proxy", 0),
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.min_reconnect_backoff_ms", 1000),
        ("grpc.max_reconnect_backoff_ms", 1000),
        ("grpc.keepalive_time_ms", 60_000),  # as rare as a server of ours allows
    ]
    if not options.server.startswith(_HTTPS):
        return grpc.insecure_channel(options.server, options=settings)
    credentials = grpc.ssl_channel_credentials(
        root_certificates=_content_of(options.authorities),
        private_key=_content_of(options.key),
        certificate_chain=_content_of(options.certificate),
    )
    return grpc.secure_channel(_target_of(options.server), credentials, options=settings)


def _is_header_text(text: str) -> bool:
    """What HTTP/2 can carry as the value of a header."""
    return all(" " <= character <= "~" for character in text)


def _check(options: Options) -> None:
    if not _is_header_text(options.principal):
        raise _errors.CuratorError("principal: only printable ASCII can be sent")
    if bool(options.certificate) != bool(options.key):
        raise _errors.CuratorError("certificate and key: give both, or neither")
    if (options.authorities or options.certificate) and not options.server.startswith(_HTTPS):
        raise _errors.CuratorError("authorities, certificate and key are for a server with TLS: https://HOST")
    if options.token is not None and not takes_tokens(options.server):
        raise _errors.CuratorError(
            "server: a token is sent over TLS (https://HOST) or a unix socket (unix:/PATH) only, so that nobody on the way can read it"
        )


def _new_id(size: int) -> str:
    """So many random bytes in hexadecimal digits, of which one is not 0: an id of W3C Trace Context."""
    return f"{secrets.randbits(8 * size) | 1:0{2 * size}x}"


class Connection:
    """Thread-safe. Connects on the first call; calls have no deadline, since an abandoned charge is not refunded."""

    def __init__(self, options: Options) -> None:
        _check(options)
        self._options = options
        self.channel = _channel_of(options)
        self._was_ready = False
        self._is_closed = False
        self._watched_until = 0.0

    def close(self) -> None:
        self._is_closed = True
        # gRPC's thread that watches the state ends within its interval, and fails where its channel is gone.
        time.sleep(max(0.0, self._watched_until + _WATCH_SECONDS - time.monotonic()))
        self.channel.close()

    def _connect_before(self, deadline: float) -> bool:
        if self._was_ready:
            return time.monotonic() <= deadline
        ready = grpc.channel_ready_future(self.channel)
        try:
            ready.result(timeout=max(0.0, deadline - time.monotonic()))
        except grpc.FutureTimeoutError:
            ready.cancel()
            return False
        finally:
            self._watched_until = time.monotonic()
        self._was_ready = True
        return True

    def _why_not_connected(self) -> str:
        """A call that does not wait for a connection has the last error; it proves nothing of who calls."""
        try:
            self.channel.unary_unary(_GET_VERSION)(b"", timeout=1)
        except grpc.RpcError as error:
            return error.details() or "unknown"
        return "it was too slow"

    def _metadata(self, trace: str, has_expired: bool) -> Metadata:
        metadata = [("traceparent", f"00-{trace}-{_new_id(8)}-01")]
        if self._options.principal:
            metadata.append(("curator-principal", self._options.principal))
        if self._options.token is not None:
            token = self._options.token(has_expired)
            if not _is_header_text(token):
                raise _errors.CuratorError("token: only printable ASCII can be sent")  # without the token itself
            metadata.append(("authorization", f"Bearer {token}"))
        return metadata

    def _attempt(self, trace: str, attempt: Callable[[Metadata], T]) -> T:
        # A source may first give what another program has got, which may have expired, too.
        renewals_left = 2 if self._options.token is not None else 0
        has_expired = False
        while True:
            try:
                return attempt(self._metadata(trace, has_expired))
            except grpc.RpcError as error:
                has_expired = (
                    error.code() == grpc.StatusCode.UNAUTHENTICATED and _errors.details_of(error).reason == "TOKEN_EXPIRED"
                )
                if not has_expired or renewals_left == 0:
                    raise
                renewals_left -= 1

    def run(self, attempt: Callable[[Metadata], T], request_id: str = "") -> T:
        """What `attempt` returns, which is called with the metadata of each attempt and raises grpc.RpcError."""
        if self._is_closed:
            raise _errors.CuratorError("the client is closed: connect() makes another one")
        policy = self._options.retry
        trace = _new_id(16)  # of all attempts
        deadline = time.monotonic() + policy.window
        last: Optional[grpc.RpcError] = None
        is_unknown = False
        failures = 0
        while self._connect_before(deadline):
            try:
                return self._attempt(trace, attempt)
            except grpc.RpcError as error:
                details = _errors.details_of(error)
                if not _errors.may_retry(error.code(), details):
                    raise _errors.exception_of(error, request_id, is_unknown) from None
                is_unknown = is_unknown or _errors.is_unknown(error.code(), details)
                last = error
                failures += 1
                self._was_ready = error.code() != grpc.StatusCode.UNAVAILABLE
                if failures == 1:
                    deadline = time.monotonic() + policy.window
                delay = policy.delay_after(failures, details.retry_after)
                if time.monotonic() + delay > deadline:
                    break
                time.sleep(delay)
        if last is None:
            raise _errors.Unavailable(f"no server answers at {self._options.server}: {self._why_not_connected()}; nothing was sent")
        raise _errors.exception_of(last, request_id, is_unknown) from None

    def unary(self, method: Any, request: Any, response: type[T], request_id: str = "") -> T:
        """The response, a message of this type."""

        def attempt(metadata: Metadata) -> T:
            received = method(request, metadata=metadata)
            assert isinstance(received, response)
            return received

        return self.run(attempt, request_id)


@contextmanager
def cancelled_unless_read(call: Any) -> Iterator[Any]:
    """A stream that is cancelled where its reader leaves it before its end."""
    try:
        yield call
    finally:
        call.cancel()

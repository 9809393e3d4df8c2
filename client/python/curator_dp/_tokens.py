"""Where the tokens come from that prove who calls.

A token source is called before each attempt, with whether the server has said that the last token has expired, and returns a
token. Sources are thread-safe.
"""

from __future__ import annotations

import fcntl
import json
import os
import ssl
import stat
import subprocess
import threading
import urllib.error
import urllib.parse
import urllib.request
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional

from curator_dp._errors import CuratorError, NotAuthenticated

TokenSource = Callable[[bool], str]

_HTTP_SECONDS = 30


def _first_line(text: str, source: str) -> str:
    line = text.split("\n", 1)[0].rstrip("\r ")
    if not line:
        raise CuratorError(f"token: {source} has no token in its first line")
    return line


def of_text(token: str) -> TokenSource:
    return lambda has_expired: token


def of_file(path: str) -> TokenSource:
    """The first line of a file, read before each call: another program may renew it."""

    def read(has_expired: bool) -> str:
        try:
            return _first_line(Path(path).read_text(encoding="utf-8"), path)
        except OSError as error:
            raise CuratorError(f"token: {path} cannot be read: {error.strerror}") from None

    return read


class _CommandTokens:
    def __init__(self, command: str) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._token = ""

    def __call__(self, has_expired: bool) -> str:
        with self._lock:
            if not self._token or has_expired:
                done = subprocess.run(self._command, shell=True, stdout=subprocess.PIPE, text=True, check=False)
                if done.returncode != 0:
                    raise CuratorError(f"token: the command has failed: {self._command}")
                self._token = _first_line(done.stdout, "the output of the command")
            return self._token


def of_command(command: str) -> TokenSource:
    """What a shell command prints; it runs again when the token has expired."""
    return _CommandTokens(command)


def login_file() -> Optional[Path]:
    """Where `curator login` keeps its tokens."""
    state = os.environ.get("XDG_STATE_HOME")
    if state:
        return Path(state) / "curator" / "login.json"
    home = os.environ.get("HOME")
    return Path(home) / ".local" / "state" / "curator" / "login.json" if home else None


def _read_logins(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise CuratorError(f"{path} can be opened by others, and it has tokens of yours: chmod 600 it, or log in again")
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        document = None
    if not isinstance(document, dict):
        raise CuratorError(f"{path} cannot be read: remove it, and log in again")
    return document


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """As `curator` does, so that of several programs one renews a login."""
    try:
        file = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CuratorError(f"{path}.lock cannot be opened ({error.strerror}), so the login cannot be renewed") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _write_logins(path: Path, logins: dict[str, Any]) -> None:
    new = Path(f"{path}.new")
    new.unlink(missing_ok=True)
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(json.dumps(logins, indent=1) + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.rename(path)


def _keep_logins(path: Path, logins: dict[str, Any]) -> None:
    try:
        _write_logins(path, logins)
    except OSError as error:
        warnings.warn(f"{path} cannot be written ({error.strerror}): other programs will have to log in again", stacklevel=2)


def _fetch(url: str, login: dict[str, Any], fields: Optional[dict[str, str]] = None) -> dict[str, Any]:
    if not url.startswith("https://"):
        raise NotAuthenticated(f"the issuer's address is not https: {url}")
    data = urllib.parse.urlencode(fields).encode() if fields else None
    try:
        context = ssl.create_default_context(cafile=login.get("issuer_authorities") or None)
        with urllib.request.urlopen(url, data=data, timeout=_HTTP_SECONDS, context=context) as response:
            document = json.loads(response.read())
    except (OSError, ValueError, urllib.error.URLError) as error:
        raise NotAuthenticated(f"the issuer {login.get('issuer')} did not renew the login: {error}") from None
    if not isinstance(document, dict):
        raise NotAuthenticated(f"the issuer {login.get('issuer')} answered with something else than an object")
    return document


def _renewed(login: dict[str, Any]) -> dict[str, Any]:
    if not login.get("refresh_token"):
        raise NotAuthenticated("your login has ended")
    issuer = str(login.get("issuer", "")).rstrip("/")
    endpoints = _fetch(f"{issuer}/.well-known/openid-configuration", login)
    fields = {
        "grant_type": "refresh_token",
        "refresh_token": str(login["refresh_token"]),
        "client_id": str(login.get("client_id", "")),
    }
    answer = _fetch(str(endpoints.get("token_endpoint", "")), login, fields)
    token = answer.get("id_token" if login.get("is_id_token", True) else "access_token")
    if not isinstance(token, str):
        raise NotAuthenticated("your login has ended")
    return {**login, "token": token, "refresh_token": answer.get("refresh_token") or login["refresh_token"]}


class _LoginTokens:
    def __init__(self, path: Path, server: str, login: dict[str, Any]) -> None:
        self._path = path
        self._server = server
        self._login = login
        self._lock = threading.Lock()

    def __call__(self, has_expired: bool) -> str:
        with self._lock:
            if has_expired:
                self._renew()
            return str(self._login["token"])

    def _renew(self) -> None:
        with _locked(self._path):
            logins = _read_logins(self._path)
            kept = logins.get(self._server)
            if not isinstance(kept, dict) or any(kept.get(name) != self._login.get(name) for name in ("issuer", "client_id")):
                raise NotAuthenticated("your login has ended")
            # Another program may have renewed it: many issuers end a login whose refresh token is used twice.
            if kept.get("token") == self._login["token"]:
                kept = _renewed(kept)
                logins[self._server] = kept
                self._login = kept  # also where it cannot be written: its old refresh token may serve no second time
                _keep_logins(self._path, logins)
            self._login = kept


def of_login(server: str) -> Optional[TokenSource]:
    """The token of `curator login` for this server, renewed when it has expired; None where there is none."""
    path = login_file()
    login = _read_logins(path).get(server) if path else None
    if path is None or login is None:
        return None
    if not isinstance(login, dict) or not login.get("token"):
        raise CuratorError(f"{path} cannot be read: remove it, and log in again")
    return _LoginTokens(path, server, login)

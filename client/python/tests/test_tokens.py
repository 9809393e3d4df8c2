"""Where tokens come from, and that they are renewed once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Optional

import grpc
import pytest

import curator_dp as cu
from conftest import grpc_error
from curator_dp import _tokens
from curator_dp._client import _token_of
from curator_dp._connection import Connection, Options

SERVER = "https://curator.example"
LOGIN = {"issuer": "https://issuer.example/", "client_id": "curator", "token": "old", "refresh_token": "first", "is_id_token": True}


@pytest.fixture
def login_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("CURATOR_TOKEN_FILE", raising=False)
    path = tmp_path / "curator" / "login.json"
    path.parent.mkdir()
    path.touch(0o600)
    path.write_text(json.dumps({SERVER: LOGIN}))
    return path


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What an issuer was asked for. It gives each refresh token once."""
    asked: list[dict[str, str]] = []

    def fetch(url: str, login: dict[str, Any], fields: Optional[dict[str, str]] = None) -> dict[str, Any]:
        if fields is None:
            assert url == "https://issuer.example/.well-known/openid-configuration"
            return {"token_endpoint": "https://issuer.example/token"}
        asked.append(fields)
        return {"id_token": f"new {len(asked)}", "refresh_token": f"refresh {len(asked)}"}

    monkeypatch.setattr(_tokens, "_fetch", fetch)
    return asked


def token_of(url: str = SERVER, **given: Any) -> Optional[_tokens.TokenSource]:
    names = ("api_token", "token_file", "token_command")
    return _token_of(url, *(given.get(name) for name in names), has_other=False)


def test_a_file_is_read_before_each_call(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one\nmore\n")
    source = token_of(token_file=str(path))
    assert source is not None and source(False) == "one"
    path.write_text("two \r\n")
    assert source(False) == "two"
    path.write_text("\n")
    with pytest.raises(cu.CuratorError, match="no token in its first line"):
        source(False)
    path.unlink()
    with pytest.raises(cu.CuratorError, match="cannot be read"):
        source(False)


def test_a_command_runs_again_only_when_its_token_has_expired(tmp_path: Path) -> None:
    source = token_of(token_command=f"echo run >> {tmp_path}/runs; wc -l < {tmp_path}/runs")
    assert source is not None
    assert [source(False), source(False), source(True), source(False)] == ["1", "1", "2", "2"]
    failing = token_of(token_command="exit 3")
    assert failing is not None
    with pytest.raises(cu.CuratorError, match="has failed"):
        failing(False)


def test_the_login_of_the_command_line_is_used_and_renewed_for_all(login_file: Path, issuer: list[dict[str, str]]) -> None:
    one, other = token_of(), token_of()
    assert one is not None and other is not None
    assert one(False) == "old"
    assert one(True) == "new 1"
    assert issuer == [{"grant_type": "refresh_token", "refresh_token": "first", "client_id": "curator"}]
    assert other(True) == "new 1", "what the first one got; no refresh token is used twice"
    assert len(issuer) == 1
    kept = json.loads(login_file.read_text())[SERVER]
    assert (kept["token"], kept["refresh_token"]) == ("new 1", "refresh 1")
    assert login_file.stat().st_mode & 0o077 == 0
    assert other(True) == "new 2"


def test_a_login_of_another_server_is_not_used(login_file: Path) -> None:
    assert token_of("https://other.example") is None
    assert token_of("127.0.0.1:7878") is None, "a development server takes no tokens"


def test_a_login_that_others_can_read_is_refused(login_file: Path) -> None:
    login_file.chmod(0o644)
    with pytest.raises(cu.CuratorError, match="chmod 600"):
        token_of()


def test_a_login_that_has_ended_says_how_to_go_on(login_file: Path, issuer: list[dict[str, str]]) -> None:
    source = token_of()
    login_file.write_text("{}")
    assert source is not None
    with pytest.raises(cu.NotAuthenticated, match="curator login"):
        source(True)


def test_the_environment_names_a_file_for_programs(login_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "token").write_text("of a program\n")
    monkeypatch.setenv("CURATOR_TOKEN_FILE", str(tmp_path / "token"))
    source = token_of()
    assert source is not None and source(False) == "of a program"
    with pytest.raises(cu.CuratorError, match="one of"):
        token_of(api_token="a", token_command="b")
    with pytest.raises(cu.CuratorError, match="empty text"):
        token_of(api_token="")


def test_a_token_that_cannot_be_sent_is_not_shown() -> None:
    client = cu.connect("unix:/nowhere", api_token="secret\n", retry=cu.RetryPolicy(window=0.1))
    client._connection._was_ready = True
    with pytest.raises(cu.CuratorError, match="only printable ASCII") as caught:
        client.version()
    assert "secret" not in str(caught.value)


def test_a_certificate_comes_with_its_key_and_for_a_server_with_tls() -> None:
    with pytest.raises(cu.CuratorError, match="give both"):
        cu.connect(SERVER, certificate="c.pem")
    with pytest.raises(cu.CuratorError, match="give both"):
        cu.connect(SERVER, key="c.key")
    with pytest.raises(cu.CuratorError, match="for a server with TLS"):
        cu.connect("127.0.0.1:1", principal="ana", authorities="ca.pem")


def test_a_renewed_login_is_used_also_where_it_cannot_be_written(
    login_file: Path, issuer: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, logins: dict[str, Any]) -> None:
        raise OSError(28, "No space left on device")

    source = token_of()
    monkeypatch.setattr(_tokens, "_write_logins", full)
    assert source is not None
    with pytest.warns(UserWarning, match="No space left"):
        assert source(True) == "new 1"
    assert source(False) == "new 1"
    assert len(issuer) == 1


def test_an_expired_token_is_replaced_within_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def source(has_expired: bool) -> str:
        asked.append(has_expired)
        return f"token {len(asked)}"

    expired = grpc_error(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_EXPIRED")
    connection = Connection(Options(server="unix:/nowhere", token=source))
    monkeypatch.setattr(connection, "_connect_before", lambda deadline: True)
    sent: list[Any] = []

    def attempt(metadata: Any) -> str:
        sent.append(metadata)
        if len(sent) == 1:
            raise expired
        return "answered"

    assert connection.run(attempt) == "answered"
    assert asked == [False, True]
    assert [value for name, value in sent[1] if name == "authorization"] == ["Bearer token 2"]
    with pytest.raises(cu.NotAuthenticated):
        connection.run(lambda metadata: (_ for _ in ()).throw(expired))
    connection.close()

"""Who calls, shown to a server behind haproxy by an identity provider's tokens, a login, and a certificate."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import curator_dp as cu
from conftest import PROMISE
from testing.installation import Installation
from testing.server import BUILD

SERVICE = "spiffe://example/nightly"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """With the dataset census. The principal hasty may make one call in a second, and three after a pause."""
    quotas = {"hasty": {"calls_per_second": 1, "calls_after_a_pause": 3}}
    with Installation(tmp_path_factory.mktemp("installation"), with_postgres=False, quotas=quotas) as started:
        started.make_dataset("census", *PROMISE)
        yield started


def connect(installation: Installation, **who: Any) -> cu.Client:
    return cu.connect(installation.address, authorities=str(installation.authority.path), study=installation.folder / "study", **who)


def test_a_token_shows_who_asks_and_another_analyst_has_a_ledger_of_requests_of_his_own(installation: Installation) -> None:
    installation.make_principal("eve")
    installation.curator("owner", "dataset", "grant", "census", "eve")
    of_ana = installation.client("ana")["census"].marginals("sex").answer(rho="0.001")
    of_eve = installation.client("eve")["census"].marginals("sex").answer(rho="0.001")
    assert of_ana.request_id == of_eve.request_id, "one study"
    assert not of_eve.replayed and of_eve.charge_id != of_ana.charge_id


def test_what_others_may_not_see_is_not_there_for_them(installation: Installation) -> None:
    installation.make_principal("nobody")
    with pytest.raises(cu.NotFound):
        installation.client("nobody")["census"]
    assert len(installation.client("nobody").datasets()) == 0


@pytest.mark.parametrize("who", [{}, {"api_token": "cur_made_up"}, {"api_token": "a.b.c"}], ids=["nothing", "API token", "JWT"])
def test_who_proves_nothing_is_told_how_to(installation: Installation, who: dict[str, str]) -> None:
    with pytest.raises(cu.NotAuthenticated, match="log in with `curator login`, or give connect"):
        connect(installation, **who)["census"]


def test_a_token_that_has_expired_is_named_so(installation: Installation) -> None:
    installation.provider.ask("/test/lifetime", seconds="-3600")
    token = installation.provider.token_of("ana")
    installation.provider.ask("/test/lifetime", seconds="3600")
    with pytest.raises(cu.NotAuthenticated) as caught:
        connect(installation, api_token=token)["census"]
    assert caught.value.reason == "TOKEN_EXPIRED"


def test_a_login_of_the_command_line_is_used_and_renewed(
    installation: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    installation.provider.ask("/test/lifetime", seconds="-3600")
    log_in(installation, "ana")
    installation.provider.ask("/test/lifetime", seconds="3600")
    path = tmp_path / "curator" / "login.json"
    expired = json.loads(path.read_text())[installation.address]["token"]
    assert connect(installation)["census"].name == "census"
    assert json.loads(path.read_text())[installation.address]["token"] != expired


def log_in(installation: Installation, subject: str) -> None:
    authorities = str(installation.authority.path)
    command = [str(BUILD / "client" / "curator"), "--server", installation.address, "--ca", authorities, "login", "--issuer-ca", authorities]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as login:
        assert login.stdout is not None
        for line in login.stdout:
            _, said, code = line.partition("enter the code ")
            if said:
                installation.provider.approve(code.split()[0], subject)
    assert login.returncode == 0


def test_a_service_shows_its_certificate(installation: Installation, tmp_path: Path) -> None:
    invitation = installation.curator("ana", "credential", "add", "--certificate", SERVICE)
    certificate, key = installation.authority.issue_for_service(SERVICE)
    files = {"certificate": str(tmp_path / "client.pem"), "key": str(tmp_path / "client.key")}
    Path(files["certificate"]).write_bytes(certificate)
    Path(files["key"]).write_bytes(key)
    installation.enrol(invitation, ["--cert", files["certificate"], "--key", files["key"]])
    with connect(installation, **files) as service:
        assert service["census"].budget().accounts[0].name == "dataset/census"


def test_a_quota_is_waited_for_or_says_when_to_ask_again(installation: Installation) -> None:
    installation.make_principal("hasty")
    installation.curator("owner", "dataset", "grant", "census", "hasty")
    patient = installation.client("hasty")
    question = patient["census"].marginals("sex")
    spent = question.dataset.budget().spent
    hasty = installation.client("hasty", retry=cu.RetryPolicy(window=0.2))
    with pytest.raises(cu.QuotaExceeded, match="ask again in .* nothing was charged") as caught:
        for _ in range(5):
            hasty["census"]
    assert timedelta(0) < caught.value.retry_after <= timedelta(seconds=1)
    assert question.answer(rho="0.0005").costs[0].amount == Decimal("0.0005"), "after a second or so"
    assert question.dataset.budget().spent == spent + Decimal("0.0005")


def test_a_server_whose_certificate_nobody_trusts_is_sent_nothing_and_the_error_names_the_cause(installation: Installation) -> None:
    with pytest.raises(cu.Unavailable, match="(?i)certificate"):
        cu.connect(installation.address, api_token="secret", retry=cu.RetryPolicy(window=1)).version()


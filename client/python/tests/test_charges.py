"""Charges for mechanisms of one's own: the mechanism runs once for each, and only after it is paid for."""

from __future__ import annotations

import pickle
import uuid
from decimal import Decimal
from typing import Any

import grpc
import pytest

import curator_dp as cu
from conftest import grpc_error
from curator_dp._errors import exception_of


def test_a_mechanism_is_charged_before_it_runs(census: cu.Dataset) -> None:
    with census.charge(cu.zcdp("0.02")) as charge:
        assert charge.state == "STARTED"
        assert census.budget().spent == Decimal("0.02")
    assert charge.state == "COMMITTED" and charge.receipt is not None


def test_a_mechanism_that_fails_stays_charged(census: cu.Dataset) -> None:
    with pytest.raises(ZeroDivisionError):
        with census.charge(cu.zcdp("0.02")):
            raise ZeroDivisionError
    assert census.budget().spent == Decimal("0.02")


def test_a_reservation_that_is_not_started_can_be_cancelled(census: cu.Dataset) -> None:
    charge = census.charge(cu.zcdp("0.02")).reserve()
    assert census.budget().left < Decimal("0.04")
    charge.cancel()
    assert census.budget().spent == 0 and census.budget().accounts[0].counters[0].held == 0


def test_a_charge_runs_its_mechanism_once(census: cu.Dataset) -> None:
    request_id = str(uuid.uuid4())
    runs = 0
    with pytest.raises(ZeroDivisionError):
        with census.charge(cu.zcdp("0.02"), request_id=request_id):
            runs += 1
            raise ZeroDivisionError
    with pytest.raises(cu.CuratorError, match="is STARTED: its mechanism may have run"):
        with census.charge(cu.zcdp("0.02"), request_id=request_id):
            runs += 1
    with census.charge(cu.zcdp("0.01"), request_id=uuid.uuid4()) as charge:
        runs += 1
    with pytest.raises(cu.CuratorError, match="is COMMITTED"):
        with charge:
            runs += 1
    assert runs == 2
    assert census.budget().spent == Decimal("0.03")


@pytest.mark.parametrize("step, says", [("_start_charge", r"start\(\) of this charge"), ("_commit_charge", r"commit\(\) of this charge")])
def test_a_lost_connection_in_a_charge_is_no_reason_to_run_it_again(
    census: cu.Dataset, client: cu.Client, monkeypatch: pytest.MonkeyPatch, step: str, says: str
) -> None:
    def lost(charge_id: str, request_id: str) -> Any:
        raise exception_of(grpc_error(grpc.StatusCode.UNAVAILABLE, ""), request_id)

    monkeypatch.setattr(client, step, lost)
    with pytest.raises(cu.OutcomeUnknown, match=says) as caught:
        with census.charge(cu.zcdp("0.02")):
            pass
    assert "run the same call" not in str(caught.value)


def test_ctrl_c_in_the_start_gives_the_reservation_back(
    census: cu.Dataset, client: cu.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(charge_id: str, request_id: str) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "_start_charge", interrupted)
    with pytest.raises(KeyboardInterrupt) as caught:
        with census.charge(cu.zcdp("0.02")):
            pytest.fail("the block ran")
    assert "was cancelled" in caught.value.__notes__[0]
    assert census.budget().accounts[0].counters[0].held == 0


def test_events_are_values() -> None:
    assert cu.gaussian(sigma2=600, l2=6) == cu.gaussian(sigma2="600", l2=6.0) == cu.gaussian(sigma2=Decimal(600), l2=6)
    assert hash(cu.pure(1)) == hash(cu.pure("1.0"))
    assert pickle.loads(pickle.dumps(cu.pure(1) * 3)) == cu.composed([cu.pure(1)], 3) == 3 * cu.pure(1)


@pytest.mark.parametrize("lifetime", [0, 0.5, -1, float("nan"), float("inf")])
def test_a_lifetime_is_at_least_a_second(shared_census: cu.Dataset, lifetime: float) -> None:
    with pytest.raises(cu.InvalidQuestion, match="at least one second"):
        shared_census.charge(cu.zcdp("0.02"), lifetime=lifetime)

"""What costs once, what costs again, and what errors say."""

from __future__ import annotations

import pickle
import re
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import grpc
import pytest

import curator_dp as cu
from conftest import UUID, FakeError, grpc_error
from curator_dp._connection import Connection, Options
from curator_dp._errors import exception_of
from curator_dp._request_ids import Study
from curator_dp._wire.curator.rpc import status_pb2
from curator_dp._wire.curator.v1 import operation_pb2
from testing.server import Server


def test_the_same_question_costs_once_also_after_a_restart_of_the_program(server: Server) -> None:
    answers = []
    for _ in range(3):
        with server.client() as client:
            answers.append(client["census"].marginals(1).answer(rho=0.01))
    assert [answer.replayed for answer in answers] == [False, True, True]
    assert len({answer.request_id for answer in answers}) == 1
    assert answers[0].to_frame().equals(answers[2].to_frame())
    assert server.client()["census"].budget().spent == Decimal("0.01")


def test_every_part_of_a_request_makes_another_id(census: cu.Dataset, tmp_path: Path) -> None:
    question = census.marginals(["age"])
    answers = [
        question.answer(rho=0.001),
        question.answer(rho=0.002),
        question.measured(mechanism="gaussian").answer(rho=0.001),
        census.marginals(["sex"]).answer(rho=0.001),
        (question + census.marginals(["sex"])).answer(rho=0.001),
        question.where("age in [18,37]").answer(rho=0.001),
        question.where("age in [18,27]").answer(rho=0.001),
        question.answer(max_error=500),
        question.answer(max_error=500, confidence=0.5),
    ]
    assert len({answer.request_id for answer in answers}) == len(answers)
    assert not any(answer.replayed for answer in answers)


def test_amounts_that_are_equal_are_one_amount(census: cu.Dataset) -> None:
    question = census.marginals(1)
    answers = [question.answer(rho=rho) for rho in (0.01, "0.010", Decimal("1e-2"))]
    assert len({answer.request_id for answer in answers}) == 1


def test_intervals_of_another_level_are_of_the_same_request(census: cu.Dataset) -> None:
    question = census.marginals(1)
    one, other = question.answer(rho=0.01), question.answer(rho=0.01, confidence=0.5)
    assert other.replayed and other.request_id == one.request_id
    question.answer(rho=0.01, prefer_free=True)
    assert census.budget().spent == Decimal("0.01")
    assert question.answer(max_error=500, confidence=0.95).request_id == question.answer(max_error=500).request_id, "which is the default"
    assert other["age"].confidence == 0.5


def test_another_study_pays_again_and_so_does_a_fresh_request(server: Server) -> None:
    ask = lambda study, **options: server.client(study=study)["census"].marginals(1).answer(rho=0.01, **options)  # noqa: E731
    ids = {ask("one").request_id, ask("two").request_id, ask("one", fresh=True).request_id}
    assert len(ids) == 3
    assert server.client()["census"].budget().spent == Decimal("0.03")


def test_a_request_of_another_day_is_repeated_by_its_id(server: Server) -> None:
    first = server.client()["census"].marginals(1).answer(rho=0.01, fresh=True)
    again = server.client(study="other")["census"].marginals(1).answer(rho=0.01, request_id=first.request_id)
    assert again.replayed and again.to_frame().equals(first.to_frame())


def test_an_id_of_another_question_is_never_answered(census: cu.Dataset) -> None:
    first = census.marginals(1).answer(rho=0.01)
    with pytest.raises(cu.RequestIdReused) as caught:
        census.marginals(2).answer(rho=0.01, request_id=first.request_id)
    assert caught.value.request_id == first.request_id
    assert "fresh=True" in str(caught.value)
    assert census.budget().spent == Decimal("0.01")


def test_a_study_is_made_once_also_by_several_programs_at_once(tmp_path: Path) -> None:
    seeds: list[bytes] = []
    threads = [threading.Thread(target=lambda: seeds.append(Study(tmp_path / "study").seed)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seeds)) == 1 and len(seeds[0]) == 32


def test_a_folder_that_cannot_be_written_is_warned_of(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="will cost again"):
        Study(tmp_path / "missing" / "study")


def test_a_study_is_kept_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("os.link", refuse)
    assert Study(tmp_path / "study").seed == Study(tmp_path / "study").seed


def test_a_study_lies_in_the_folder_in_which_the_client_was_made(
    shared_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "first")
    client = cu.connect(shared_server.address, principal="ana")
    monkeypatch.chdir(tmp_path / "second")
    client["census"].marginals("age").answer(rho="0.0001")
    assert (tmp_path / "first" / ".curator-study").exists()
    assert not list((tmp_path / "second").iterdir())


def test_a_damaged_study_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "study").write_text("abc\n")
    with pytest.raises(cu.CuratorError, match="move it away"):
        Study(tmp_path / "study")


def test_a_full_budget_names_its_accounts_and_what_can_be_done(census: cu.Dataset) -> None:
    with pytest.raises(cu.BudgetFull) as caught:
        census.marginals(1).answer(rho=5)
    (account,) = caught.value.accounts
    assert (account.account, account.counter, account.asked) == ("dataset/census", "rho", Decimal(5))
    assert account.remaining == census.budget().left
    assert "the owner of the dataset can raise a limit" in str(caught.value)


def test_what_is_wrong_is_named(census: cu.Dataset, client: cu.Client) -> None:
    with pytest.raises(cu.InvalidQuestion, match="did you mean") as caught:
        census.marginals(["agee"]).quote(rho=0.1)
    assert caught.value.field.endswith("names[0]")
    with pytest.raises(cu.NotFound, match="nope"):
        client["nope"]
    with pytest.raises(cu.InvalidQuestion, match="give an amount"):
        census.marginals(1).answer()
    with pytest.raises(cu.InvalidQuestion, match="finite"):
        census.marginals(1).quote(rho=float("nan"))
    with pytest.raises(cu.CuratorError, match="is no UUID"):
        census.marginals(1).answer(rho=0.01, request_id="mine")


def test_a_server_that_is_not_there_was_sent_nothing(tmp_path: Path) -> None:
    client = cu.connect("127.0.0.1:1", principal="ana", retry=cu.RetryPolicy(window=0.2))
    with pytest.raises(cu.Unavailable, match="nothing was sent"):
        client.version()


def test_tokens_are_sent_where_nobody_can_read_them() -> None:
    with pytest.raises(cu.CuratorError, match="over TLS"):
        cu.connect("127.0.0.1:1", api_token="secret")


def test_a_server_that_was_killed_answers_the_same_request_with_the_same_numbers(server: Server) -> None:
    client = server.client()
    census = client["census"]
    request_id = str(uuid.uuid4())
    first = census.marginals(2).answer(rho=0.01, request_id=request_id)
    server.kill()
    restart = threading.Thread(target=server.start)
    restart.start()
    again = census.marginals(2).answer(rho=0.01, request_id=request_id)
    restart.join()
    assert again.replayed and again.to_frame().equals(first.to_frame())
    assert census.budget().spent == Decimal("0.01")


def test_an_outcome_that_is_unknown_keeps_its_id(server: Server) -> None:
    client = server.client(retry=cu.RetryPolicy(window=0.3))
    census = client["census"]
    assert UUID.fullmatch(census.marginals(1).answer(rho=0.001).request_id)
    server.kill()
    with pytest.raises(cu.OutcomeUnknown) as caught:
        census.marginals(2).answer(rho=0.01)
    server.start()
    answer = census.marginals(2).answer(rho=0.01)
    assert answer.request_id == caught.value.request_id
    assert not answer.replayed


def test_a_server_that_is_killed_in_mid_answer_charges_once_and_gives_one_answer(server: Server) -> None:
    client = server.client()
    census = client["census"]
    question = census.marginals(4) + census.ranges("age", "zone") + census.prefixes("income", by="sex")
    spent = Decimal(0)
    for delay in (0.0, 0.005, 0.01, 0.02, 0.04):
        request_id = str(uuid.uuid4())
        ask = lambda: question.answer(rho="0.001", request_id=request_id)  # noqa: B023, E731
        answers: list[cu.Answer] = []
        asking = threading.Thread(target=lambda: answers.append(ask()))
        asking.start()
        threading.Event().wait(delay)  # the moment is not to be known
        server.kill()
        server.start()
        asking.join()
        answers.append(ask())
        assert answers[0].to_frame().equals(answers[1].to_frame())
        spent += Decimal("0.001")
        assert census.budget().spent == spent


def test_an_interrupted_wait_leaves_the_synthesis_running(
    census: cu.Dataset, client: cu.Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = census.synthesize("mwem", rho=0.01, rounds=3)

    def interrupted(operation_id: str, see: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(client, "_watch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        begun.wait(progress=False)
    monkeypatch.undo()
    assert f'client.operation("{begun.id}").wait()' in capsys.readouterr().err
    assert client.operation(begun.id).wait(progress=False).state == "DONE"
    assert census.budget().spent <= Decimal("0.01")


def test_a_synthesis_goes_on_after_its_server_was_killed_and_costs_once(server: Server) -> None:
    client = server.client()
    census = client["census"]
    spent = [census.budget().spent]
    for _ in range(3):
        begun = census.synthesize("mwem", rho="0.002", rounds=5, fresh=True)
        server.kill()
        restart = threading.Thread(target=server.start)
        restart.start()
        assert begun.wait(progress=False).state == "DONE"
        restart.join()
        assert len(begun.sample(20)) == 20
        spent.append(census.budget().spent)
    costs = {after - before for before, after in zip(spent[:-1], spent[1:])}
    assert len(costs) == 1 and Decimal("0.0019") < costs.pop() <= Decimal("0.002"), "each costs what one costs that nobody kills"


def test_a_quota_says_when_to_ask_again() -> None:
    error = grpc_error(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA", retry_seconds=7)
    raised = exception_of(error, "")
    assert isinstance(raised, cu.QuotaExceeded)
    assert raised.retry_after.total_seconds() == 7
    assert "ask again in 7 s" in str(raised)


def test_unknown_outcomes_are_told_from_refusals() -> None:
    lost = grpc_error(grpc.StatusCode.UNAVAILABLE, "")
    assert isinstance(exception_of(lost, "an id"), cu.OutcomeUnknown)
    assert isinstance(exception_of(lost, ""), cu.Unavailable)
    for code in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.DATA_LOSS):
        assert isinstance(exception_of(grpc_error(code, ""), "an id"), cu.OutcomeUnknown)
    assert isinstance(exception_of(grpc_error(grpc.StatusCode.DATA_LOSS, "LEDGER_CONTRADICTS_ITSELF"), "an id"), cu.LedgerContradiction)
    busy = grpc_error(grpc.StatusCode.UNAVAILABLE, "OVERLOADED")
    assert isinstance(exception_of(busy, "an id"), cu.Unavailable)
    damaged = FakeError(grpc.StatusCode.UNAVAILABLE, b"\xff not a status")
    assert isinstance(exception_of(damaged, ""), cu.Unavailable)


@pytest.mark.parametrize(
    "later, is_settled",
    [
        (grpc_error(grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA", retry_seconds=60), False),
        (grpc_error(grpc.StatusCode.UNAVAILABLE, "OVERLOADED", retry_seconds=60), False),
        (grpc_error(grpc.StatusCode.UNAUTHENTICATED, ""), False),
        (grpc_error(grpc.StatusCode.INVALID_ARGUMENT, ""), True),
        (grpc_error(grpc.StatusCode.ALREADY_EXISTS, ""), True),
    ],
    ids=["quota", "overloaded", "no token", "invalid", "id reused"],
)
def test_a_refusal_after_a_lost_connection_says_nothing_of_the_lost_attempt(
    monkeypatch: pytest.MonkeyPatch, later: grpc.RpcError, is_settled: bool
) -> None:
    connection = Connection(Options(server="127.0.0.1:1", retry=cu.RetryPolicy(first_delay=0.001)))
    monkeypatch.setattr(connection, "_connect_before", lambda deadline: True)
    errors = iter([grpc_error(grpc.StatusCode.UNAVAILABLE, ""), later])

    def attempt(metadata: Any) -> None:
        raise next(errors)

    with pytest.raises(cu.CuratorError) as caught:
        connection.run(attempt, "an id")
    assert isinstance(caught.value, cu.OutcomeUnknown) != is_settled
    connection.close()


def test_all_attempts_of_a_request_are_of_one_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    connection = Connection(Options(server="127.0.0.1:1", retry=cu.RetryPolicy(first_delay=0.001)))
    monkeypatch.setattr(connection, "_connect_before", lambda deadline: True)
    headers: list[str] = []

    def attempt(metadata: Any) -> None:
        headers.extend(value for key, value in metadata if key == "traceparent")
        if len(headers) == 1:
            raise grpc_error(grpc.StatusCode.UNAVAILABLE, "")

    connection.run(attempt)
    connection.run(attempt)
    connection.close()
    assert all(re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", header) for header in headers)
    first, again, other = (header.split("-") for header in headers)
    assert first[1] == again[1] != other[1]
    assert first[2] != again[2]


def test_a_wait_survives_any_number_of_lost_connections_that_brought_something(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client = server.client(retry=cu.RetryPolicy(first_delay=0.01, window=0.05))
    begun = client["census"].synthesize("mwem", rho="0.002", rounds=2).wait(progress=False)
    done = client._operation(begun.id)
    running = operation_pb2.Operation()
    running.CopyFrom(done)
    running.state = operation_pb2.Operation.RUNNING
    watches = 0

    class Watch:
        def cancel(self) -> None:
            pass

        def __iter__(self) -> Iterator[operation_pb2.Operation]:
            nonlocal watches
            watches += 1
            yield running if watches < 10 else done
            if watches < 10:
                raise grpc_error(grpc.StatusCode.UNAVAILABLE, "")

    monkeypatch.setattr(client._operations, "WatchOperation", lambda request, metadata: Watch())
    begun.state = "RUNNING"
    assert begun.wait(progress=False).state == "DONE"
    assert watches == 10


def test_ctrl_c_in_a_question_names_its_request(
    shared_census: cu.Dataset, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(request: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shared_census._client, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        shared_census.marginals("age").answer(rho="0.01", fresh=True)
    assert UUID.search(capsys.readouterr().err)


def test_a_closed_client_says_so(shared_server: Server) -> None:
    client = shared_server.client()
    client.close()
    with pytest.raises(cu.CuratorError, match="the client is closed"):
        client.version()


def test_exceptions_pass_from_process_to_process() -> None:
    full = cu.FullAccount("dataset/census", "ZCDP", "rho", Decimal(1), Decimal(0))
    for error in (
        cu.BudgetFull("full", (full,)),
        cu.OutcomeUnknown("lost", "an id"),
        cu.QuotaExceeded("too much", timedelta(seconds=3)),
        cu.NotAuthenticated("who are you?", "TOKEN_EXPIRED"),
        cu.RequestIdReused("reused", "an id"),
        cu.InvalidQuestion("wrong", "workload"),
    ):
        copied = pickle.loads(pickle.dumps(error))
        assert type(copied) is type(error) and str(copied) == str(error) and vars(copied) == vars(error)


def test_a_detail_that_cannot_be_read_is_ignored() -> None:
    status = status_pb2.Status()
    status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo", value=b"\xff\xff")
    damaged = FakeError(grpc.StatusCode.NOT_FOUND, status.SerializeToString())
    assert isinstance(exception_of(damaged), cu.NotFound)


def test_a_new_part_is_another_question_and_parts_pay_for_themselves(server: Server) -> None:
    schema, table = server.folder / "schema.json", server.folder / "parts.csv"
    make = ("--schema", str(schema), "--rule", "pure", "--epsilon", "1", "--partition-by", "zone")
    server.curator("owner", "dataset", "create", "parts", *make)
    server.curator("owner", "dataset", "grant", "parts", "ana")

    def seal(part: str) -> None:
        table.write_text("age,sex,zone,income\n" + "".join(f"20,Male,{part},{i}\n" for i in range(50)))
        server.curator("owner", "dataset", "import", "parts", str(table), "--part", part)
        server.curator("owner", "dataset", "seal", "parts", "--part", part)

    seal("0")
    client = server.client()
    first = client["parts"].marginals("sex").answer(epsilon="0.1")
    assert client["parts"].marginals("sex").answer(epsilon="0.1").replayed
    kept = client["parts"]
    seal("1")
    assert client["parts"].version == 2
    second = kept.marginals("sex").answer(epsilon="0.1")
    assert client["parts"].marginals("sex").answer(epsilon="0.1").request_id == second.request_id, "however old the dataset's object is"
    assert not second.replayed and second.request_id != first.request_id
    client["parts"].marginals("sex").of_parts("1").answer(epsilon="0.2")
    spent = {account.name: account.spent for account in client["parts"].budget().accounts}
    assert spent["dataset/parts/part/0"] == Decimal("0.2")
    assert spent["dataset/parts/part/1"] == Decimal("0.3")

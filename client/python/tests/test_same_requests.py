"""The command line and this client send the same request for the same question."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import curator_dp as cu
from curator_dp._wire.curator.v1 import query_pb2
from testing.server import BUILD, Server

ESTIMATE = "/curator.v1.QueryService/EstimateWorkload"


class Recorder(grpc.GenericRpcHandler):
    """Passes unary calls on to a server, and keeps the requests."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self.requests: list[tuple[str, bytes]] = []
        self._server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[self])
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def service(self, handler_call_details: Any) -> Any:
        method = handler_call_details.method
        metadata = [(key, value) for key, value in handler_call_details.invocation_metadata if key == "curator-principal"]

        def call(request: bytes, context: grpc.ServicerContext) -> bytes:
            self.requests.append((method, request))
            try:
                response: bytes = self._channel.unary_unary(method)(request, metadata=metadata)
            except grpc.RpcError as error:
                context.set_trailing_metadata(error.trailing_metadata())
                context.abort(error.code(), error.details())
            return response

        return grpc.unary_unary_rpc_method_handler(call)

    def estimates(self) -> list[query_pb2.EstimateWorkloadRequest]:
        return [query_pb2.EstimateWorkloadRequest.FromString(request) for method, request in self.requests if method == ESTIMATE]

    def stop(self) -> None:
        self._server.stop(None).wait()
        self._channel.close()


@pytest.fixture
def recorder(development_server: Server) -> Iterator[Recorder]:
    recording = Recorder(development_server.address)
    yield recording
    recording.stop()


AGES = ["18", "28", "38", "48"]
SEXES = ["Female", "Male", "unknown"]


def intervals() -> st.SearchStrategy[cu.Condition]:
    ends = st.tuples(st.integers(0, 3), st.integers(0, 3)).map(sorted)
    return ends.map(lambda bins: cu.col("age").between(AGES[bins[0]], int(AGES[bins[1]]) + 9))


CONDITIONS = st.one_of(
    intervals(),
    st.lists(st.sampled_from(SEXES), min_size=1, unique=True).map(lambda values: cu.col("sex").isin(values)),
    st.sampled_from([0, 1, 2]).map(lambda zone: cu.col("zone") == zone),
    st.sampled_from([1000, 2500.5]).map(lambda income: cu.col("income") < income),
    st.sampled_from([1000, 2500.5]).map(lambda income: cu.col("income") >= income),
    st.sampled_from([28, 38]).map(lambda age: cu.col("age") < age),
    st.sampled_from([27, 37]).map(lambda age: cu.col("age") > age),
    st.sampled_from(SEXES).map(lambda sex: cu.col("sex") != sex),
)
TREES: st.SearchStrategy[cu.Conditions] = st.recursive(
    CONDITIONS.map(lambda condition: cu.Conditions((condition,))),
    lambda trees: st.one_of(
        st.builds(lambda one, other: one & other, trees, trees),
        st.builds(lambda one, other: one | other, trees, trees),
        trees.map(lambda one: ~one),
    ),
    max_leaves=4,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(built=st.lists(TREES, min_size=1, max_size=3), max_error=st.booleans())
def test_conditions_are_sent_alike(recorder: Recorder, built: list[cu.Conditions], max_error: bool) -> None:
    client = cu.connect(recorder.address, principal="ana")
    price: dict[str, Any] = {"max_error": 400.0} if max_error else {"rho": "0.01"}
    recorder.requests.clear()
    try:
        client["census"].count(*built).quote(**price)
    except cu.CuratorError:
        pass  # conditions that contradict each other: the request was sent all the same
    arguments = [part for each in built for part in ("--where", str(each))]
    arguments += ["--max-error", "400"] if max_error else ["--rho", "0.01"]
    run_curator(recorder, "workload", "estimate", "census", *arguments)
    python, command_line = recorder.estimates()
    assert python == command_line


def test_targets_and_objectives_are_sent_alike(recorder: Recorder) -> None:
    question = cu.connect(recorder.address, principal="ana")["census"].marginals(1)
    question.quote(rmse="5%", assume_rows=2000)
    run_curator(recorder, "workload", "estimate", "census", "--marginals", "1", "--rmse", "5%", "--assume-rows", "2000")
    question.quote(rho="0.01", objective="worst")
    run_curator(recorder, "workload", "estimate", "census", "--marginals", "1", "--rho", "0.01", "--objective", "worst")
    targets = recorder.estimates()
    assert targets[0] == targets[1] and targets[0].target.rmse == 100
    assert targets[2] == targets[3] and targets[2].objective == 2


def run_curator(recorder: Recorder, *arguments: str) -> None:
    command = [str(BUILD / "client" / "curator"), "--server", recorder.address, "--as", "ana", *arguments]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize(
    "make, arguments",
    [
        (lambda d: d.marginals(2), ["--marginals", "2"]),
        (lambda d: d.marginals(1, over=["age", "sex"]), ["--marginals", "1", "--attributes", "age,sex"]),
        (lambda d: d.prefixes("income"), ["--prefixes", "income"]),
        (lambda d: d.ranges("age"), ["--ranges", "age"]),
        (lambda d: d.ranges("age", "zone"), ["--ranges", "age,zone"]),
        (lambda d: d.count("zone in {1,2}", by=["sex", "age"]), ["--where", "zone in {1,2}", "--by", "sex,age"]),
        (
            lambda d: d.thresholds("at least 1,2 of (age >= 38, zone = 1)", by="sex"),
            ["--thresholds", "at least 1,2 of (age >= 38, zone = 1)", "--by", "sex"],
        ),
        (
            lambda d: (d.marginals(1) + d.ranges("age")).measured(strategy="tree", mechanism="gaussian"),
            ["--marginals", "1", "--ranges", "age", "--strategy", "tree", "--mechanism", "gaussian"],
        ),
        (
            lambda d: (d.marginals(1) + d.ranges("age").measured(weight=20) + d.ranges("zone").measured(weight=20)).measured(
                strategy="direct"
            ),
            ["--marginals", "1", "--ranges", "age", "--ranges", "zone", "--weight", "ranges=20", "--strategy", "direct"],
        ),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_questions_are_sent_alike(recorder: Recorder, make: Any, arguments: list[str]) -> None:
    client = cu.connect(recorder.address, principal="ana")
    make(client["census"]).quote(rho="0.01", confidence=0.9)
    run_curator(recorder, "workload", "estimate", "census", *arguments, "--rho", "0.01", "--confidence", "0.9")
    python, command_line = recorder.estimates()
    assert python == command_line

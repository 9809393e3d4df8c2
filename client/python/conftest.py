"""A real server for each test that wants one, on the embedded ledger, and the small table that the tests ask about."""

from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

import grpc
import pytest
from _pytest.doctest import DoctestItem
from google.protobuf.duration_pb2 import Duration

import curator_dp as cu
from curator_dp._wire.curator.rpc import error_details_pb2, status_pb2

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CURATOR_BUILD", ROOT / "build" / "dev"))

SCHEMA = """{"attributes": [
  {"name": "age", "integer": {"min": 18, "max": 57, "binWidth": 10}},
  {"name": "sex", "categorical": {"values": ["Female", "Male"], "catchAll": "unknown"}},
  {"name": "zone", "coded": {"size": 3}},
  {"name": "income", "numeric": {"edges": [0, 1000, 2500.5, 9000]}}]}"""


def csv_of(rows: int, seed: int = 1) -> str:
    numbers = random.Random(seed)
    lines = ["age,sex,zone,income"]
    for _ in range(rows):
        sex = numbers.choice(["Female", "Male", ""])
        lines.append(f"{numbers.randint(18, 57)},{sex},{numbers.randint(0, 2)},{numbers.uniform(0, 9000):.2f}")
    return "\n".join(lines) + "\n"


class Server:
    """curatord in a folder of its own, in development mode. It can be killed and started again at the same address."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        self._process: Optional[subprocess.Popen[bytes]] = None
        self.start()

    def start(self) -> None:
        log = open(self.folder / "server.log", "ab")
        self._process = subprocess.Popen(
            [
                str(BUILD / "server" / "curatord"),
                f"--listen={self.address}",
                f"--ledger=sqlite:{self.folder}/ledger.db",
                f"--data-dir={self.folder}/data",
                "--dev",
            ],
            stdout=log,
            stderr=log,
        )
        log.close()
        deadline = time.monotonic() + 30
        while not self._answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError((self.folder / "server.log").read_text())

    def _answers(self) -> bool:
        with cu.connect(self.address, principal="probe") as client:
            try:
                return bool(client.version())
            except cu.Unavailable:
                return False

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        self._process.wait()

    def curator(self, principal: str, *arguments: str) -> str:
        """What the command line prints."""
        command = [str(BUILD / "client" / "curator"), "--server", self.address, "--as", principal, *arguments]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def make_dataset(self, name: str = "census", *limit: str, rows: int = 500) -> None:
        """Sealed, with the analyst and service ana."""
        schema, table = self.folder / "schema.json", self.folder / f"{name}.csv"
        schema.write_text(SCHEMA)
        table.write_text(csv_of(rows))
        self.curator("owner", "dataset", "create", name, "--schema", str(schema), *limit)
        self.curator("owner", "dataset", "import", name, str(table))
        self.curator("owner", "dataset", "seal", name, "--accept-equal-content")
        self.curator("owner", "dataset", "grant", name, "ana", "--role", "analyst", "--role", "service")

    def client(self, principal: str = "ana", study: str = "study") -> cu.Client:
        return cu.connect(self.address, principal=principal, study=self.folder / study)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path)
    started.make_dataset("census", "--rule", "zcdp", "--epsilon", "2", "--delta", "1e-9")
    yield started
    started.stop()


@pytest.fixture
def client(server: Server) -> Iterator[cu.Client]:
    with server.client() as connected:
        yield connected


@pytest.fixture
def census(client: cu.Client) -> cu.Dataset:
    return client["census"]


@pytest.fixture(scope="session")
def doctest_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    started = Server(tmp_path_factory.mktemp("doctest"))
    started.make_dataset("census", "--rule", "zcdp", "--epsilon", "2", "--delta", "1e-9")
    yield started
    started.stop()


@pytest.fixture(autouse=True)
def names_of_doctests(request: pytest.FixtureRequest) -> None:
    """Examples of docstrings have `cu`, and `client` and `census` of a server of their own."""
    if not isinstance(request.node, DoctestItem):
        return
    names = request.getfixturevalue("doctest_namespace")
    names["cu"] = cu
    names["client"] = request.getfixturevalue("doctest_server").client()
    names["census"] = names["client"]["census"]


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class FakeError(grpc.RpcError):
    """An error as a call raises it, for codes that a server seldom sends."""

    def __init__(self, code: grpc.StatusCode, trailer: bytes) -> None:
        self._code, self._trailer = code, trailer

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return "no"

    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        return (("grpc-status-details-bin", self._trailer),)


def grpc_error(code: grpc.StatusCode, reason: str, retry_seconds: int = 0) -> grpc.RpcError:
    status = status_pb2.Status()
    for name, detail in (
        ("ErrorInfo", error_details_pb2.ErrorInfo(reason=reason)),
        ("RetryInfo", error_details_pb2.RetryInfo(retry_delay=Duration(seconds=retry_seconds))),
    ):
        any_of = status.details.add()
        any_of.type_url = f"type.googleapis.com/google.rpc.{name}"
        any_of.value = detail.SerializeToString()
    return FakeError(code, status.SerializeToString())

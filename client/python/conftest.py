"""The servers that tests ask, and errors as a call raises them.

--installation names what the tests run against: a server in development mode on SQLite, or a whole installation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from _pytest.doctest import DoctestItem
from google.protobuf.duration_pb2 import Duration

import curator_dp as cu
from curator_dp._wire.curator.rpc import error_details_pb2, status_pb2
from testing.installation import Installation
from testing.server import Server

PROMISE = ("--rule", "zcdp", "--epsilon", "2", "--delta", "1e-9")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--installation",
        choices=["development", "edge-postgres"],
        default="development",
        help="edge-postgres: PostgreSQL, an identity provider, and haproxy before the server",
    )


@pytest.fixture
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """With the dataset census."""
    is_whole = request.config.getoption("--installation") == "edge-postgres"
    with Installation(tmp_path, with_postgres=True) if is_whole else Server(tmp_path) as started:
        started.make_dataset("census", *PROMISE)
        yield started


@pytest.fixture
def development_server(tmp_path: Path) -> Iterator[Server]:
    """The same, for tests of what only a development server has."""
    with Server(tmp_path) as started:
        started.make_dataset("census", *PROMISE)
        yield started


@pytest.fixture
def client(server: Server) -> Iterator[cu.Client]:
    with server.client() as connected:
        yield connected


@pytest.fixture
def census(client: cu.Client) -> cu.Dataset:
    return client["census"]


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """For examples, and for tests that charge nothing."""
    with Server(tmp_path_factory.mktemp("shared")) as started:
        started.make_dataset("census", *PROMISE)
        yield started


@pytest.fixture
def shared_census(shared_server: Server) -> Iterator[cu.Dataset]:
    with shared_server.client() as connected:
        yield connected["census"]


_PEOPLE = """{"attributes": [
  {"name": "region", "categorical": {"values": ["north", "south", "moon"]}},
  {"name": "age", "integer": {"min": 18, "max": 57}}],
 "measures": [{"name": "income", "low": 0, "high": 100, "resolution": 1}]}"""


@pytest.fixture(scope="module")
def people(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[cu.Dataset]:
    """With the measure income, and the ROWS of the test's module: region, age and income."""
    folder: Path = tmp_path_factory.mktemp("people")
    with Server(folder) as server:
        (folder / "people.json").write_text(_PEOPLE)
        rows = "".join(f"{region},{age},{income}\n" for region, age, income in request.module.ROWS)
        (folder / "people.csv").write_text("region,age,income\n" + rows)
        create = ("dataset", "create", "people", "--schema", str(folder / "people.json"))
        server.curator("owner", *create, "--rule", "zcdp", "--epsilon", "2000", "--delta", "1e-9")
        server.curator("owner", "dataset", "import", "people", str(folder / "people.csv"))
        server.curator("owner", "dataset", "seal", "people")
        server.curator("owner", "dataset", "grant", "people", "ana")
        with server.client() as client:
            yield client["people"]


@pytest.fixture(autouse=True)
def names_of_doctests(request: pytest.FixtureRequest) -> None:
    """Examples of docstrings have `cu`, an empty `folder`, and `client` and `census` of a server."""
    if not isinstance(request.node, DoctestItem):
        return
    names = request.getfixturevalue("doctest_namespace")
    names["cu"] = cu
    names["folder"] = request.getfixturevalue("tmp_path")
    names["client"] = request.getfixturevalue("shared_server").client()
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

"""What an owner does with a dataset of theirs, and what datasets say about their records for ever."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator

import pandas as pd
import pytest

import curator_dp as cu
from curator_dp import _facts
from testing.server import SCHEMA, Server, csv_of

NOBODYS = "0192f2c1-7d5b-7c3e-9a41-5b0d6e8f1a2b"
LIMIT = ("--rule", "zcdp", "--epsilon", "2", "--delta", "1e-9")


@pytest.fixture
def owner(development_server: Server) -> Iterator[cu.Client]:
    with development_server.client("owner") as connected:
        yield connected


def make_open(server: Server, name: str) -> list[str]:
    """A dataset with two imports, which is not sealed; the ids of the imports."""
    schema = server.folder / "open.json"
    schema.write_text(SCHEMA)
    server.curator("owner", "dataset", "create", name, "--schema", str(schema), *LIMIT)
    imports = []
    for rows in (30, 20):
        table, import_id = server.folder / f"{name}-{rows}.csv", str(uuid.uuid4())
        table.write_text(csv_of(rows, seed=rows))
        server.curator("owner", "dataset", "import", name, str(table), "--request-id", import_id)
        imports.append(import_id)
    return imports


def test_an_import_is_listed_until_it_is_undone(development_server: Server, owner: cu.Client) -> None:
    first, second = make_open(development_server, "pilot")
    pilot = owner["pilot"]
    listed = pilot.imports()
    assert list(listed.columns) == ["import", "part", "time", "rows", "source"]
    assert list(listed["import"]) == [first, second]
    assert list(listed["rows"]) == [30, 20] and set(listed["source"]) == {"file"}
    assert abs(listed["time"][0] - pd.Timestamp.now(tz="UTC")) < pd.Timedelta(hours=1)
    pilot.undo_import(first)
    pilot.undo_import(first)  # nothing more
    assert list(pilot.imports()["import"]) == [second]
    development_server.curator("owner", "dataset", "seal", "pilot")
    with pytest.raises(cu.CuratorError, match="sealed"):
        pilot.undo_import(second)


def test_an_import_that_is_not_there_is_named(development_server: Server, owner: cu.Client) -> None:
    make_open(development_server, "pilot")
    with pytest.raises(cu.NotFound, match=NOBODYS):
        owner["pilot"].undo_import(NOBODYS)
    with pytest.raises(cu.InvalidQuestion, match="UUID"):
        owner["pilot"].undo_import("the first one")


def test_a_dataset_that_was_never_charged_is_deleted_and_its_name_is_free(development_server: Server, owner: cu.Client) -> None:
    make_open(development_server, "pilot")
    pilot = owner["pilot"]
    request_id = uuid.uuid4()
    assert pilot.delete(request_id=request_id) == pilot.id
    with pytest.raises(cu.NotFound):
        owner["pilot"]
    make_open(development_server, "pilot")
    assert owner["pilot"].id != pilot.id
    # A repetition deletes no other dataset.
    assert owner["pilot"].delete(request_id=request_id) == pilot.id
    assert len(owner["pilot"].imports()) == 2


def test_a_dataset_that_was_charged_is_not_deleted(development_server: Server, owner: cu.Client) -> None:
    with development_server.client() as analyst:
        analyst["census"].marginals("age").answer(rho="0.001")
    with pytest.raises(cu.CuratorError, match="charge"):
        owner["census"].delete()
    assert owner["census"].state == "SEALED"


def test_these_calls_are_the_owners_alone(development_server: Server, owner: cu.Client) -> None:
    (first, _) = make_open(development_server, "pilot")
    development_server.curator("owner", "dataset", "grant", "pilot", "ana")
    with development_server.client() as analyst:
        pilot = analyst["pilot"]
        for call in (pilot.imports, lambda: pilot.undo_import(first), pilot.delete):
            with pytest.raises(cu.NotAllowed):
                call()
    assert len(owner["pilot"].imports()) == 2


def test_a_domain_from_records_is_shown_wherever_a_dataset_is(development_server: Server) -> None:
    schema, table = development_server.folder / "looked.json", development_server.folder / "looked.csv"
    schema.write_text(json.dumps({**json.loads(SCHEMA), "domainFromRecords": True}))
    table.write_text(csv_of(40, seed=7))
    development_server.curator("owner", "dataset", "create", "looked", "--schema", str(schema), *LIMIT)
    development_server.curator("owner", "dataset", "import", "looked", str(table))
    development_server.curator("owner", "dataset", "seal", "looked")
    development_server.curator("owner", "dataset", "grant", "looked", "ana")
    with development_server.client() as analyst:
        looked, census = analyst["looked"], analyst["census"]
        question = looked.marginals("age")
        model = looked.synthesize("mwem", rho="0.001", rounds=2).wait(progress=False)
        answer = question.answer(rho="0.001")
        for shown in (looked, question.quote(rho="0.001"), answer, model, model.ask(question), looked.budget()):
            assert shown.domain_from_records and not shown.rows_from_query
            assert _facts.DOMAIN_FROM_RECORDS in repr(shown)
            assert _facts.DOMAIN_FROM_RECORDS in shown._repr_html_()
            assert _facts.ROWS_FROM_QUERY not in shown._repr_html_()
        shown_by_commands = development_server.curator("ana", "release", "show", model.release_id)
        repeated = ("synth", "run", "looked", "--method", "mwem", "--rho", "0.001", "--set", "rounds=2", "--request-id", model.request_id)
        shown_by_commands += development_server.curator("ana", *repeated)
        shown_by_commands += development_server.curator("ana", "budget", "show", "looked")
        shown_by_commands += development_server.curator("ana", "charge", "reserve", "looked", "--rho", "0.001", "--estimate")
        assert shown_by_commands.count(_facts.DOMAIN_FROM_RECORDS) == 4
        assert json.loads(answer.receipt.statement)["domain_from_records"] is True
        for silent in (census, census.marginals("age").quote(rho="0.001"), census.budget()):
            assert not silent.domain_from_records
            assert _facts.DOMAIN_FROM_RECORDS not in silent._repr_html_() + repr(silent)

"""The notebooks run from their first cell to their last, against a server."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nbclient
import nbformat
import pytest

from conftest import PROMISE
from testing.server import BUILD, ROOT, Server

NOTEBOOKS = sorted((ROOT / "client" / "python" / "notebooks").glob("*.ipynb"))


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Server]:
    """A server with the dataset of deploy/quickstart."""
    table = tmp_path / "demo.csv"
    subprocess.run([str(BUILD / "deploy" / "demo-data"), "--out", str(table)], check=True)
    schema = str(ROOT / "deploy" / "demo-schema.json")
    with Server(tmp_path) as started:
        started.curator("owner", "dataset", "create", "demo", "--schema", schema, *PROMISE)
        started.curator("owner", "dataset", "import", "demo", str(table))
        started.curator("owner", "dataset", "seal", "demo")
        started.curator("owner", "dataset", "grant", "demo", "ana")
        yield started


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_has_tables(demo: Server, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_SERVER", demo.address)
    monkeypatch.setenv("CURATOR_AS", "ana")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "client" / "python"), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(demo.folder)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert any("<table" in output.get("data", {}).get("text/html", "") for output in outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None

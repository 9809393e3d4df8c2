"""A first session, line by line, against a real server."""

from __future__ import annotations

import csv
import io
import json
import time
from decimal import Decimal
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest

import curator_dp as cu
from testing.server import Server


def test_the_list_of_datasets_shows_promises_and_what_is_left(client: cu.Client) -> None:
    frame = client.datasets().to_frame()
    assert list(frame["name"]) == ["census"]
    assert frame["promise"][0] == "epsilon 2, delta 1e-9 (ZCDP)"
    assert frame["left"][0].startswith("rho 0.056")


def test_a_quote_has_the_price_and_charges_nothing(census: cu.Dataset) -> None:
    question = census.marginals(2).where("age in [18,37]") + census.prefixes("income", by="sex")
    quote = question.quote(rho="0.01")
    assert [(each.counter, each.amount) for each in quote.costs] == [("rho", Decimal("0.01"))]
    assert len(quote.errors) == 7
    assert quote.errors[0].name == "age,sex where age in [18,37]"
    assert quote.fits
    assert census.budget().spent == 0


def test_a_price_is_found_for_an_error(census: cu.Dataset) -> None:
    cheapest = census.marginals(1).quote(max_error=50, confidence=0.9).cheapest
    assert cheapest.max_error <= 50
    answer = cheapest.answer()
    assert answer.costs[0].amount == cheapest.amounts["rho"]


def test_an_answer_is_tidy_and_its_categories_are_in_the_order_of_bins(census: cu.Dataset) -> None:
    frame = census.marginals(["age", "sex"], "zone").answer(rho=0.01).to_frame()
    assert list(frame.columns) == ["query", "age", "sex", "zone", "value", "std", "low", "high"]
    assert len(frame) == 4 * 3 + 3
    assert list(frame["age"].cat.categories) == ["[18, 28)", "[28, 38)", "[38, 48)", "[48, 57]"]
    assert frame["age"].cat.ordered
    assert frame["zone"].isna().sum() == 12
    assert (frame["low"] < frame["value"]).all() and (frame["value"] < frame["high"]).all()


def test_a_marginal_of_an_answer_is_found_by_its_columns_in_any_order(census: cu.Dataset) -> None:
    answer = census.marginals(2).answer(rho=0.01)
    assert answer["sex", "age"].columns == ("age", "sex")
    wide = answer["age", "sex"].to_frame(wide=True)
    assert wide.shape == (4, 3)
    assert wide.loc["[28, 38)", "Male"] == answer["age", "sex"].to_numpy()[1, 1]
    with pytest.raises(cu.NotFound, match="it has: age, sex"):
        answer["age", "income", "zone"]


def test_a_conditional_marginal_has_the_cells_that_fulfil_the_condition(census: cu.Dataset) -> None:
    table = census.marginals(["sex", "age"]).where("age in [18,37]").answer(rho=0.01).tables[0]
    frame = table.to_frame()
    assert list(frame["age"].unique()) == ["[18, 28)", "[28, 38)"]
    assert set(frame["sex"]) == {"Female", "Male", "unknown"}
    assert len(frame) == 6


def test_intervals_are_bins_on_demand(census: cu.Dataset) -> None:
    frame = census.marginals("income").answer(rho=0.01)["income"].to_frame(as_intervals=True)
    assert frame["income"][1] == pd.Interval(1000, 2500.5, closed="left")


def test_intervals_equal_those_of_the_command_line_bit_for_bit(server: Server, census: cu.Dataset) -> None:
    question = census.marginals(2) + census.prefixes("income") + census.ranges("age") + census.count("zone in {1,2}", by="sex")
    answer = question.answer(rho=0.01)
    text = server.curator("ana", "release", "show", answer.release_id, "--out", "-")
    printed = list(csv.DictReader(io.StringIO(text)))
    frame = answer.to_frame()
    assert len(frame) == len(printed)
    for column, name in (("value", "estimate"), ("std", "standard_deviation"), ("low", "low"), ("high", "high")):
        assert [float(row[name]) for row in printed] == list(frame[column].astype(float)), column
    for column in ("age", "sex", "zone", "income"):
        assert [row[column] for row in printed] == list(frame[column].astype(object).fillna("")), column


def test_another_level_and_post_processing_are_free(census: cu.Dataset) -> None:
    answer = census.marginals(1).answer(rho=0.01)
    spent = census.budget().spent
    narrow = answer.at(confidence=0.5)["age"]
    assert narrow.confidence == 0.5
    assert (narrow.half_width < answer["age"].half_width).all()
    rounded = answer.at(non_negative=True, integer=True)
    assert rounded.post_processing and rounded["age"].std is None and rounded["age"].half_width is None
    assert rounded["age"].confidence == answer["age"].confidence
    assert (rounded["age"].low >= 0).all() and (rounded["age"].high >= rounded["age"].values).all()
    assert (rounded.to_frame()["value"] >= 0).all()
    assert census.budget().spent == spent


def test_what_earlier_releases_determine_is_free(census: cu.Dataset) -> None:
    census.marginals(["age", "sex"]).answer(rho=0.01)
    free = census.marginals("age").answer(prefer_free=True)
    assert free.free_from and not free.costs and free.receipt is None


def test_a_model_is_learned_and_sampled(census: cu.Dataset) -> None:
    synthesis = census.synthesize("mwem", rho=0.01, rounds=3).wait(progress=False)
    assert synthesis.state == "DONE"
    sample = synthesis.sample(200)
    assert len(sample) == 200 and list(sample.columns) == ["age", "sex", "zone", "income"]
    assert sample["sex"].cat.categories.to_list() == ["Female", "Male", "unknown"]
    assert sample["age"].between(18, 57).all()
    assert sample.equals(synthesis.sample(200))
    assert len(synthesis.ask(census.marginals("age")).to_frame()) == 4
    bins = synthesis.sample(50, as_bins=True)
    assert bins["income"].cat.categories.to_list() == ["[0, 1000)", "[1000, 2500.5)", "[2500.5, 9000]"]


def test_every_method_that_the_server_lists_learns_a_model(client: cu.Client, census: cu.Dataset) -> None:
    methods = set(client.synthesizers()["method"])
    assert {"auto", "aim", "swift", "mst"} <= methods
    # These two need facts that the dataset lacks: public data, and groups.
    for method in sorted(methods - {"prior", "nested"}):
        assert len(census.synthesize(method, rho="0.001").wait(progress=False).sample(10)) == 10, method


def test_without_a_method_the_server_chooses_one(census: cu.Dataset) -> None:
    model = census.synthesize(rho="0.001").wait(progress=False)
    assert model.method == "auto"


def test_a_model_is_found_again_by_its_id(client: cu.Client, census: cu.Dataset) -> None:
    begun = census.synthesize("mwem", rho=0.01, rounds=2)
    assert client.operation(begun.id).wait(progress=False).release_id == begun.wait(progress=False).release_id


def test_a_budget_is_exact(census: cu.Dataset) -> None:
    census.marginals(1).answer(rho="0.01")
    budget = census.budget()
    assert budget.spent == Decimal("0.01")
    assert budget.left == budget.accounts[0].counters[0].limit - budget.spent
    assert budget.requests_left == 4
    assert budget.protects == "one record, added or removed"
    assert census.budget().compare().comparison


def test_a_budget_has_its_history(census: cu.Dataset) -> None:
    census.marginals(1).answer(rho="0.01")
    history = census.budget().history()
    assert list(history["counter"].unique()) == ["rho"]
    assert history["spent"].iloc[-1] == Decimal("0.01") and history["limit"].iloc[-1] == census.budget().accounts[0].counters[0].limit
    assert history["time"].dt.tz is not None
    with pytest.raises(cu.InvalidQuestion, match="points"):
        census.budget().history(points=2001)


def test_a_receipt_proves_the_charge(client: cu.Client, census: cu.Dataset) -> None:
    answer = census.marginals(1).answer(rho=0.01)
    assert answer.receipt is not None
    assert cu.verify(answer.receipt, client)["charge_id"] == answer.charge_id
    assert cu.verify(answer.receipt, client, answer.receipt.public_key)
    with pytest.raises(cu.LedgerContradiction, match="signs with another key"):
        cu.verify(answer.receipt, client, bytes(32))
    with pytest.raises(cu.CuratorError, match="nothing was charged"):
        cu.verify(census.marginals(1).answer(prefer_free=True).receipt, client)
    forged = cu.Receipt(answer.receipt.statement.replace('"epsilon"', '"rho"') + " ", answer.receipt.signature, answer.receipt.public_key)
    with pytest.raises(cu.LedgerContradiction, match="forged"):
        cu.verify(forged, client)


def test_a_saved_answer_is_read_by_another_program(client: cu.Client, census: cu.Dataset, tmp_path: Path) -> None:
    question = census.marginals(["sex", "age"]).where("age in [18,37]") + census.count("zone = 1")
    answer = question.answer(rho=0.01)
    answer.save(tmp_path / "kept.curator")
    loaded = cu.load(tmp_path / "kept.curator", client)
    pd.testing.assert_frame_equal(loaded.to_frame(), answer.to_frame())
    assert loaded.receipt == answer.receipt
    assert loaded.at(confidence=0.5).tables[0].confidence == 0.5
    document = json.loads((tmp_path / "kept.curator").read_text())
    for broken in ({}, {**document, "chunks": [{}]}, {name: value for name, value in document.items() if name != "dataset"}):
        (tmp_path / "other").write_text(json.dumps(broken))
        with pytest.raises(cu.CuratorError):
            cu.load(tmp_path / "other")


def test_what_notebooks_show_is_escaped(server: Server, census: cu.Dataset) -> None:
    question = census.count("sex = Female")
    shown = [census._repr_html_(), question.quote(rho=0.01)._repr_html_(), question.answer(rho=0.01)._repr_html_()]
    shown += [census.budget()._repr_html_(), server.client().datasets()._repr_html_()]
    for html in shown:
        assert "<script" not in html and "http" not in html
    question = census.count("sex in {'<b>x</b>'}")
    with pytest.raises(cu.InvalidQuestion):
        question.quote(rho=0.01)


def test_plots_have_bars_for_the_intervals(census: cu.Dataset) -> None:
    matplotlib.use("Agg")
    answer = census.marginals(["age", "sex"]).answer(rho=0.01)
    axes = answer.plot("age", "sex")
    assert len(axes.containers) == 3
    assert axes.get_xlabel() == "age"
    assert [each.get_xlabel() for each in census.marginals(2).answer(rho=0.01).plot("sex")] == ["sex"] * 3
    bars = axes.containers[0].lines[2][0].get_segments()
    assert np.isclose(bars[0][1][1] - bars[0][0][1], 2 * answer["age", "sex"].half_width[0])


def test_a_marginal_of_a_million_cells_is_a_table_within_two_seconds(server: Server) -> None:
    columns = [f'{{"name": "{name}", "coded": {{"size": 100}}}}' for name in "abc"]
    schema, table = server.folder / "big.json", server.folder / "big.csv"
    schema.write_text(f'{{"attributes": [{", ".join(columns)}]}}')
    table.write_text("a,b,c\n1,2,3\n")
    server.curator("owner", "dataset", "create", "big", "--schema", str(schema), "--rule", "pure", "--epsilon", "1")
    server.curator("owner", "dataset", "import", "big", str(table))
    server.curator("owner", "dataset", "seal", "big")
    server.curator("owner", "dataset", "grant", "big", "ana")
    question = server.client()["big"].marginals(["a", "b", "c"])
    question.answer(epsilon=1)
    begun = time.monotonic()
    frame = question.answer(epsilon=1).to_frame()
    assert time.monotonic() - begun < 2
    assert len(frame) == 1_000_000 and frame["c"].cat.categories.size == 100

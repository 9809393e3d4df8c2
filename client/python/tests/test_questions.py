"""Questions ask what was written, or are refused; their tables have the names and the labels that the question has."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import curator_dp as cu
from curator_dp._schema import label_text
from testing.server import ROOT, Server

AGE, SEX = cu.col("age"), cu.col("sex")


@pytest.mark.parametrize(
    "build",
    [lambda: AGE >= 28 and SEX == "Female", lambda: 18 <= AGE < 38, lambda: not (SEX == "Female"), lambda: (AGE >= 28) & (SEX == "x") or 1],
    ids=["and", "chained", "not", "or"],
)
def test_python_keywords_that_would_drop_a_condition_are_refused(build: Any) -> None:
    with pytest.raises(cu.InvalidQuestion, match="join conditions with &"):
        build()


def test_a_text_is_not_taken_for_its_letters() -> None:
    with pytest.raises(cu.InvalidQuestion, match=r"isin\(\['12'\]\)"):
        cu.col("zone").isin("12")


@pytest.mark.parametrize("value", [float("inf"), float("nan"), None, True, b"x", np.bool_(True)])
def test_values_are_texts_and_finite_numbers(value: Any) -> None:
    with pytest.raises(cu.InvalidQuestion, match="a text or a finite number"):
        AGE.isin([value])


def test_numbers_of_numpy_are_numbers(shared_census: cu.Dataset) -> None:
    census = shared_census
    assert str(cu.col("zone").isin(np.array([1, 2]))) == "zone in {1, 2}"
    assert str(cu.col("income") < np.float64(2500.5)) == "income in [,2500.5)"
    question = census.marginals(np.int64(2), over=["age", "sex"])
    assert question == census.marginals(2, over=["age", "sex"])
    assert question.quote(rho=np.float64(0.01)).amounts == question.quote(rho="0.01").amounts


def test_marginals_above_a_size_are_left_out(shared_census: cu.Dataset) -> None:
    census = shared_census
    over = ["age", "sex", "zone"]
    small = census.marginals(2, over=over, max_cells=9)
    assert [each.name for each in small.quote(rho="0.01").errors] == ["sex,zone"]
    assert small.quote(rho="0.01").left_out == 2
    assert census.marginals(2, over=over, max_cells=12).quote(rho="0.01").left_out == 0
    # With conditions the marginals are made here, and the same ones are left out.
    assert len(small.where("income in [0,1000)").quote(rho="0.01").errors) == 1
    with pytest.raises(cu.InvalidQuestion, match="the smallest has 9 cells"):
        census.marginals(2, over=over, max_cells=8).quote(rho="0.01")
    with pytest.raises(cu.InvalidQuestion, match="the smallest has 9 cells"):
        census.marginals(2, over=over, max_cells=8).where("income in [0,1000)").quote(rho="0.01")
    with pytest.raises(cu.InvalidQuestion, match="max_cells is for all sets of k columns"):
        census.marginals(["age", "sex"], max_cells=9)


def test_a_condition_is_joined_with_a_text() -> None:
    assert str((AGE >= 28) & "sex = Female") == "age in [28,] and sex in {Female}"
    with pytest.raises(cu.InvalidQuestion, match="a condition is a text"):
        (AGE >= 28) & 7


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda d: d.marginals(0), "no whole number from 1 on"),
        (lambda d: d.marginals(-1).where("zone = 1"), "no whole number from 1 on"),
        (lambda d: d.marginals(2**40), "no whole number from 1 on"),
        (lambda d: d.marginals(9).where("zone = 1").quote(rho=1), "no sets of 9 of 4 columns"),
        (lambda d: d.marginals([1, 2]), "a list of names"),
        (lambda d: d.ranges("age", between=(18, 37)), "pairs of ends"),
        (lambda d: d.prefixes("nope", by="sex").quote(rho=1), "there is no column 'nope'"),
        (lambda d: d.marginals("zone").where("zone = 9").quote(rho=1), "has no value '9'"),
        (lambda d: d.marginals("age").where("age in [18,27] and age in [28,37]").quote(rho=1), "no bin of age fulfils all"),
        (lambda d: d.prefixes("age").where("age in [18,27] and age in [28,37]").quote(rho=1), "no bin of age fulfils all"),
        (lambda d: d.marginals(1).of_parts([]), "the list is empty"),
        (lambda d: d.synthesize("mwem", rho=1, parts=[]), "the list is empty"),
        (lambda d: d.synthesize("mwem", rho=1, workload=d.marginals(1).of_parts("a")), "no parts and no mechanism"),
        (lambda d: d.synthesize("mwem", rho=1, workload=d.marginals(1).measured(mechanism="laplace")), "no parts and no mechanism"),
        (lambda d: d.marginals(1).answer(rho=1, request_id="mine"), "is no UUID"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(shared_census: cu.Dataset, make: Any, says: str) -> None:
    spent = shared_census.budget().spent
    with pytest.raises(cu.InvalidQuestion, match=says):
        make(shared_census)
    assert shared_census.budget().spent == spent


def test_marginals_take_the_conditions_that_counts_take(shared_census: cu.Dataset) -> None:
    census = shared_census
    for where in ("income = 500", "age = 20", "age in [18,30]", "income < 500"):
        for question in (census.count(where), census.marginals("age", "income").where(where)):
            with pytest.raises(cu.InvalidQuestion):
                question.quote(rho="0.01")
    for where in ("age in {'[18, 28)'}", "income in {'[0, 1000)'}", "zone = 1", "sex = unknown"):
        assert census.count(where).quote(rho="0.01").fits
        assert census.marginals("age", "income", "zone", "sex").where(where).quote(rho="0.01").fits


def test_a_set_has_one_order_in_every_run(shared_census: cu.Dataset) -> None:
    assert shared_census.marginals({"sex", "age"}) == shared_census.marginals(["age", "sex"])
    program = "import curator_dp as cu; print(cu.col('sex').isin({'Female', 'Male', 'unknown', 'x', 'y'}))"
    printed = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "client" / "python")}
        printed.add(subprocess.run([sys.executable, "-c", program], env=environment, check=True, stdout=subprocess.PIPE).stdout)
    assert len(printed) == 1


def test_what_is_measured_in_another_way_keeps_the_rest(shared_census: cu.Dataset) -> None:
    question = shared_census.ranges("age").measured(strategy="tree").measured(mechanism="gaussian")
    assert (question.strategy, question.mechanism) == ("tree", "gaussian")


def test_marginals_take_the_strategies_that_they_can_have(shared_census: cu.Dataset) -> None:
    question = shared_census.marginals(1) + shared_census.prefixes("income")
    strategies = ("auto", "direct", "histogram", "tree", "residual", "parity")
    sent = {each: [query_set.strategy for query_set in question.measured(strategy=each).to_wire().query_sets] for each in strategies}
    assert sent == {"auto": [0, 0], "direct": [1, 1], "histogram": [0, 2], "tree": [0, 3], "residual": [5, 5], "parity": [6, 6]}


def test_a_weight_is_of_the_sets_of_its_question(shared_census: cu.Dataset) -> None:
    census = shared_census
    ages = census.ranges("age").measured(weight=20)
    question = census.marginals(["age", "sex"]) + ages + census.count("zone = 1").measured(weight=0.5)
    sets = question.to_wire().query_sets
    assert [(each.HasField("weight"), each.weight) for each in sets] == [(False, 0), (True, 20), (True, 0.5)]
    assert ages.measured(weight=3).to_wire().query_sets[0].weight == 3
    assert ages.measured(weight=1) == census.ranges("age"), "which is the weight of sets without one"
    assert ages.measured(strategy="tree").to_wire().query_sets[0].weight == 20
    both = census.marginals(["sex", "zone"], ["age"]).measured(weight=2).where("age in [18,37]")
    assert [each.weight for each in both.to_wire().query_sets] == [2, 2]
    plain = (census.marginals(["age", "sex"]) + census.ranges("age")).quote(rho="0.01").errors
    weighted = (census.marginals(["age", "sex"]) + ages).quote(rho="0.01").errors
    assert weighted[1].std < plain[1].std and weighted[0].std > plain[0].std
    assert [each.name for each in weighted] == ["age,sex", "ranges of age"]
    assert all(each.gap is not None and 0 <= each.gap < 0.01 for each in weighted), "they are measured by residuals"
    assert census.marginals("age").measured(strategy="direct").quote(rho="0.01").errors[0].gap is None


def test_an_objective_is_of_an_amount_and_of_the_answer_to_its_quote(census: cu.Dataset) -> None:
    question = census.marginals(2) + census.ranges("age")

    def worst(**objective: str) -> float:
        answer = question.quote(rho="0.01", **objective).answer()
        return max(float(table.to_frame()["std"].max()) for table in answer.tables)

    assert worst(objective="worst") < worst()
    assert question.answer(rho="0.01", objective="sum").replayed, "which is the default"
    assert question.answer(rho="0.01", objective="worst").replayed
    assert census.budget().spent == Decimal("0.02")


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda d: d.ranges("age").measured(weight=0).quote(rho=1), "must be a number from 0.000001"),
        (lambda d: d.ranges("age").measured(weight=float("nan")).quote(rho=1), "must be a number from 0.000001"),
        (lambda d: d.ranges("age").measured(weight=1e7).answer(rho=1), "must be a number from 0.000001"),
        (lambda d: d.ranges("age").measured(weight="2"), "weight: '2' is no number"),
        (lambda d: d.ranges("age").measured(weight=True), "weight: True is no number"),
        (lambda d: d.count(by="sex").measured(weight=2), "weight: is of counts; statistics share an amount evenly"),
        (lambda d: d.ranges("age").measured(weight=2).answer(max_error=50), "does not count beside target.max_error"),
        (lambda d: d.synthesize("mwem", rho=1, workload=d.marginals(2).measured(weight=2)), "leave it out"),
        (lambda d: d.ranges("age").quote(rho=1, objective="mean"), "'mean' is none of sum, worst"),
        (lambda d: d.ranges("age").answer(max_error=50, objective="worst"), "objective: goes with an amount"),
        (lambda d: d.ranges("age").answer(rmse=50, objective="worst"), "objective: goes with an amount"),
        (lambda d: d.count(by="sex").answer(rho=1, objective="worst"), "is of counts"),
        (lambda d: d.ranges("age").answer(rmse=50, max_error=50), "rmse: give either max_error= or rmse="),
        (lambda d: d.ranges("age").answer(rmse=50, rho=1), "give either an amount, epsilon= or rho=, or rmse="),
        (lambda d: d.ranges("age").answer(rmse=-1), "must be a number of records"),
        (lambda d: d.ranges("age").answer(rmse="5%"), "the table's own is private"),
    ],
)
def test_weights_objectives_and_targets_without_effect_are_refused(shared_census: cu.Dataset, make: Any, says: str) -> None:
    spent = shared_census.budget().spent
    with pytest.raises(cu.InvalidQuestion, match=says):
        make(shared_census)
    assert shared_census.budget().spent == spent


def test_quotes_and_answers_name_their_tables_alike(census: cu.Dataset) -> None:
    question = (
        census.marginals("age", ["sex", "zone"])
        + census.marginals(["sex", "zone"]).where("age in [18,37]")
        + census.prefixes("income", by="sex").where("income >= 1000")
        + census.ranges("age")
        + census.count("zone = 1", by="sex")
        + census.thresholds("at least 1 of (age >= 48, zone = 1)")
    )
    quote = question.quote(rho="0.01")
    answer = quote.answer()
    assert [each.name for each in quote.errors] == [table.name for table in answer.tables]
    assert [table.name for table in answer.tables] == [
        "age",
        "sex,zone",
        "sex,zone where age in [18,37]",
        "prefixes of income by sex where income in [1000,]",
        "ranges of age",
        "count by sex where zone in {1}",
        "at least 1 of (age in [48,], zone in {1})",
    ]
    conditional = answer.tables[2].to_frame()
    assert list(conditional.columns) == ["sex", "zone", "value", "std", "low", "high"]
    with pytest.raises(cu.CuratorError, match="has 2 tables over sex, zone: take one by its index, 1, 2"):
        answer["sex", "zone"]
    assert list(answer.tables[3].to_frame()["income"].unique()) == ["[0, 2500.5)", "[0, 9000]"]


def test_a_quote_is_answered_with_its_confidence(census: cu.Dataset) -> None:
    assert census.marginals("age").quote(rho="0.01", confidence=0.8).answer()["age"].confidence == 0.8


def test_a_column_that_is_called_as_the_numbers_are_keeps_its_labels(server: Server) -> None:
    names = ["value", "low", "query", "where"]
    make_coded(server, "odd", names)
    answer = server.client()["odd"].marginals(["value", "low", "query"]).answer(epsilon="0.1")
    columns = ["value (column)", "low (column)", "query (column)", "value", "std", "low", "high"]
    assert list(answer.to_frame().columns) == ["query", *columns]
    assert list(answer.tables[0].to_frame(as_intervals=True).columns) == columns
    table = server.client()["odd"].marginals(["where", "low"]).where("low = 1").answer(epsilon="0.1").tables[0]
    assert list(table.to_frame()["where"]) == ["0", "1"]
    assert list(table.to_frame()["low (column)"]) == ["1", "1"]


def make_coded(server: Server, name: str, columns: list[str]) -> None:
    schema, table = server.folder / f"{name}.json", server.folder / f"{name}.csv"
    schema.write_text('{"attributes": [' + ", ".join(f'{{"name": "{each}", "coded": {{"size": 2}}}}' for each in columns) + "]}")
    table.write_text(",".join(columns) + "\n" + ",".join("1" for _ in columns) + "\n")
    server.curator("owner", "dataset", "create", name, "--schema", str(schema), "--rule", "pure", "--epsilon", "1")
    server.curator("owner", "dataset", "import", name, str(table))
    server.curator("owner", "dataset", "seal", name)
    server.curator("owner", "dataset", "grant", name, "ana")


_FIXED = 2  # std::chars_format::fixed of libstdc++


class _ToChars(ctypes.Structure):
    _fields_ = [("end", ctypes.c_void_p), ("error", ctypes.c_int)]


def written_by_the_server(number: float) -> str:
    """By the functions that write its labels (WriteNumber() in server/dp/domain/numbers.cc): std::to_chars(char*, char*, double), and
    the same with std::chars_format::fixed from 10^-6 to 2^53."""
    is_plain = number == 0 or 1e-6 <= abs(number) <= 2.0**53
    to_chars = ctypes.CDLL("libstdc++.so.6")["_ZSt8to_charsPcS_dSt12chars_format" if is_plain else "_ZSt8to_charsPcS_d"]
    to_chars.restype = _ToChars
    to_chars.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, *([ctypes.c_int] if is_plain else [])]
    buffer = ctypes.create_string_buffer(400)
    begin = ctypes.addressof(buffer)
    end = to_chars(begin, begin + 400, number, *([_FIXED] if is_plain else [])).end
    return buffer.raw[: end - begin].decode()


@given(
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.builds(lambda digits, power: float(f"{digits}e{power}"), st.integers(-99999, 99999), st.integers(-12, 12)),
        st.sampled_from([0.0, -0.0, 1e5, 1e-4, 1.2e7, 2.0**53, 2.0**63, 1e22]),
    )
)
def test_labels_have_numbers_as_the_server_writes_them(number: float) -> None:
    assert label_text(number) == written_by_the_server(number)


def test_labels_of_round_edges_are_those_of_the_server(server: Server) -> None:
    schema, table = server.folder / "round.json", server.folder / "round.csv"
    schema.write_text('{"attributes": [{"name": "income", "numeric": {"edges": [0, 0.0001, 100000, 110000, 500000, 12000000]}}]}')
    table.write_text("income\n" + "".join(f"{income}\n" for income in (0, 5, 100001, 200000, 600000)))
    server.curator("owner", "dataset", "create", "round", "--schema", str(schema), "--rule", "pure", "--epsilon", "1")
    server.curator("owner", "dataset", "import", "round", str(table))
    server.curator("owner", "dataset", "seal", "round")
    server.curator("owner", "dataset", "grant", "round", "ana")
    incomes = server.client()["round"]
    answer = (incomes.marginals("income") + incomes.prefixes("income")).answer(epsilon="0.5")
    shown = server.curator("ana", "release", "show", answer.release_id, "--out", "-")
    assert all(f'"{label}"' in shown for label in answer.to_frame()["income"])
    sample = incomes.synthesize("mwem", epsilon="0.4", rounds=1).wait(progress=False).sample(200, as_bins=True)
    assert not sample["income"].isna().any()
    assert set(sample["income"]) <= set(incomes.schema["income"].labels)


def test_answers_become_tables_of_other_libraries_where_they_are_installed(
    census: cu.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = census.marginals("age").answer(rho="0.01")
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(cu.CuratorError, match="pip install polars"):
        answer.to_polars()
    with pytest.raises(cu.CuratorError, match="pip install pyarrow"):
        answer.to_arrow()

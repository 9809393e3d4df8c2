"""Statements in SQL of a real server: their rows, their prices, and why one is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import curator_dp as cu

# 300 records of the north with incomes 0 to 49, 600 of the south with 50 to 99, none of the moon.
ROWS = [("north", 18 + i % 40, i % 50) for i in range(300)] + [("south", 18 + i % 40, 50 + i % 50) for i in range(600)]


def test_a_row_for_each_group_has_the_columns_of_the_list_in_the_order_of_the_statement(people: cu.Dataset) -> None:
    statement = people.sql("SELECT AVG(income) AS earns, region, COUNT(*) FROM people GROUP BY region ORDER BY earns DESC")
    assert isinstance(statement, cu.SqlQuestion) and not statement.explain
    answer = statement.answer(rho="50")
    assert isinstance(answer, cu.SqlAnswer)
    assert answer.tables[0].clipped == ("income clipped to 0..100",), "whatever the statement calls it"
    frame = answer.to_frame()
    counted = frame.columns[-3]
    assert frame.columns.to_list() == ["earns", "earns low", "earns high", "region", counted, f"{counted} low", f"{counted} high"]
    order = [region for region in frame["region"] if region != "moon"]
    assert order == ["south", "north"] and len(frame) == 3
    rows = frame.set_index("region")
    for region, records, mean in (("south", 600, 74.5), ("north", 300, 24.5)):
        assert rows.loc[region, counted] == pytest.approx(records, abs=20)
        assert rows.loc[region, "earns"] == pytest.approx(mean, abs=1)
        assert rows.loc[region, "earns low"] <= rows.loc[region, "earns"] <= rows.loc[region, "earns high"]
    moon = rows.loc["moon"]
    assert math.isinf(moon["earns low"]) or math.isinf(moon["earns high"])


def test_having_order_and_limit_choose_among_the_groups_that_were_answered(people: cu.Dataset) -> None:
    statement = people.sql("SELECT region FROM people GROUP BY region HAVING COUNT(*) > 150 ORDER BY COUNT(*) LIMIT 1")
    answer = statement.answer(rho="10")
    assert answer.to_frame()["region"].to_list() == ["north"]
    spent = people.budget().spent
    other = people.sql("SELECT region FROM people GROUP BY region HAVING COUNT(*) > 150 ORDER BY COUNT(*) DESC").answer(rho="10")
    assert other.replayed and people.budget().spent == spent, "another choice of the same answers is free"
    assert other.to_frame()["region"].to_list() == ["south", "north"]


def test_no_group_is_left_and_the_columns_are_those_of_the_list(people: cu.Dataset) -> None:
    statement = people.sql("SELECT region, SUM(income) AS total FROM people GROUP BY region LIMIT 0")
    frame = statement.answer(rho="1").to_frame()
    assert len(frame) == 0 and frame.columns.to_list()[:2] == ["region", "total"]


def test_a_name_that_another_column_has_keeps_its_own_values(people: cu.Dataset) -> None:
    statement = people.sql('SELECT region AS place, COUNT(*) AS region FROM people GROUP BY region')
    frame = statement.answer(rho="10").to_frame()
    assert frame["place"].to_list() == ["north", "south", "moon"]
    assert np.issubdtype(frame["region"].dtype, np.number)
    assert frame["region"][1] == pytest.approx(600, abs=40)


def test_a_quote_is_free_and_explain_has_nothing_else(people: cu.Dataset) -> None:
    spent = people.budget().spent
    statement = people.sql("EXPLAIN SELECT region, AVG(income) FROM people WHERE age >= 30 GROUP BY region")
    assert statement.explain
    assert statement.quote(rho="1").forecasts[0].name == "mean(income)"
    with pytest.raises(cu.InvalidQuestion, match="EXPLAIN"):
        statement.answer(rho="1")
    assert people.budget().spent == spent


def test_a_mistake_is_shown_with_its_line_and_a_mark_under_its_place(people: cu.Dataset) -> None:
    spent = people.budget().spent
    with pytest.raises(cu.InvalidQuestion) as refused:
        people.sql("SELECT region, COUNT(*)\nFROM people WHERE regoin = 'north' GROUP BY region")
    words, line, mark = str(refused.value).split("\n")
    assert "regoin" in words and "region" in words
    assert line.startswith("LINE 2: ") and line[mark.index("^") :].startswith("regoin")
    for sql in ("SELECT * FROM people", "SELECT COUNT(*) FROM others", "DELETE FROM people", ""):
        with pytest.raises(cu.InvalidQuestion):
            people.sql(sql)
    assert people.budget().spent == spent


def test_a_statement_is_asked_by_itself(people: cu.Dataset) -> None:
    statement = people.sql("SELECT COUNT(*) FROM people")
    assert repr(statement) == "<SqlQuestion of people: SELECT COUNT(*) FROM people>"
    with pytest.raises(cu.InvalidQuestion, match="SELECT"):
        _ = statement + people.count()
    with pytest.raises(cu.InvalidQuestion, match="WHERE"):
        statement.where("age >= 30")
    with pytest.raises(cu.InvalidQuestion, match="strategy"):
        statement.measured(strategy="tree").quote(rho="1")

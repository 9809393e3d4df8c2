"""Statistics of a real server: their intervals hold what the table has, and an answer is asked for once."""

from __future__ import annotations

import math
import random
import statistics

import pytest

import curator_dp as cu


def _rows() -> list[tuple[str, int, int]]:
    numbers = random.Random(7)
    return [(numbers.choice(["north", "south"]), numbers.randint(18, 57), numbers.randint(20, 130)) for _ in range(2000)]


ROWS = _rows()


def incomes(region: str) -> list[int]:
    """As the table has them: clipped."""
    return [min(income, 100) for where, _, income in ROWS if where == region]


def test_means_and_counts_are_near_those_of_the_table(people: cu.Dataset) -> None:
    question = people.count(by="region") + people.mean("income", by="region") + people.sum("income", by="region")
    answer = question.answer(rho="50")
    wide = answer.to_frame(wide=True).set_index("region")
    for region in ("north", "south"):
        row = wide.loc[region]
        assert row["count"] == pytest.approx(len(incomes(region)), abs=20)
        assert row["mean(income)"] == pytest.approx(statistics.mean(incomes(region)), abs=1)
        assert row["mean(income) low"] <= row["mean(income)"] <= row["mean(income) high"]
        assert row["sum(income)"] == pytest.approx(sum(incomes(region)), abs=2000)
    assert answer["region"].clipped == ("income clipped to 0..100",)
    assert answer.costs[0].amount == 50
    assert question.answer(rho="50").replayed


def test_a_group_without_records_has_no_mean_and_an_unbounded_interval(people: cu.Dataset) -> None:
    answer = people.mean("income", by="region").answer(rho="0.001")
    moon = answer.to_frame().set_index("region").loc["moon"]
    assert math.isnan(moon["value"]) or 0 <= moon["value"] <= 100
    assert math.isinf(moon["low"]) or math.isinf(moon["high"])


@pytest.mark.parametrize("strategy", ["auto", "tree", "selection"])
def test_quantiles_are_near_those_of_the_table_however_they_are_measured(people: cu.Dataset, strategy: str) -> None:
    question = people.quantiles("income", [0.25, 0.75]) + people.median("income")
    wide = question.measured(strategy=strategy).answer(rho="20").to_frame(wide=True)
    values = sorted(min(income, 100) for *_, income in ROWS)
    for name, at in (("quantile(income, 0.25)", 0.25), ("quantile(income, 0.75)", 0.75), ("quantile(income, 0.5)", 0.5)):
        assert wide[name].iloc[0] == pytest.approx(values[int(at * len(values))], abs=3), name


def test_a_quote_is_free_and_names_the_statistics_of_the_answer(people: cu.Dataset) -> None:
    spent = people.budget().spent
    question = people.statistics(["count", "mean(income)", "variance(age)", "quantile(age, 0.9)"], by="region", where="age >= 20")
    quote = question.quote(rho="1")
    assert people.budget().spent == spent
    answer = quote.answer()
    assert [each.name for each in quote.forecasts] == list(answer.tables[0].statistics)
    assert quote.numbers == len(answer.tables[0].values) == 12
    mean = quote.forecasts[1]
    assert mean.unit == "value x records" and mean.at(500).half_width < 100


def test_a_statistic_that_cannot_be_asked_is_refused_before_it_costs(people: cu.Dataset) -> None:
    spent = people.budget().spent
    for question in (people.mean("region"), people.mean("incom"), people.distinct_units()):
        with pytest.raises(cu.CuratorError):
            question.answer(rho="1")
    assert people.budget().spent == spent


def test_an_answer_has_other_intervals_free(people: cu.Dataset) -> None:
    answer = people.mean("income").answer(rho="5")
    narrow = answer.at(confidence=0.5).tables[0]
    low, high = narrow.low, narrow.high
    wide_low, wide_high = answer.tables[0].low, answer.tables[0].high
    assert low is not None and high is not None and wide_low is not None and wide_high is not None
    assert wide_low[0] < low[0] <= high[0] < wide_high[0]
    assert narrow.confidence == 0.5

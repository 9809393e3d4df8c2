"""Money in people's words: shares of what is left, percentages of the promise, and errors in percent of a number of records."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

import curator_dp as cu
from curator_dp._budgets import _account_of
from curator_dp._spend import percent_down, percent_up
from curator_dp._wire.curator.v1 import budget_pb2


def test_a_quote_without_an_amount_has_what_shares_of_what_is_left_buy(census: cu.Dataset) -> None:
    quote = census.marginals(1).quote()
    assert [each.share_of_left for each in quote.choices] == [0.01, 0.03, 0.1, 0.3]
    assert (quote.spend, quote.amounts, quote.costs, quote.event) == ("", {}, (), "")
    left = census.budget().left
    for choice in quote.choices:
        assert choice.costs[0].amount <= left * Decimal(str(choice.share_of_left))
        assert len(choice.amounts["rho"].as_tuple().digits) <= 2, "people can read it"
        assert choice.fits
    errors = [each.max_error for each in quote.choices]
    assert errors == sorted(errors, reverse=True)
    assert "1.0% of what is left: rho 0.00056" in repr(quote)
    html = quote._repr_html_()
    assert "of what is left" in html and "0.00056" in html and "within ±" not in html.partition("of what is left")[0]
    assert all(math.isnan(each.std) and math.isnan(each.half_width) for each in quote.errors), "of no amount there is no error"
    with pytest.raises(cu.CuratorError, match="take one of its choices"):
        quote.answer()
    answer = quote.choices[2].answer()
    assert answer.costs[0].amount == quote.choices[2].amounts["rho"]


def test_a_budget_says_the_epsilon_that_was_used(census: cu.Dataset) -> None:
    before = census.budget().accounts[0]
    assert (before.epsilon_used, before.share_spent) == (0, 0)
    census.marginals(1).answer(rho="0.01")
    budget = census.budget()
    account = budget.accounts[0]
    assert account.epsilon_used is not None and Decimal("0.5") < account.epsilon_used < Decimal(2)
    assert account.share_spent == pytest.approx(float(account.spent / account.counters[0].limit))
    assert "18% spent, epsilon 0." in repr(budget) and "used of epsilon 2, delta 1e-9 (ZCDP)" in repr(budget)
    assert "18% spent" in budget._repr_html_()
    assert budget.to_frame()["epsilon_used"].to_list() == [account.epsilon_used]


def test_an_epsilon_that_the_server_does_not_know_is_none() -> None:
    wire = budget_pb2.Account(name="dataset/census", share_spent=0.5)
    wire.counters.add(name="rho", limit="1", spent="0.5", held="0", remaining="0.5")
    assert _account_of(wire).epsilon_used is None
    assert _account_of(wire).used == "50% spent"


def test_an_answer_says_what_it_cost_in_percent_of_the_promise(census: cu.Dataset) -> None:
    question = census.marginals(1)
    answer = question.answer(rho="0.01")
    limit = census.budget().accounts[0].counters[0].limit
    assert answer.share_of_promise == (pytest.approx(float(Decimal("0.01") / limit)),)
    assert answer.cost == "rho 0.01, 18% of the promise of dataset/census; 82% left"
    assert "cost rho 0.01, 18% of the promise" in repr(answer)
    again = question.answer(rho="0.01")
    assert again.cost == "nothing now; when it was charged: rho 0.01, 18% of the promise of dataset/census"
    assert question.answer(prefer_free=True).cost == "nothing"
    cost = census.marginals("age").quote(rho="0.01").costs[0]
    assert cost.share_of_promise < (cost.share_of_left or 0), "some is spent already"


def test_a_percentage_of_error_is_of_assumed_rows_or_of_a_released_number(census: cu.Dataset) -> None:
    question = census.marginals("age")
    assumed = question.quote(max_error="5%", assume_rows=2000)
    assert assumed.max_error <= 100
    assert assumed.max_error_of == "5% of 2000 assumed rows"
    released = census.marginals("sex").answer(rho="0.01")
    total = released["sex"].values.sum()
    measured = question.quote(max_error="20%", of_release=released)
    assert measured.max_error <= 0.2 * total
    assert measured.max_error_of == (
        f"20% of {total:g} records, a noisy number: the sum of the marginal over sex of release {released.release_id}"
    )
    answer = question.answer(max_error="20%", of_release=released.release_id)
    assert answer.max_error_of == measured.max_error_of
    assert question.answer(max_error="20%", of_release=released).replayed, "the same request"


def test_a_root_mean_squared_error_is_reached(census: cu.Dataset) -> None:
    question = census.marginals("age") + census.prefixes("income")
    quote = question.quote(rmse="2%", assume_rows=1000)
    assert (quote.rmse, quote.max_error_of) == (20, "2% of 1000 assumed rows")
    assert (sum(each.std**2 for each in quote.errors) / 2) ** 0.5 <= 20 * (1 + 1e-9)
    assert repr(quote).startswith(f"<Quote: {quote.spend}, root mean squared error 20, all errors within ±")
    assert "root mean squared error to reach" in quote._repr_html_()
    answer = question.answer(rmse=20, confidence=0.5)
    assert answer.costs[0].amount == quote.amounts["rho"]
    assert question.answer(rmse="2%", assume_rows=1000).replayed, "the same request, at another confidence"


def test_what_reaches_an_error_is_asked_for_the_error(census: cu.Dataset) -> None:
    question = census.marginals(2) + census.ranges("age")
    cheapest = question.quote(max_error=50, confidence=0.9).cheapest
    assert cheapest.answer().costs[0].amount == cheapest.amounts["rho"]
    assert question.answer(max_error=50, confidence=0.9).replayed
    assert cheapest.answer(rho="0.01").costs[0].amount == Decimal("0.01"), "another amount"


def test_a_percentage_is_of_one_number_that_is_not_private(shared_census: cu.Dataset) -> None:
    question = shared_census.marginals("age")
    with pytest.raises(cu.InvalidQuestion, match="the table's own is private"):
        question.quote(max_error="5%")
    with pytest.raises(cu.InvalidQuestion, match="give one number of records"):
        question.quote(max_error="5%", assume_rows=10, of_release="r")
    with pytest.raises(cu.InvalidQuestion, match="what a percentage is of"):
        question.quote(max_error=5, assume_rows=10)
    with pytest.raises(cu.InvalidQuestion, match="the id of a release"):
        question.quote(max_error="5%", of_release=7)
    with pytest.raises(cu.NotFound):
        question.quote(max_error="5%", of_release="7a5ad3a3-7a3a-4a39-9f0f-0123456789ab")
    for text in ("5", "0%", "-1%", "101%", "nan%", "five%", "%"):
        with pytest.raises(cu.InvalidQuestion, match="is no percentage"):
            question.quote(max_error=text, assume_rows=10)


def test_percentages_are_never_on_the_wrong_side() -> None:
    assert [percent_up(share) for share in (0, 1, 0.041, 0.0411, 0.0996, 0.009952, 0.6101, 0.00012345)] == [
        "0%", "100%", "4.1%", "4.2%", "10%", "1.0%", "62%", "0.013%",
    ]  # fmt: skip
    assert [percent_down(share) for share in (0.0419, 0.9999)] == ["4.1%", "99%"]

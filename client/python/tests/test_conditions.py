"""Conditions: the text of the command line and the builder mean the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

import curator_dp as cu
from testing.server import ROOT
from curator_dp._wire.curator.v1 import schema_pb2, workload_pb2

SHARED = json.loads((ROOT / "client" / "testing" / "conditions.json").read_text(encoding="utf-8"))


def wire_of(meant: list[dict[str, Any]]) -> workload_pb2.Predicate:
    predicate = workload_pb2.Predicate()
    for each in meant:
        json_format.ParseDict(each, predicate.all_of.add())
    return predicate


def built(meant: dict[str, Any]) -> cu.Condition:
    """With the builder, as somebody would write it."""
    column = cu.col(meant["attribute"])
    if "compare" in meant:
        value = meant["compare"]["value"]
        return column > value if meant["compare"]["operator"] == "GREATER" else column != value
    if "isMissing" in meant:
        return column.is_missing()
    if "in" in meant:
        values = meant["in"]
        return column == values[0] if len(values) == 1 else column.isin(values)
    low, high = meant["between"].get("from"), meant["between"].get("to")
    if low is not None and high is not None:
        return column.between(low, high)
    if low is not None:
        return column >= low
    return column <= high if high is not None else cu.Condition(meant["attribute"])


def built_tree(meant: dict[str, Any]) -> cu.Conditions:
    """Of an expression, with & | and ~."""
    if "condition" in meant:
        return cu.Conditions((built(meant["condition"]),))
    if "not" in meant:
        return ~built_tree(meant["not"])
    is_all = "allOf" in meant
    first, *others = (built_tree(each) for each in meant["allOf" if is_all else "anyOf"]["expressions"])
    for other in others:
        first = first & other if is_all else first | other
    return first


@pytest.mark.parametrize("each", SHARED["conditions"], ids=lambda each: each["text"])
def test_a_text_means_what_the_shared_file_says_and_so_does_the_builder(each: dict[str, Any]) -> None:
    meant = wire_of(each["means"])
    assert cu.parse_where(each["text"]).to_wire() == meant
    assert cu.Conditions(tuple(built(condition) for condition in each["means"])).to_wire() == meant


@pytest.mark.parametrize("each", SHARED["expressions"], ids=lambda each: each["text"])
def test_an_expression_means_what_the_shared_file_says_and_so_does_the_builder(each: dict[str, Any]) -> None:
    meant = json_format.ParseDict({"expression": each["means"]}, workload_pb2.Predicate())
    assert cu.parse_where(each["text"]).to_wire() == meant
    assert built_tree(each["means"]).to_wire() == meant


@pytest.mark.parametrize("each", SHARED["mistakes"], ids=lambda each: each["text"])
def test_a_mistake_is_named_and_pointed_to(each: dict[str, Any]) -> None:
    with pytest.raises(cu.InvalidQuestion) as caught:
        cu.parse_where(each["text"])
    first, text, mark = str(caught.value).split("\n")
    assert first == each["says"]
    assert mark.strip() == "^" and len(mark) <= len(text) + 1


VALUES = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=12)
NAMES = VALUES.filter(bool)
CONDITIONS = st.one_of(
    st.builds(lambda name, values: cu.col(name).isin(values), NAMES, st.lists(VALUES, min_size=1, max_size=4)),
    st.builds(lambda name, low, high: cu.col(name).between(low, high), NAMES, VALUES, VALUES),
    st.builds(lambda name, low, high: cu.col(name).between(low, high, inclusive="left"), NAMES, VALUES, VALUES),
    st.builds(lambda name, low: cu.col(name) >= low, NAMES, VALUES),
    st.builds(lambda name, high: cu.col(name) < high, NAMES, VALUES),
    st.builds(lambda name, low: cu.col(name) > low, NAMES, VALUES),
    st.builds(lambda name, value: cu.col(name) != value, NAMES, VALUES),
    st.builds(lambda name: cu.col(name).is_missing(), NAMES),
)
TREES: st.SearchStrategy[cu.Conditions] = st.recursive(
    CONDITIONS.map(lambda condition: cu.Conditions((condition,))),
    lambda trees: st.one_of(
        st.builds(lambda one, other: one & other, trees, trees),
        st.builds(lambda one, other: one | other, trees, trees),
        st.builds(lambda one: ~one, trees),
    ),
    max_leaves=6,
)


@given(st.lists(CONDITIONS, min_size=1, max_size=5))
def test_what_was_built_is_read_back_from_its_text(conditions: list[cu.Condition]) -> None:
    all_of = cu.Conditions(tuple(conditions))
    assert cu.parse_where(str(all_of)) == all_of


def levels_of(tree: cu.Conditions) -> int:
    """Parentheses and "not"s inside of each other, at most."""
    deepest = 0
    for term in tree.all_of:
        if isinstance(term, cu.AnyOf):
            deepest = max(deepest, 1 + max(levels_of(each) for each in term.operands))
        elif isinstance(term, cu.Not):
            deepest = max(deepest, 2 + levels_of(term.operand))
    return deepest


@given(TREES)
def test_a_tree_that_was_built_is_read_back_from_its_text(tree: cu.Conditions) -> None:
    if levels_of(tree) <= 16:
        assert cu.parse_where(str(tree)) == tree


def test_thresholds_are_read() -> None:
    read = cu.parse_thresholds("at least 1,2 of each 3 of (age >= 65, smoker = yes, zone in {1,2}, sex = f)")
    assert (read.at_least, read.each, len(read.conditions)) == ((1, 2), 3, 4)
    assert cu.parse_thresholds(str(read)) == read
    for text in ("", "2 of (a = 1)", "at least of (a = 1)", "at least -1 of (a = 1)", "at least 2 of (a = 1", "at least 2 of (a = 1) b"):
        with pytest.raises(cu.InvalidQuestion):
            cu.parse_thresholds(text)
    compared = cu.parse_thresholds("at least 2 of (age > 65, sex != f, zone in (1, 2), weight is missing)")
    assert compared.conditions == (cu.col("age") > 65, cu.col("sex") != "f", cu.col("zone").isin([1, 2]), cu.col("weight").is_missing())
    for text in ("not a = 1", "a not in {1}", "a is not missing", "a = 1 or b = 2"):
        with pytest.raises(cu.InvalidQuestion):
            cu.parse_thresholds(f"at least 1 of ({text})")


SCHEMA = cu.Schema(
    json_format.ParseDict(
        {
            "attributes": [
                {"name": "age", "integer": {"min": 17, "max": 90, "binWidth": 5}},
                {"name": "income", "numeric": {"edges": [0, 1000, 20000]}},
                {"name": "rate", "numeric": {"min": 0, "max": 0.3, "step": 0.1}},
                {"name": "sex", "categorical": {"values": ["f", "m"], "catchAll": "other"}},
            ]
        },
        schema_pb2.Schema(),
    )
)


def test_ends_are_those_that_bins_can_mean() -> None:
    for text in ("age in [30,40] and income in [0,1000)", "income in [1000,20000]", "elsewhere in [1,2)"):
        cu.parse_where(text).check(SCHEMA)
    with pytest.raises(cu.InvalidQuestion, match="age.*']'"):
        cu.parse_where("age in [30,40)").check(SCHEMA)
    with pytest.raises(cu.InvalidQuestion, match=r"income.*1000\)"):
        cu.parse_where("income <= 1000").check(SCHEMA)


def test_the_bins_of_a_condition_are_those_that_it_holds_whole() -> None:
    def bins(text: str) -> list[int]:
        return cu.parse_where(text).all_of[0].bins(SCHEMA)

    assert bins("age in [22,31]") == [1, 2]
    assert bins("age >= 87") == [14]
    assert bins("income < 1000") == [0]
    assert bins("income in [1000,20000]") == [1]
    assert bins("rate in [0.1,0.3]") == [1, 2]
    assert bins("sex in {other,f}") == [0, 2]
    for text in ("age in [22,30]", "age in [23,31]", "income in [10,1000)", "age = 22", "sex = x", "age >= 99"):
        with pytest.raises(cu.CuratorError):
            bins(text)


def test_values_are_texts_and_numbers() -> None:
    assert str(cu.col("rate").between(0.1, 0.25)) == "rate in [0.1,0.25]"
    assert str(cu.col("zone").isin([1, 2.0])) == "zone in {1, 2}"
    for value in (True, None, [1]):
        with pytest.raises(cu.InvalidQuestion):
            cu.col("zone").isin([value])  # type: ignore[list-item]
    assert str(cu.col("zone") != 1) == "zone != 1"


MISSING = cu.Schema(
    json_format.ParseDict(
        {
            "attributes": [
                {"name": "age", "integer": {"min": 0, "max": 9}, "missing": {"bin": "unknown"}},
                {"name": "grade", "categorical": {"values": ["low", "mid", "high"], "catchAll": "other", "ordered": True}},
                {"name": "zone", "coded": {"size": 3}},
            ]
        },
        schema_pb2.Schema(),
    )
)


def test_below_an_integer_or_an_ordered_category_is_a_comparison() -> None:
    less = workload_pb2.Comparison.LESS
    for text in ("age < 4", "grade < high"):
        wire = cu.parse_where(text).checked(MISSING).to_wire().all_of[0]
        assert (wire.compare.operator, wire.HasField("between")) == (less, False)
    with pytest.raises(cu.InvalidQuestion, match="zone.*'<='"):
        cu.parse_where("age is missing or not (zone < 2)").check(MISSING)


def test_the_bins_of_conditions_that_are_joined_follow_three_valued_logic() -> None:
    def bins(text: str) -> list[int]:
        return sorted(cu.parse_where(text).truth(MISSING).true)

    assert bins("age > 7") == [8, 9]
    assert bins("age < 2") == [0, 1]
    assert bins("age != 0 and age < 3") == [1, 2]
    assert bins("not (age > 7)") == list(range(8)), "of a missing value neither is true"
    assert bins("age > 7 or not age > 7") == list(range(10))
    assert bins("age > 7 or age is missing") == [8, 9, 10]
    assert bins("age is not missing") == list(range(10))
    assert bins("age not in {3, unknown}") == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    assert bins("not (age != unknown)") == [10]
    assert bins("grade < high") == [0, 1]
    assert bins("not (grade < high)") == [2], "the catch-all is in no order"
    assert bins("grade != low") == [1, 2, 3]
    for text in ("zone > 1", "zone is missing", "age > 9", "grade < low"):
        with pytest.raises(cu.InvalidQuestion):
            bins(text)

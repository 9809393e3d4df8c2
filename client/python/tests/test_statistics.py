"""Statistics ask what was written, and their answers are numbers with the intervals that were sent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

import curator_dp as cu
from curator_dp._quotes import Quote
from curator_dp._wire.curator.v1 import dataset_pb2, query_pb2, schema_pb2

_SCHEMA = {
    "attributes": [
        {"name": "region", "categorical": {"values": ["north", "south", "<i>islands</i>"]}},
        {"name": "statistic", "coded": {"size": 2}},
    ],
    "measures": [{"name": "income", "low": 0, "high": 200000, "resolution": 1}, {"name": "income tax", "high": 1, "resolution": 1}],
}
INFINITY = math.inf


def schema() -> schema_pb2.Schema:
    parsed: schema_pb2.Schema = json_format.ParseDict(_SCHEMA, schema_pb2.Schema())
    return parsed


@pytest.fixture
def people() -> cu.Dataset:
    """A dataset that no server has: questions of it can be made, and not asked."""
    nobody: Any = None
    return cu.Dataset(nobody, dataset_pb2.Dataset(name="people", schema=schema()))


Row = tuple[Sequence[str], float, float, float]
BY_REGION: list[Row] = [
    (("north", "count"), 1204, 1190, 1218),
    (("north", "mean(income)"), 51204.25, 50871, 51537),
    (("south", "count"), 310, 296, 324),
    (("south", "mean(income)"), 42.5, 0, INFINITY),
    (("<i>islands</i>", "count"), -3, -17, 11),
    (("<i>islands</i>", "mean(income)"), math.nan, -INFINITY, INFINITY),
]


def chunks_of(columns: Sequence[str], rows: Sequence[Row], processed: str = "") -> list[query_pb2.AnswerChunk]:
    """The stream of one set of statistics, its answers in two slices."""
    header = query_pb2.AnswerHeader(query_set_count=1, confidence_level=0.9, post_processing=processed)
    table = query_pb2.QuerySetHeader(query_class="statistics", columns=columns, answer_count=len(rows))
    chunks = [query_pb2.AnswerChunk(header=header), query_pb2.AnswerChunk(query_set=table)]
    for begin in (0, 1):
        part = rows[:1] if begin == 0 else rows[1:]
        chunks.append(
            query_pb2.AnswerChunk(
                answers=query_pb2.AnswerSlice(
                    offset=begin,
                    estimates=[row[1] for row in part],
                    standard_deviations=[7.0] * len(part),
                    labels=[label for row in part for label in row[0]],
                    interval_lows=[row[2] for row in part],
                    interval_highs=[row[3] for row in part],
                )
            )
        )
    return chunks


def answer_of(columns: Sequence[str] = ("region", "statistic"), rows: Sequence[Row] = tuple(BY_REGION), processed: str = "") -> cu.Answer:
    return cu.Answer(chunks_of(columns, rows, processed), schema(), "people", None)


def test_statistics_become_one_set_of_a_request(people: cu.Dataset) -> None:
    question = people.statistics(
        ["count", "count(income)", "sum(income)", "mean(income)", "variance(income)", "median(income)", "quantile(income, 0.250)"],
        by=["region", "statistic"],
        where="region in {north, south}",
    )
    sent = question.to_wire().query_sets[0].statistics
    assert [json_format.MessageToDict(each) for each in sent.statistics] == [
        {"count": {}},
        {"count": {"of": "income"}},
        {"sum": "income"},
        {"mean": "income"},
        {"variance": "income"},
        {"median": "income"},
        {"quantiles": {"of": "income", "at": ["0.25"]}},
    ]
    assert list(sent.by) == ["region", "statistic"]
    assert len(sent.where.all_of) == 1
    assert people.distinct_units().to_wire().query_sets[0].statistics.statistics[0].HasField("distinct_units")


def test_statistics_of_the_same_groups_are_measured_together(people: cu.Dataset) -> None:
    both = people.count(by="region") + people.mean("income", by="region") + people.count(by="region")
    assert both == people.statistics(["count", "mean(income)"], by="region")
    apart = people.count(by="region") + people.mean("income")
    assert len(apart.to_wire().query_sets) == 2
    other_records = people.mean("income") + people.mean("income", where="region = north")
    assert len(other_records.to_wire().query_sets) == 2
    mixed = people.marginals("region") + people.mean("income", by="region")
    assert [each.WhichOneof("queries") for each in mixed.to_wire().query_sets] == ["marginals", "statistics"]


def test_conditions_that_are_added_hold_as_well(people: cu.Dataset) -> None:
    question = people.mean("income", where="region = north").where("statistic = 1")
    assert len(question.to_wire().query_sets[0].statistics.where.all_of) == 2


def test_quantiles_alone_can_be_measured_in_two_ways(people: cu.Dataset) -> None:
    question = people.quantiles("income", [0.25, "0.5", np.float64(0.75)]) + people.marginals("region")
    selected = question.measured(strategy="selection").to_wire()
    assert [each.strategy for each in selected.query_sets] == [4, 0]
    assert [each.strategy for each in people.mean("income").measured(strategy="tree").to_wire().query_sets] == [0]
    with pytest.raises(cu.InvalidQuestion, match="is of medians and quantiles"):
        people.mean("income").measured(strategy="selection").to_wire()


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda d: d.statistics([]), "give at least one"),
        (lambda d: d.statistics("average(income)"), "'average' is none of count"),
        (lambda d: d.statistics("mean"), "no statistic, such as"),
        (lambda d: d.statistics("mean()"), "of a measure"),
        (lambda d: d.statistics("quantile(income)"), "has a share"),
        (lambda d: d.statistics(7), "a list of statistics"),
        (lambda d: d.statistics([7]), "give at least one"),
        (lambda d: d.mean(""), "of a measure"),
        (lambda d: d.quantiles("income", []), "give at least one"),
        (lambda d: d.quantiles("income", 1), "no decimal between 0 and 1"),
        (lambda d: d.quantiles("income", [0.2505]), "at most three digits"),
        (lambda d: d.quantiles("income", "half"), "no decimal"),
        (lambda d: d.quantiles("income", float("nan")), "no decimal"),
        (lambda d: d.count("region = north", where="region = north"), "either conditions"),
        (lambda d: d.mean("income", by="nope").to_wire(), "there is no column 'nope'"),
    ],
)
def test_statistics_that_cannot_be_meant_are_refused(people: cu.Dataset, make: Any, says: str) -> None:
    with pytest.raises(cu.InvalidQuestion, match=says):
        make(people)


def test_answers_are_tidy_or_have_a_row_for_each_group() -> None:
    answer = answer_of()
    tidy = answer.to_frame()
    assert list(tidy.columns) == ["query", "region", "statistic", "value", "std", "low", "high"]
    assert len(tidy) == 6
    assert math.isnan(tidy["value"].iloc[5])
    assert tidy["low"].iloc[5] == -INFINITY and tidy["high"].iloc[3] == INFINITY
    wide = answer.to_frame(wide=True)
    assert list(wide.columns) == [
        "region",
        *("count", "count low", "count high"),
        *("mean(income)", "mean(income) low", "mean(income) high"),
    ]
    assert wide["region"].to_list() == ["north", "south", "<i>islands</i>"]
    assert wide["mean(income)"].to_list()[:2] == [51204.25, 42.5]
    assert wide["mean(income) high"].to_list() == [51537, INFINITY, INFINITY]
    assert answer["region"].confidence == 0.9
    assert answer["region"].half_width is None
    assert answer["region"].clipped == ("income clipped to 0..200000",)


def test_statistics_of_all_records_are_one_row() -> None:
    answer = answer_of(("statistic",), [(("median(income)",), 5, 4, 6), (("quantile(income, 0.9)",), 9, 8, 12)])
    wide = answer.to_frame(wide=True)
    assert wide.shape == (1, 6)
    assert wide["quantile(income, 0.9) high"].to_list() == [12]


def test_a_column_that_is_called_statistic_keeps_its_labels() -> None:
    rows: list[Row] = [(("0", "count"), 1, 0, 2), (("1", "count"), 3, 2, 4)]
    answer = answer_of(("statistic", "statistic"), rows)
    assert list(answer.to_frame().columns)[1:3] == ["statistic", "statistic (asked)"]
    assert answer.to_frame(wide=True)["statistic"].to_list() == ["0", "1"]


def test_post_processed_statistics_have_no_intervals() -> None:
    table = answer_of(processed="integer").tables[0]
    assert table.low is None and table.std is None and table.confidence == 0
    assert list(table.to_frame(wide=True).columns) == ["region", "count", "mean(income)"]


def _changed(change: Any) -> list[query_pb2.AnswerChunk]:
    chunks = chunks_of(("region", "statistic"), BY_REGION)
    change(chunks)
    return chunks


@pytest.mark.parametrize(
    "change",
    [
        lambda chunks: chunks[3].answers.interval_highs.pop(),
        lambda chunks: chunks[2].answers.ClearField("interval_lows"),
        lambda chunks: chunks[3].answers.interval_lows.__setitem__(0, math.nan),
        lambda chunks: chunks[3].answers.interval_lows.__setitem__(0, 1e9),
        lambda chunks: (chunks[2].answers.ClearField("interval_lows"), chunks[2].answers.ClearField("interval_highs")),
        lambda chunks: chunks[3].answers.labels.__setitem__(-1, "sum(income)"),
        lambda chunks: chunks[3].answers.labels.__setitem__(-2, "south"),
        lambda chunks: chunks[1].query_set.ClearField("columns"),
    ],
    ids=["an end", "lower ends", "no number", "wrong way", "of some", "other statistic", "other group", "no columns"],
)
def test_a_stream_whose_parts_do_not_fit_is_refused(change: Any) -> None:
    with pytest.raises(cu.IncompleteAnswer):
        cu.Answer(_changed(change), schema(), "people", None)


def test_a_saved_answer_keeps_what_is_no_number(tmp_path: Path) -> None:
    answer = answer_of()
    answer.save(tmp_path / "a.curator")
    assert cu.load(tmp_path / "a.curator").to_frame().equals(answer.to_frame())


def quote_of(question: cu.Question) -> Quote:
    forecasts = [
        {"statistic": "count", "unit": "RECORDS", "confidence_half_width": 6, "groups": 3},
        {"statistic": "mean(income)", "unit": "VALUE_TIMES_RECORDS", "confidence_half_width": 2e6, "standard_deviation": 1e6, "groups": 3},
    ]
    wire = {
        "spend": {"rho": "1"},
        "statistics": forecasts,
        "query_sets": [{"query_set": 0, "answers": 6}],
        "choices": [{"spend": {"rho": "0.5"}, "statistics": forecasts}],
        "fits": True,
    }
    return Quote(question, None, json_format.ParseDict(wire, query_pb2.EstimateWorkloadResponse()))


def test_a_quote_says_what_the_error_of_a_mean_is_divided_by(people: cu.Dataset) -> None:
    quote = quote_of(people.statistics(["count", "mean(income)"], by="region"))
    assert quote.numbers == 6 and quote.errors == ()
    count, mean = quote.forecasts
    assert (count.unit, count.half_width, count.at(5)) == ("records", 6, count)
    assert (mean.unit, mean.is_per_record) == ("value x records", True)
    assert (mean.at(10000).half_width, mean.at(10000).std, mean.at(10000).unit) == (200, 100, "value")
    assert quote.to_frame()["unit"].to_list() == ["records", "value x records"]
    assert quote.choices[0].forecasts == quote.forecasts
    assert "2,000,000 / records in the group" in quote._repr_html_()
    assert "all errors within" not in repr(quote) + repr(quote.choices[0])
    assert "mean(income) within ±2,000,000 / records in the group" in repr(quote)
    with pytest.raises(cu.InvalidQuestion):
        mean.at(0)


def test_notebooks_show_a_row_for_each_group_and_escape_it() -> None:
    shown = answer_of()._repr_html_()
    assert "51,204 [50,871, 51,537]" in shown
    assert "42.5 [0, unbounded]" in shown and ">none<" in shown
    assert "income clipped to 0..200000" in shown
    assert "<i>" not in shown and "&lt;i&gt;islands" in shown


def test_plots_draw_each_statistic_with_its_bars() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    count, mean = answer_of().plot()
    assert count.get_title() == "count by region"
    assert mean.get_ylabel() == "mean(income)\nincome clipped to 0..200000\n90% intervals"
    assert count.get_ylabel() == "count\n90% intervals"
    assert all(math.isfinite(end) for end in mean.get_ylim())
    assert answer_of().plot("region")[0].get_xlabel() == "region"
    one = answer_of(("statistic",), [(("median(income)",), 5, 4, 6)])
    assert one.plot().get_title() == "median(income)"
    pyplot.close("all")


def test_the_names_of_statistics_read_as_what_they_are_the_names_of() -> None:
    for text in ("count", "count(a, b)", "mean(a(b))", "quantile(a, b, 0.25)", "distinct units"):
        assert str(cu.Statistic.parse(text)) == text

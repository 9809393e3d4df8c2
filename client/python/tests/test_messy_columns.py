"""Dates, ordered categories and missing values: their bins, labels and conditions are those of the server."""

from __future__ import annotations

import csv
import datetime
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from google.protobuf import json_format

import curator_dp as cu
from curator_dp._synthesis import frame_of_csv
from curator_dp._wire.curator.v1 import schema_pb2
from testing.server import Server

COLUMNS: list[dict[str, Any]] = [
    {"name": "visit", "date": {"from": "2019-01-15", "to": "2019-12-31", "bins": "QUARTER"}, "missing": {"bin": "unknown"}},
    {"name": "pain", "categorical": {"values": ["none", "low", "high"], "catchAll": "other", "ordered": True}, "missing": {"bin": "?"}},
    {"name": "age", "integer": {"min": 0, "max": 59, "binWidth": 20}, "missing": {"bin": "not asked"}},
    {"name": "income", "numeric": {"edges": [0, 1000, 9000]}, "missing": {"bin": "refused"}},
    {"name": "shift", "date": {"edges": ["2019-01-01", "2019-06-01T06:00:00", "2020-01-01"]}},
    {"name": "sex", "categorical": {"values": ["f", "m"], "catchAll": "x"}},
]


def schema_of(*columns: dict[str, Any]) -> cu.Schema:
    return cu.Schema(json_format.ParseDict({"attributes": list(columns)}, schema_pb2.Schema()))


SCHEMA = schema_of(*COLUMNS)


def dates(**wire: Any) -> Any:
    return schema_of({"name": "visit", "date": wire})["visit"]


@pytest.mark.parametrize(
    "begin, end, bins, labels",
    [
        ("2018-12-31", "2019-01-07", "WEEK", ["2019-W01", "2019-W02"]),
        ("2020-12-31", "2021-01-04", "WEEK", ["2020-W53", "2021-W01"]),
        ("1969-12-30", "1970-01-04", "WEEK", ["1970-W01"]),
        ("1969-11-05", "1970-02-01", "MONTH", ["1969-11", "1969-12", "1970-01", "1970-02"]),
        ("1969-11-05", "1970-04-01", "QUARTER", ["1969-Q4", "1970-Q1", "1970-Q2"]),
        ("2019-02-28", "2019-03-01T00:00:01", "DAY", ["2019-02-28", "2019-03-01"]),
        ("2019-02-28", "2019-03-01T00:00:00", "DAY", ["2019-02-28"]),
        ("0001-01-01", "0002-12-31", "YEAR", ["0001", "0002"]),
        ("9998-07-01", "9999-12-31", "YEAR", ["9998", "9999"]),
    ],
)
def test_periods_of_dates_have_labels_of_iso_8601(begin: str, end: str, bins: str, labels: list[str]) -> None:
    column = dates(**{"from": begin, "to": end, "bins": bins})
    assert column.labels == labels
    assert column.size == column.run_size == len(labels)
    assert column.value_range(len(labels) - 1)[1] == ("2019-02-28" if end.endswith("T00:00:00") else end)


def test_the_bin_of_missing_values_is_the_last_one_and_in_no_run() -> None:
    assert SCHEMA["visit"].labels == ["2019-Q1", "2019-Q2", "2019-Q3", "2019-Q4", "unknown"]
    assert [(each.size, each.run_size) for each in SCHEMA.attributes] == [(5, 4), (5, 3), (4, 3), (3, 2), (2, 2), (3, 3)]
    assert SCHEMA["pain"].ends == ["none", "low", "high"]
    assert SCHEMA["visit"].ends[0] == "2019-03-31"
    assert SCHEMA["shift"].ends[0] == "2019-06-01T06:00:00"


def test_bins_of_dates_are_intervals_of_pandas() -> None:
    intervals = SCHEMA["visit"].intervals()
    assert intervals is not None and len(intervals) == 4
    assert intervals[0] == pd.Interval(pd.Timestamp("2019-01-15"), pd.Timestamp("2019-04-01"), closed="left")
    assert dates(**{"from": "0001-01-01", "to": "0002-12-31", "bins": "YEAR"}).intervals() is None


def bins(text: str) -> list[int]:
    return cu.parse_where(text).all_of[0].bins(SCHEMA)


@pytest.mark.parametrize(
    "text, codes",
    [
        ("visit in [2019-01-15,2019-06-30]", [0, 1]),
        ("visit in [2019-Q2,2019-Q3]", [1, 2]),
        ("visit >= 2019-04-01", [1, 2, 3]),
        ("visit <= 2019-Q2", [0, 1]),
        ("visit < 2019-Q2", [0]),
        ("visit < 2019-07-01", [0, 1]),
        ("visit < ' 2019-07-01 '", [0, 1]),
        ("visit < 2019-07-01T00:00:00", [0, 1]),
        ("visit = unknown", [4]),
        ("visit in {unknown,2019-Q1}", [0, 4]),
        ("visit in [,]", [0, 1, 2, 3]),
        ("shift < 2019-06-01T06:00:00", [0]),
        ("pain >= low", [1, 2]),
        ("pain in [,]", [0, 1, 2]),
        ("pain in {other,'?'}", [3, 4]),
        ("age >= 20", [1, 2]),
        ("age = 'not asked'", [3]),
        ("income in [,1000)", [0]),
        ("income in [,]", [0, 1]),
        ("sex >= m", [1, 2]),
    ],
)
def test_conditions_have_whole_bins(text: str, codes: list[int]) -> None:
    assert bins(text) == codes


@pytest.mark.parametrize(
    "text",
    [
        "visit >= 2019-04-02", "visit <= 2019-07-01", "visit < 2019-06-30", "visit <= 2019-07-01T00:00:00", "visit = 2019-04-01",
        "visit >= unknown", "visit <= unknown", "visit < unknown", "visit < 2019-01-15", "visit >= 2020-01-01", "visit >= spring",
        "pain <= other", "pain in [low,'?']", "age <= 'not asked'", "income < refused", "age in [20,40)", "pain in [low,high)", "pain < other",
    ],
)  # fmt: skip
def test_conditions_that_cut_a_bin_or_end_in_no_order_are_refused(text: str) -> None:
    with pytest.raises(cu.InvalidQuestion):
        bins(text)


def test_a_condition_before_the_first_value_says_so() -> None:
    with pytest.raises(cu.InvalidQuestion, match="income holds for no value: the first one is 0"):
        bins("income < 0")


def test_dates_of_python_are_values() -> None:
    visit = cu.col("visit")
    for day in (datetime.date(2019, 4, 1), datetime.datetime(2019, 4, 1), pd.Timestamp("2019-04-01"), np.datetime64("2019-04-01")):
        assert str(visit >= day) == "visit in [2019-04-01,]"
    assert str(visit < pd.Timestamp("2019-04-01 06:00")) == "visit in [,2019-04-01T06:00:00)"
    assert (visit.between(datetime.date(2019, 4, 1), datetime.date(2019, 6, 30))).bins(SCHEMA) == [1]
    utc = datetime.timezone.utc
    for wrong in (datetime.datetime(2019, 4, 1, tzinfo=utc), pd.NaT, np.datetime64("NaT"), pd.Timestamp("2019-04-01 00:00:00.5")):
        with pytest.raises(cu.InvalidQuestion):
            visit >= wrong


def test_missing_values_of_synthetic_records_are_those_of_pandas() -> None:
    table = b"visit,pain,age,income,shift,sex\n2019-02-03,low,7,,2019-01-01,f\n,,,5.5,2019-06-01T07:00:00,x\n"
    frame = frame_of_csv(table, SCHEMA, as_bins=False)
    assert [str(each) for each in frame.dtypes] == ["datetime64[ns]", "category", "Int64", "float64", "datetime64[ns]", "category"]
    assert frame["visit"][0] == pd.Timestamp("2019-02-03") and frame["shift"][1] == pd.Timestamp("2019-06-01 07:00")
    assert [list(frame[name].isna()) for name in frame] == [[False, True]] * 3 + [[True, False]] + [[False, False]] * 2
    assert list(frame_of_csv(b"age\n7\n\n\n8\n", SCHEMA, as_bins=False)["age"].isna()) == [False, True, True, False]
    bins_of_age = frame_of_csv(b"age\nnot asked\n\"[0, 20)\"\n", SCHEMA, as_bins=True)["age"]
    assert list(bins_of_age.cat.codes) == [3, 0]


# ---- The same against a server


PERIODS: list[dict[str, Any]] = [
    {"name": bins.lower(), "date": {"from": begin, "to": end, "bins": bins}}
    for bins, begin, end in (
        ("DAY", "2020-02-27", "2020-03-02T06:00:00"),
        ("WEEK", "2018-12-27", "2021-01-12"),
        ("MONTH", "1969-11-05", "1970-03-01"),
        ("QUARTER", "1969-11-05", "1970-06-30T12:00:00"),
        ("YEAR", "0099-05-05", "0101-01-01"),
    )
]


ROWS = [
    ("2019-02-03", "low", "7", "10", "2019-01-01", "f"),
    ("2019-05-03", "other things", "25", "NA", "2019-06-01T06:00:00", "m"),
    ("", "?", "", "8999.5", "2019-12-31", "who"),
    ("2019-12-31", "HIGH", "59", "1000", "2019-05-01", "f"),
    ("2019-03-31", "high", "20", "", "2019-06-01T05:59:59", "m"),
]


@pytest.fixture(scope="module")
def clinic_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """So large a budget that almost no noise is left."""
    with Server(tmp_path_factory.mktemp("clinic")) as server:
        schema, table = server.folder / "schema.json", server.folder / "clinic.csv"
        schema.write_text(json.dumps({"attributes": COLUMNS}))
        table.write_text("".join(",".join(row) + "\n" for row in [[each["name"] for each in COLUMNS], *ROWS]))
        server.curator("owner", "dataset", "create", "clinic", "--schema", str(schema), "--rule", "pure", "--epsilon", "100000")
        server.curator("owner", "dataset", "import", "clinic", str(table))
        server.curator("owner", "dataset", "seal", "clinic")
        server.curator("owner", "dataset", "grant", "clinic", "ana")
        yield server


@pytest.fixture(scope="module")
def clinic(clinic_server: Server) -> Iterator[cu.Dataset]:
    with clinic_server.client() as client:
        yield client["clinic"]


@pytest.fixture(scope="module")
def periods(tmp_path_factory: pytest.TempPathFactory) -> Iterator[cu.Dataset]:
    with Server(tmp_path_factory.mktemp("periods")) as server:
        schema, table = server.folder / "schema.json", server.folder / "periods.csv"
        schema.write_text(json.dumps({"attributes": PERIODS}))
        table.write_text("day,week,month,quarter,year\n2020-02-29,2019-12-30,1970-01-01,1970-01-01,0100-01-01\n")
        server.curator("owner", "dataset", "create", "periods", "--schema", str(schema), "--rule", "pure", "--epsilon", "100000")
        server.curator("owner", "dataset", "import", "periods", str(table))
        server.curator("owner", "dataset", "seal", "periods")
        server.curator("owner", "dataset", "grant", "periods", "ana")
        with server.client() as client:
            yield client["periods"]


def counts(dataset: cu.Dataset, question: cu.Question) -> dict[Any, int]:
    """By label, of a question of one column."""
    table = question.answer(epsilon=1000).tables[0]
    labels = table.label_columns()[table.columns[-1]]
    return {label: round(float(value)) for label, value in zip(labels, table.values)}


def test_marginals_have_the_labels_of_the_schema(clinic: cu.Dataset) -> None:
    assert counts(clinic, clinic.marginals("visit")) == {"2019-Q1": 2, "2019-Q2": 1, "2019-Q3": 0, "2019-Q4": 1, "unknown": 1}
    assert counts(clinic, clinic.marginals("pain")) == {"none": 0, "low": 1, "high": 1, "other": 2, "?": 1}
    assert counts(clinic, clinic.marginals("age")) == {"[0, 20)": 1, "[20, 40)": 2, "[40, 59]": 1, "not asked": 1}
    assert counts(clinic, clinic.marginals("income")) == {"[0, 1000)": 1, "[1000, 9000]": 2, "refused": 2}
    assert counts(clinic, clinic.marginals("shift")) == {
        "[2019-01-01, 2019-06-01T06:00:00)": 3, "[2019-06-01T06:00:00, 2020-01-01)": 2,
    }  # fmt: skip


@pytest.mark.parametrize("column", ["visit", "pain", "age", "income", "shift", "sex"])
def test_prefixes_and_their_labels_are_those_of_the_server(clinic: cu.Dataset, column: str) -> None:
    of_server = counts(clinic, clinic.prefixes(column))
    attribute = clinic.schema[column]
    assert list(of_server) == [attribute.prefix_label(code) for code in range(attribute.run_size)]
    # With a condition on another column the client makes the predicates and the labels itself.
    assert counts(clinic, clinic.prefixes(column).where("sex in {f,m,x}" if column != "sex" else "visit in [,]")).keys() == of_server.keys()


@pytest.mark.parametrize("column", [each["name"] for each in PERIODS])
def test_labels_of_periods_are_those_of_the_server(periods: cu.Dataset, column: str) -> None:
    attribute = periods.schema[column]
    ranges = counts(periods, periods.ranges(column))
    assert len(ranges) == attribute.size * (attribute.size + 1) // 2
    assert [label for label in ranges if ".." not in label] == attribute.labels
    code = list(counts(periods, periods.marginals(column)).values()).index(1)
    expected = {"day": "2020-02-29", "week": "2020-W01", "month": "1970-01", "quarter": "1970-Q1", "year": "0100"}
    assert attribute.labels[code] == expected[column]
    # The ends that the client writes are ends of bins for the server, too.
    ends = [attribute.value_range(other) for other in range(attribute.size)]
    wheres = [(cu.col(column) >= begin) & (cu.col(column) < end if "T" in end else cu.col(column) <= end) for begin, end in ends]
    values = periods.count(*wheres).answer(epsilon=1000).tables[0].values
    assert [round(float(value)) for value in values] == [int(other == code) for other in range(attribute.size)]


def test_the_command_line_reads_conditions_alike_and_has_the_same_labels(clinic_server: Server, clinic: cu.Dataset) -> None:
    def rows(*options: str) -> list[dict[str, str]]:
        answered = clinic_server.curator("ana", "--output", "csv", "workload", "answer", "clinic", "--epsilon", "1000", *options)
        return list(csv.DictReader(io.StringIO(answered)))

    wheres = ["visit < 2019-07-01", "visit <= 2019-06-30", "visit < 2019-Q3", "visit in {2019-Q1,unknown}", "pain >= low", "shift < 2019-06-01T06:00"]
    answered = rows(*(option for where in wheres for option in ("--where", where)))
    values = clinic.count(*wheres).answer(epsilon=1000).tables[0].values
    assert [round(float(row["estimate"])) for row in answered] == [round(float(value)) for value in values]
    marginals = rows("--marginals", "1")
    for column in clinic.schema.names:
        assert [row[column] for row in marginals if row["query"] == column] == clinic.schema[column].labels
        assert [row[column] for row in rows("--prefixes", column)] == list(counts(clinic, clinic.prefixes(column)))
    shown = clinic_server.curator("ana", "dataset", "show", "clinic")
    assert 'date, 2019-01-15 to 2019-12-31 by quarter; missing values are "unknown"' in shown
    assert 'categorical, 3 values in order and "other"; missing values are "?"' in shown


def test_ranges_leave_missing_values_out(clinic: cu.Dataset) -> None:
    ranges = counts(clinic, clinic.ranges("visit"))
    assert len(ranges) == 4 * 5 // 2
    assert ranges["2019-Q1 .. 2019-Q4"] == 4
    assert len(counts(clinic, clinic.ranges("pain"))) == 3 * 4 // 2
    assert len(counts(clinic, clinic.ranges("sex"))) == 3 * 4 // 2


@pytest.mark.parametrize(
    "where",
    [
        "visit <= 2019-Q2", "visit < 2019-Q2", "visit < 2019-07-01", "visit < 2019-07-01T00:00:00", "visit >= 2019-04-01", "visit = unknown",
        "visit in [2019-01-15,2019-03-31]", "visit in {2019-Q1,unknown}", "visit in [,]", "shift < 2019-06-01T06:00:00", "pain >= low",
        "pain = other", "pain in [,]", "age >= 20", "age in {'not asked','[0, 20)'}", "income in [,1000)", "income = refused", "income in [,]",
    ],
)  # fmt: skip
def test_a_condition_counts_the_bins_that_the_client_finds(clinic: cu.Dataset, where: str) -> None:
    condition = cu.parse_where(where).all_of[0]
    marginal = list(counts(clinic, clinic.marginals(condition.column)).values())
    expected = sum(marginal[code] for code in condition.bins(clinic.schema))
    assert list(counts(clinic, clinic.count(where)).values()) == [expected]
    assert sum(counts(clinic, clinic.marginals(condition.column).where(where)).values()) == expected


@pytest.mark.parametrize("where", ["visit >= 2019-04-02", "visit <= 2019-07-01", "visit <= unknown", "visit < 2019-01-15", "pain <= other"])
def test_what_the_client_refuses_the_server_refuses(clinic: cu.Dataset, where: str) -> None:
    with pytest.raises(cu.InvalidQuestion):
        clinic.count(where).quote(epsilon=1)


def test_bins_as_intervals_of_pandas_leave_missing_values_out(clinic: cu.Dataset) -> None:
    frame = clinic.marginals("visit").answer(epsilon=1).to_frame(as_intervals=True)
    assert frame["visit"][3] == pd.Interval(pd.Timestamp("2019-10-01"), pd.Timestamp("2020-01-01"), closed="left")
    assert list(frame["visit"].isna()) == [False] * 4 + [True]


def test_synthetic_records_have_dates_and_missing_values(clinic: cu.Dataset) -> None:
    model = clinic.synthesize("mwem", epsilon=1000, rounds=3).wait(progress=False)
    as_bins = model.sample(500, as_bins=True)
    assert all(list(as_bins[name].cat.categories) == clinic.schema[name].labels for name in clinic.schema.names)
    assert as_bins.shape == (500, 6)
    values = model.sample(500)
    for name in ("visit", "age", "income", "pain"):
        attribute = clinic.schema[name]
        assert (as_bins[name] == attribute.missing).any() and values[name].isna().any(), name
    for name in ("visit", "age", "income", "shift"):
        intervals, known = clinic.schema[name].intervals(), values[name].dropna()
        assert intervals is not None
        assert (intervals.get_indexer(known.astype("int64") if name == "age" else known) >= 0).all() and len(known) > 0

"""Measures are shown beside the columns with bins."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format

import curator_dp as cu
from curator_dp import _html
from curator_dp._wire.curator.v1 import dataset_pb2, schema_pb2

_ATTRIBUTES = [{"name": "sex", "categorical": {"values": ["f", "m"]}}]
_MEASURES = [
    {"name": "income", "low": 0, "high": 200000, "resolution": 100},
    {"name": "<b>", "low": -0.5, "high": 0.5, "resolution": 0.1},
]


def dataset(**schema: object) -> cu.Dataset:
    """One that no server has."""
    nobody: Any = None
    parsed = json_format.ParseDict(schema, schema_pb2.Schema())
    return cu.Dataset(nobody, dataset_pb2.Dataset(name="people", owner="olga", state="DATASET_STATE_SEALED", schema=parsed))


def test_a_dataset_says_how_many_measures_it_has() -> None:
    assert "1 column, 2 measures" in repr(dataset(attributes=_ATTRIBUTES, measures=_MEASURES))
    assert "measures" not in repr(dataset(attributes=_ATTRIBUTES))


def test_a_measure_is_shown_with_its_bounds_and_resolution() -> None:
    page = _html.dataset(dataset(attributes=_ATTRIBUTES, measures=_MEASURES), None)
    assert "0 to 200000 by 100" in page
    assert "-0.5 to 0.5 by 0.1" in page
    assert "<b>" not in page.replace("<div><b>", "")
    assert "measure" not in _html.dataset(dataset(attributes=_ATTRIBUTES), None)


def test_measures_are_no_columns_with_bins() -> None:
    schema = dataset(attributes=_ATTRIBUTES, measures=_MEASURES).schema
    assert schema.names == ("sex",)
    assert "income" not in schema
    assert [each.name for each in schema.measures] == ["income", "<b>"]

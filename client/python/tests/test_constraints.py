"""Constraints between columns are shown with a dataset."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format

import curator_dp as cu
from curator_dp import _html
from curator_dp._wire.curator.v1 import dataset_pb2, schema_pb2

_ATTRIBUTES = [{"name": "<b>", "coded": {"size": 2}}, {"name": "end", "coded": {"size": 2}}]
_CONSTRAINTS = [
    {"order": {"lower": "<b>", "upper": "end"}},
    {"order": {"lower": "end", "upper": "<b>", "strict": True}},
    {"allowedPairs": {"attributes": ["<b>", "end"], "pairs": [{"values": ["0", "1"]}]}},
]


def dataset(**schema: object) -> cu.Dataset:
    """One that no server has."""
    nobody: Any = None
    parsed = json_format.ParseDict(schema, schema_pb2.Schema())
    return cu.Dataset(nobody, dataset_pb2.Dataset(name="people", owner="olga", state="DATASET_STATE_SEALED", schema=parsed))


def test_a_schema_says_what_all_records_fulfil() -> None:
    schema = dataset(attributes=_ATTRIBUTES, constraints=_CONSTRAINTS).schema
    assert schema.constraints == ("<b> <= end", "end < <b>", "(<b>, end) in 1 pair")
    assert dataset(attributes=_ATTRIBUTES).schema.constraints == ()


def test_constraints_are_shown_as_text() -> None:
    page = _html.dataset(dataset(attributes=_ATTRIBUTES, constraints=_CONSTRAINTS), None)
    assert "&lt;b&gt; &lt;= end" in page
    assert "every record has" not in _html.dataset(dataset(attributes=_ATTRIBUTES), None)

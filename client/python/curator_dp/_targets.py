"""The error that a request is to reach: in records, or in percent of a number of records that is not private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from curator_dp._errors import CuratorError, InvalidQuestion
from curator_dp._query_sets import count_of
from curator_dp._wire.curator.v1 import query_pb2

if TYPE_CHECKING:
    from curator_dp._client import Client

Records = Union[float, str]


@dataclass(frozen=True)
class ErrorToReach:
    """`argument` is "max_error" or "rmse", as in quote(), and `records` its number of records. `words` says what it is a percentage of;
    empty where it is none."""

    argument: str
    records: float
    words: str = ""


def error_of(
    client: Client, max_error: Optional[Records], rmse: Optional[Records], assume_rows: Optional[int], of_release: Any
) -> Optional[ErrorToReach]:
    """None where no error is to be reached. Asks the server for a release alone.

    Args:
        max_error, rmse: records, or "5%"; one of them.
        assume_rows, of_release: what a percentage is of; a release's id, or its Answer or Synthesis.
    """
    if max_error is not None and rmse is not None:
        raise InvalidQuestion("rmse: give either max_error= or rmse=", "rmse")
    name, error = ("max_error", max_error) if rmse is None else ("rmse", rmse)
    if not isinstance(error, str):
        if of_release is not None or assume_rows is not None:
            raise InvalidQuestion(f'assume_rows= and of_release= are what a percentage is of: give {name}="5%"', name)
        return None if error is None else ErrorToReach(name, error)
    share = _share_of(error, name)
    if assume_rows is not None and of_release is not None:
        raise InvalidQuestion(f"{name}: give one number of records, assume_rows= or of_release=", name)
    if assume_rows is not None:
        rows = count_of(assume_rows, "assume_rows")
        return ErrorToReach(name, share * rows, f"{error} of {rows} assumed rows")
    if of_release is None:
        raise InvalidQuestion(
            f"{name}: {error!r} is of a number of records, and the table's own is private: give assume_rows=, or of_release= for "
            "a release with a noisy one",
            name,
        )
    release = getattr(of_release, "release_id", of_release)
    if not isinstance(release, str) or not release:
        raise InvalidQuestion("of_release: the id of a release, or an answer or a synthesis that has one", "of_release")
    records, words = _total_of(release, client._release_chunks(query_pb2.GetReleaseRequest(release_id=release)))
    return ErrorToReach(name, share * records, f"{error} of {records:g} records, a noisy number: {words} of release {release}")


def _share_of(text: str, name: str) -> float:
    try:
        percentage = float(text.strip().removesuffix("%")) if text.strip().endswith("%") else math.nan
    except ValueError:
        percentage = math.nan
    if not 0 < percentage <= 100:
        raise InvalidQuestion(f'{name}: {text!r} is no percentage; give a number of records, or a text such as "5%"', name)
    return percentage / 100


def _total_of(release: str, chunks: Sequence[query_pb2.GetReleaseChunk]) -> tuple[float, str]:
    """The noisy number of records that a release measured, and what it is."""
    found = _model_total(chunks) or _answer_total([each.answer for each in chunks if each.HasField("answer")])
    if found is None:
        raise CuratorError(f"release {release} measured no number of records: name one with a marginal, one with a count, or a model")
    if not found[0] > 0:
        raise CuratorError(f"release {release} has no number of records above 0 ({found[1]}): its noise is larger than that")
    return found


def _model_total(chunks: Sequence[query_pb2.GetReleaseChunk]) -> Optional[tuple[float, str]]:
    for each in chunks:
        if each.HasField("synthesis"):
            return float(each.synthesis.records), "the model's number of records"
    return None


def _answer_total(chunks: Sequence[query_pb2.AnswerChunk]) -> Optional[tuple[float, str]]:
    """The sum of the marginal with the fewest cells, which has the least noise; else its counts of groups, or its only count."""
    marginals: list[tuple[list[str], list[float]]] = []
    sets: list[tuple[query_pb2.QuerySetHeader, list[str], list[float]]] = []
    for each in chunks:
        if each.HasField("marginal"):
            marginals.append((list(each.marginal.attributes), []))
        elif each.HasField("cells"):
            marginals[-1][1].extend(each.cells.counts or each.cells.estimates)
        elif each.HasField("query_set"):
            sets.append((each.query_set, [], []))
        elif each.HasField("answers"):
            sets[-1][1].extend(each.answers.labels)
            sets[-1][2].extend(each.answers.counts or each.answers.estimates)
    if marginals:
        names, cells = min(marginals, key=lambda each: len(each[1]))
        return float(sum(cells)), f"the sum of the marginal over {', '.join(names)}" if names else "its number of records"
    for header, labels, values in sets:
        statistics = labels[len(header.columns) - 1 :: max(1, len(header.columns))]
        counts = [value for name, value in zip(statistics, values) if name == "count"]
        if header.query_class == "statistics" and counts:
            return float(sum(counts)), "its count" if len(counts) == 1 else f"the sum of its {len(counts)} counts"
    if len(sets) == 1 and sets[0][0].query_class == "predicates" and len(sets[0][2]) == 1:
        return float(sets[0][2][0]), "its only count"
    return None

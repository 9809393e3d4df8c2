"""What is said for ever about the records of a dataset."""

from __future__ import annotations

from typing import Protocol

DOMAIN_FROM_RECORDS = (
    "ranges, categories or bins were chosen by somebody who had seen records: the guarantee does not cover that choice"
)
ROWS_FROM_QUERY = "the rows came from a query: the guarantee is about the rows that were imported"


class WithFacts(Protocol):
    """A dataset, or what was made of one."""

    domain_from_records: bool
    rows_from_query: bool


def said_of(shown: WithFacts) -> list[str]:
    """A sentence for each fact; none where nothing is said."""
    said = [DOMAIN_FROM_RECORDS] if shown.domain_from_records else []
    return said + ([ROWS_FROM_QUERY] if shown.rows_from_query else [])


def facts_of(shown: WithFacts) -> str:
    """For the end of a line: "; ranges, categories ..."; empty where nothing is said."""
    return "".join("; " + each for each in said_of(shown))

"""Questions in SQL, which the server translates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

import pandas as pd

from curator_dp._answers import Answer
from curator_dp._conditions import AnyConditions
from curator_dp._errors import InvalidQuestion
from curator_dp._query_sets import Naming
from curator_dp._questions import Question
from curator_dp._tables import AnswerTable, IncompleteAnswer
from curator_dp._wire.curator.v1 import query_pb2, workload_pb2


class SqlAnswer(Answer):
    """The answer of a statement: the groups that it shows, in its order."""

    selection: workload_pb2.Selection

    def to_frame(self, *, as_intervals: bool = False, wide: bool = True) -> pd.DataFrame:
        """One row for each group, in the order of the statement: its columns under their names, and beside each statistic "NAME low" and
        "NAME high", the ends of its interval.

        Args:
            wide: False for one row for each number, as other answers have them.
            as_intervals: as of other answers; for wide=False.
        """
        if not wide:
            return super().to_frame(as_intervals=as_intervals)
        table = self.tables[0]
        labels = table.label_columns()
        columns: list[pd.Series] = []
        for column in self.selection.columns:
            if column.source.WhichOneof("source") == "attribute":
                groups = labels[column.source.attribute][:: max(len(table.statistics), 1)]
                columns.append(pd.Series(groups, name=column.name))
            else:
                columns += _statistic(table, column.name)
        return pd.concat(columns, axis=1)


def _statistic(table: AnswerTable, name: str) -> list[pd.Series]:
    """Its values and the ends of its intervals, group by group. A name of a statistic may also be that of an attribute."""
    names = list(table.statistics)
    if names and name not in names:
        raise IncompleteAnswer(f"the answer has no column {name}")
    columns = []
    for end, numbers in (("", table.values), (" low", table.low), (" high", table.high)):
        if numbers is not None:
            columns.append(pd.Series(numbers[names.index(name) :: len(names)] if names else numbers, name=name + end))
    return columns


def _columns_of(statistics: workload_pb2.Statistics) -> list[str]:
    """What each statistic is of, quantile by quantile; "" of records and units."""
    columns: list[str] = []
    for each in statistics.statistics:
        kind = getattr(each, each.WhichOneof("statistic") or "count")
        columns += [kind if isinstance(kind, str) else getattr(kind, "of", "")] * len(getattr(kind, "at", "1"))
    return columns


@dataclass(frozen=True)
class SqlQuestion(Question):
    """A statement that nothing was charged for yet: quote() and answer() are those of other questions.

    Attributes:
        statement: as it was given.
        translation: what the server made of it: the workload, and the selection of what is shown.
    """

    statement: str = ""
    translation: query_pb2.TranslateSqlResponse = field(default_factory=query_pb2.TranslateSqlResponse)

    def __repr__(self) -> str:
        return f"<SqlQuestion of {self.dataset.name}: {self.statement}>"

    @property
    def explain(self) -> bool:
        """Whether the statement begins with EXPLAIN: it asks for quote() alone."""
        return self.translation.explain

    def to_wire(self) -> workload_pb2.Workload:
        """The message of a request."""
        if self.strategy != "auto":
            raise InvalidQuestion("strategy: a statement is measured in the way with the least error", "strategy")
        return self.translation.workload

    def _namings(self) -> list[Optional[Naming]]:
        return [None]

    def where(self, conditions: AnyConditions) -> Question:
        """InvalidQuestion: a statement has its own WHERE."""
        raise InvalidQuestion("where: write the condition in the statement: WHERE age >= 18")

    def __add__(self, other: Question) -> Question:
        """InvalidQuestion: a statement is asked by itself."""
        raise InvalidQuestion("a statement is asked by itself: write both in one SELECT, or ask twice")

    def _select(self, request: query_pb2.AnswerWorkloadRequest) -> None:
        if self.explain:
            raise InvalidQuestion("the statement begins with EXPLAIN, which asks for its price: quote()")
        request.selection.CopyFrom(self.translation.selection)

    def _answer_of(self, chunks: list[query_pb2.AnswerChunk]) -> SqlAnswer:
        answer = SqlAnswer(chunks, self.dataset._wire.schema, self.dataset.name, self.dataset._client, self._namings())
        answer.selection = self.translation.selection
        of = _columns_of(self.translation.workload.query_sets[0].statistics)
        shown = [column for column in answer.selection.columns if column.source.HasField("statistic")]
        for table in answer.tables:
            table._asked_of = {column.name: of[column.source.statistic] for column in shown}
        return answer

"""Curator's client for Python: questions of private tables, their prices, and their noisy answers.

>>> import curator_dp as cu
>>> client = cu.connect("127.0.0.1:7878", principal="ana")
"""

from curator_dp._answers import Answer, Cost, Receipt, load
from curator_dp._budgets import Account, Budget, CalculatedEpsilon, Counter
from curator_dp._charges import (
    Charge,
    Event,
    approximate,
    composed,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    gaussian,
    laplace,
    pure,
    zcdp,
)
from curator_dp._client import Client, connect
from curator_dp._conditions import AnyOf, Condition, Conditions, Not, Thresholds, col, parse_thresholds, parse_where
from curator_dp._connection import RetryPolicy
from curator_dp._datasets import Dataset, DatasetTable
from curator_dp._errors import (
    BudgetFull,
    CuratorError,
    FullAccount,
    InvalidQuestion,
    LedgerContradiction,
    NotAllowed,
    NotAuthenticated,
    NotFound,
    OutcomeUnknown,
    QuotaExceeded,
    RequestIdReused,
    Unavailable,
)
from curator_dp._questions import Question
from curator_dp._quotes import Choice, ExpectedError, Quote
from curator_dp._receipts import verify
from curator_dp._schema import Attribute, Measure, Schema
from curator_dp._sql import SqlAnswer, SqlQuestion
from curator_dp._statistics import Statistic, StatisticForecast
from curator_dp._synthesis import Synthesis
from curator_dp._tables import AnswerTable, IncompleteAnswer

__version__ = "0.1.0"

__all__ = [
    "Account",
    "Answer",
    "AnswerTable",
    "AnyOf",
    "approximate",
    "Attribute",
    "Budget",
    "BudgetFull",
    "CalculatedEpsilon",
    "Charge",
    "Choice",
    "Client",
    "col",
    "composed",
    "Condition",
    "Conditions",
    "connect",
    "Cost",
    "Counter",
    "CuratorError",
    "Dataset",
    "DatasetTable",
    "discrete_gaussian",
    "discrete_laplace",
    "Event",
    "ExpectedError",
    "exponential",
    "FullAccount",
    "gaussian",
    "IncompleteAnswer",
    "InvalidQuestion",
    "laplace",
    "LedgerContradiction",
    "load",
    "Measure",
    "Not",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "OutcomeUnknown",
    "parse_thresholds",
    "parse_where",
    "pure",
    "Question",
    "QuotaExceeded",
    "Quote",
    "Receipt",
    "RequestIdReused",
    "RetryPolicy",
    "Schema",
    "SqlAnswer",
    "SqlQuestion",
    "Statistic",
    "StatisticForecast",
    "Synthesis",
    "Thresholds",
    "Unavailable",
    "verify",
    "zcdp",
]

"""Conditions on columns: written as text, in the grammar of `curator workload --where`, or built with `col`.

    where      := all { "or" all }
    all        := one { "and" one }
    one        := condition | "not" one | "(" where ")"
    thresholds := "at least" number { "," number } "of" [ "each" number "of" ] "(" condition { "," condition } ")"
    condition  := column [ "not" ] "in" "{" value { "," value } "}"
                | column [ "not" ] "in" "(" value { "," value } ")"
                | column [ "not" ] "in" "[" [ value ] "," [ value ] ( "]" | ")" )
                | column [ "not" ] "between" value "and" value
                | column ( "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) value
                | column "is" [ "not" ] "missing"

Columns and values are words (letters, digits, _ - + . : / & % and non-ASCII characters), or any text between quotes, in which \\
makes the next character part of the text. Keywords are in any case where they join or compare. A column or a value that is one of the
small words and, in, of and each must be quoted. "]", "<=" and "between" include the end, ")" and "<" do not. Bins of numeric columns are
[edge, next edge), and take ")" and "<"; intervals of all others take "]" and "<=". The ends of dates are days (2019-03-31), times
(2019-03-31T12:00:00) or bins (2019-03, 2019-Q1, 2019-W13, 2019): of days and bins either is taken, of times ")" and "<".

A condition on a missing value is neither true nor false, as in SQL: not (age > 30) has no record without an age. "is missing", and a
list that has the label of missing values, are true or false of every record. Missing values, and the catch-all of ordered categories,
are in no interval: only "=", "!=" and lists take their labels.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import NoReturn, Optional, Union

import numpy as np

from curator_dp._dates import read_time, time_text
from curator_dp._errors import InvalidQuestion
from curator_dp._schema import Attribute, Schema, number_text
from curator_dp._wire.curator.v1 import workload_pb2

Value = Union[str, int, float, Decimal, datetime.date]  # and numbers and times of NumPy; times of pandas are dates

LONGEST_TEXT = 1 << 16
DEEPEST_TEXT = 16  # parentheses and "not"s inside of each other
_KEYWORDS = ("and", "in", "of", "each")  # that need quotes to be a name or a value
_SIGNS = ("=", "!=", "<>", "<", "<=", ">", ">=")


class UpperEnd(Enum):
    """How the upper end of an interval was written, which the request does not record."""

    ABSENT = "absent"
    INCLUDED = "included"
    EXCLUDED = "excluded"


def value_text(value: object) -> str:
    """A value as it is in the table."""
    if isinstance(value, str):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (datetime.date, np.datetime64)):
        return _date_text(value)
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)) or not math.isfinite(value):
        raise InvalidQuestion(f"a value is a text or a finite number, not {value!r}")
    return str(value) if isinstance(value, Decimal) else number_text(float(value))


def _date_text(value: Union[datetime.date, np.datetime64]) -> str:
    """A day, also where it is a time at midnight, as days of pandas are."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        raise InvalidQuestion(f"dates have no time zone in a condition: {value!r}, shown by clocks of the column's own zone")
    exact = value if isinstance(value, np.datetime64) else np.datetime64(value.isoformat())
    seconds = exact.astype("datetime64[s]")
    if not seconds == exact:  # nor where it is no time at all
        raise InvalidQuestion(f"a date is a day or a time in whole seconds, not {value!r}")
    return time_text(seconds)


class _NoTruthValue:
    """`a and b`, `not a` and `18 <= a < 38` ask for a truth value, and would drop a condition."""

    def __bool__(self) -> NoReturn:
        raise InvalidQuestion(
            "a condition is neither true nor false: join conditions with & (and), | (or) and ~ (not), each in parentheses, and write "
            "an interval with col(...).between(low, high)"
        )


class _Joined(_NoTruthValue):
    """What & | and ~ join."""

    def __and__(self, other: AnyConditions) -> Conditions:
        return Conditions(conditions_of(self).all_of + conditions_of(other).all_of)

    def __or__(self, other: AnyConditions) -> Conditions:
        return Conditions((AnyOf(_alternatives(self) + _alternatives(other)),))

    def __invert__(self) -> Conditions:
        return Conditions((Not(conditions_of(self)),))


@dataclass(frozen=True)
class Truth:
    """Of each bin of one column: whether a condition is true of its values, or neither true nor false."""

    true: frozenset[int]
    unknown: frozenset[int]


@dataclass(frozen=True)
class Condition(_Joined):
    """One condition on one column: a set of values, an interval, a comparison, or that the value is missing.

    Attributes:
        column: its name.
        values: the values of a set; None for the others.
        low, high: the ends of an interval, as texts; None for the column's own.
        upper: whether the interval includes its upper end.
        compare: a sign, one of "!=", "<" and ">", and a value as text; None for the others.
        missing: whether it is that the value is missing.
    """

    column: str
    values: Optional[tuple[str, ...]] = None
    low: Optional[str] = None
    high: Optional[str] = None
    upper: UpperEnd = UpperEnd.ABSENT
    compare: Optional[tuple[str, str]] = None
    missing: bool = False

    @property
    def columns(self) -> frozenset[str]:
        """The column that it is on."""
        return frozenset((self.column,))

    def to_wire(self) -> workload_pb2.Condition:
        """The message of a request."""
        wire = workload_pb2.Condition(attribute=self.column)
        if self.values is not None:
            for value in self.values:
                getattr(wire, "in").add().string_value = value
            return wire
        if self.compare is not None:
            wire.compare.operator = _OPERATORS[self.compare[0]]
            wire.compare.value.string_value = self.compare[1]
            return wire
        if self.missing:
            wire.is_missing = True
            return wire
        wire.between.SetInParent()
        if self.low is not None:
            getattr(wire.between, "from").string_value = self.low
        if self.high is not None:
            wire.between.to.string_value = self.high
        return wire

    def check(self, schema: Schema) -> None:
        """InvalidQuestion where the upper end is written in a way that the column's bins do not allow.

        Unknown columns are left to the server, which suggests similar names.
        """
        if self.upper is UpperEnd.ABSENT or self.high is None or self.column not in schema:
            return
        column = schema[self.column]
        excluded = self.upper is UpperEnd.EXCLUDED
        if self._is_comparison(column):
            return
        if column.kind not in ("numeric", "date") and excluded:
            raise InvalidQuestion(
                f"the condition on {self.column}: its values are counted one by one, so the last one that is meant ends the interval: "
                f"write ']' or '<=' with the one before {self.high}"
            )
        if column.kind == "numeric" and not excluded and not _is_number(self.high, column.ends[-1]):
            raise InvalidQuestion(
                f"the condition on {self.column}: its bins end before their upper edge: write '{self.high})' or '< {self.high}'"
            )
        read = read_time(self.high.strip(" \t")) if column.kind == "date" else None
        if read is not None and not read[1] and not excluded:
            raise InvalidQuestion(
                f"the condition on {self.column}: its bins end before a time: write '{self.high})' or '< {self.high}', or the last day"
            )

    def checked(self, schema: Schema) -> Condition:
        """As a request has it, which does not record how an upper end was written: of dates, one that is excluded is a time."""
        self.check(schema)
        if self.upper is not UpperEnd.EXCLUDED or self.high is None or self.column not in schema:
            return self
        column = schema[self.column]
        if self._is_comparison(column):
            return Condition(self.column, compare=("<", self.high))
        return replace(self, high=column.excluded_end(self.high)) if column.kind == "date" else self

    def _is_comparison(self, column: Attribute) -> bool:
        """Whether it is that a value is below another: of integers and ordered categories."""
        is_below = self.low is None and self.upper is UpperEnd.EXCLUDED
        return is_below and column.kind not in ("numeric", "date") and column.is_ordered

    def bins(self, schema: Schema) -> list[int]:
        """The codes of the bins whose values fulfil it, ascending. InvalidQuestion where it cuts a bin."""
        return sorted(self.truth(schema).true)

    def truth(self, schema: Schema) -> Truth:
        """Of each bin of its column. InvalidQuestion where it cuts one."""
        column = schema[self.column]
        meant = self.checked(schema)
        nowhere = frozenset() if column.missing is None else frozenset((column.size - 1,))
        if meant.missing:
            if column.missing is None:
                raise InvalidQuestion(f"{self.column} has no bin for missing values: every record has a value of it")
            return Truth(nowhere, frozenset())
        if meant.values is not None:
            codes = frozenset(column.whole_bin(value) for value in meant.values)
            return Truth(codes, frozenset() if codes & nowhere else nowhere)
        if meant.compare is not None and meant.compare[0] == "!=":
            code = column.whole_bin(meant.compare[1])
            unknown = frozenset() if code in nowhere else nowhere
            return Truth(frozenset(range(column.size)) - {code} - unknown, unknown)
        in_no_order = frozenset(range(column.run_size, column.size))
        if meant.compare is not None:
            return Truth(frozenset(_compared_bins(column, *meant.compare)), in_no_order)
        return Truth(frozenset(column.interval_bins(meant.low, meant.high)), in_no_order)

    def __str__(self) -> str:
        name = quoted(self.column)
        if self.compare is not None:
            return f"{name} {self.compare[0]} {quoted(self.compare[1])}"
        if self.missing:
            return f"{name} is missing"
        if self.values is not None:
            return f"{name} in {{{', '.join(quoted(value) for value in self.values)}}}"
        low = quoted(self.low) if self.low is not None else ""
        high = quoted(self.high) if self.high is not None else ""
        return f"{name} in [{low},{high}{')' if self.upper is UpperEnd.EXCLUDED else ']'}"


_OPERATORS = {
    "!=": workload_pb2.Comparison.NOT_EQUAL,
    "<": workload_pb2.Comparison.LESS,
    ">": workload_pb2.Comparison.GREATER,
}


def _compared_bins(column: Attribute, sign: str, value: str) -> range:
    """Below a value or above it. InvalidQuestion where that cuts a bin, or there are none."""
    if not column.is_ordered:
        raise InvalidQuestion(f"the values of {column.name} are in no order; =, !=, a list and an interval of them work")
    if column.kind == "numeric":
        raise InvalidQuestion(
            f"the condition on {column.name}: its bins begin at their lower edge, which is one of their values: write '>= {value}'"
        )
    if sign == "<":
        bins = range(column.interval_bins(value, None).start)
    else:
        bins = range(column.interval_bins(None, value).stop, column.run_size)
    if not bins:
        raise InvalidQuestion(f"the condition on {column.name}: no value is {'below' if sign == '<' else 'above'} {value}")
    return bins


def bin_condition(column: Attribute, code: int) -> Condition:
    """That a value lies in this bin."""
    if column.kind in ("categorical", "coded", "date") or column.labels[code] == column.missing:
        return Condition(column.name, values=(column.labels[code],))
    low, high = column.value_range(code)
    return Condition(column.name, low=low, high=high, upper=UpperEnd.EXCLUDED if column.kind == "numeric" else UpperEnd.INCLUDED)


def _is_number(text: str, number: object) -> bool:
    try:
        return float(text) == number
    except ValueError:
        return False


@dataclass(frozen=True)
class Conditions(_Joined):
    """Conditions that must all hold: each on one column, or several of which one must hold, or the opposite of others."""

    all_of: tuple[Term, ...]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that they are on."""
        return frozenset().union(*(each.columns for each in self.all_of))

    def to_wire(self) -> workload_pb2.Predicate:
        """The message of a request: a list where no condition is joined by "or" or negated."""
        conditions = [each for each in self.all_of if isinstance(each, Condition)]
        if len(conditions) == len(self.all_of):
            return workload_pb2.Predicate(all_of=[each.to_wire() for each in conditions])
        return workload_pb2.Predicate(expression=self.to_expression())

    def to_expression(self) -> workload_pb2.Expression:
        """The same as a tree."""
        each = [_expression_of(term) for term in self.all_of]
        return each[0] if len(each) == 1 else workload_pb2.Expression(all_of=workload_pb2.Expressions(expressions=each))

    def check(self, schema: Schema) -> None:
        """As Condition.check()."""
        for each in self.all_of:
            each.check(schema)

    def checked(self, schema: Schema) -> Conditions:
        """As Condition.checked()."""
        return Conditions(tuple(each.checked(schema) for each in self.all_of))

    def truth(self, schema: Schema) -> Truth:
        """Of each bin of the one column that they are on. InvalidQuestion where one cuts a bin."""
        return _both([each.truth(schema) for each in self.all_of])

    def __str__(self) -> str:
        is_alone = len(self.all_of) == 1
        return " and ".join(f"({each})" if isinstance(each, AnyOf) and not is_alone else str(each) for each in self.all_of)


@dataclass(frozen=True)
class AnyOf(_Joined):
    """Conditions of which at least one must hold."""

    operands: tuple[Conditions, ...]

    @property
    def columns(self) -> frozenset[str]:
        """The columns that they are on."""
        return frozenset().union(*(each.columns for each in self.operands))

    def check(self, schema: Schema) -> None:
        """As Condition.check()."""
        for each in self.operands:
            each.check(schema)

    def checked(self, schema: Schema) -> AnyOf:
        """As Condition.checked()."""
        return AnyOf(tuple(each.checked(schema) for each in self.operands))

    def truth(self, schema: Schema) -> Truth:
        """Of each bin of the one column that they are on. InvalidQuestion where one cuts a bin."""
        size = schema[next(iter(self.columns))].size
        return _opposite(_both([_opposite(each.truth(schema), size) for each in self.operands]), size)

    def bins(self, schema: Schema) -> list[int]:
        """As Condition.bins()."""
        return sorted(self.truth(schema).true)

    def __str__(self) -> str:
        return " or ".join(str(each) for each in self.operands)


@dataclass(frozen=True)
class Not(_Joined):
    """That conditions are false. Where they are unknown, as of missing values, so is this."""

    operand: Conditions

    @property
    def columns(self) -> frozenset[str]:
        """The columns that they are on."""
        return self.operand.columns

    def check(self, schema: Schema) -> None:
        """As Condition.check()."""
        self.operand.check(schema)

    def checked(self, schema: Schema) -> Not:
        """As Condition.checked()."""
        return Not(self.operand.checked(schema))

    def truth(self, schema: Schema) -> Truth:
        """Of each bin of the one column that they are on. InvalidQuestion where one cuts a bin."""
        return _opposite(self.operand.truth(schema), schema[next(iter(self.columns))].size)

    def bins(self, schema: Schema) -> list[int]:
        """As Condition.bins()."""
        return sorted(self.truth(schema).true)

    def __str__(self) -> str:
        is_one = len(self.operand.all_of) == 1 and not isinstance(self.operand.all_of[0], AnyOf)
        return f"not {self.operand}" if is_one else f"not ({self.operand})"


Term = Union[Condition, AnyOf, Not]


def _both(each: list[Truth]) -> Truth:
    """True where all are, false where one is."""
    true = frozenset.intersection(*(one.true for one in each))
    perhaps = frozenset.intersection(*(one.true | one.unknown for one in each))
    return Truth(true, perhaps - true)


def _opposite(one: Truth, size: int) -> Truth:
    return Truth(frozenset(range(size)) - one.true - one.unknown, one.unknown)


def _expression_of(term: Term) -> workload_pb2.Expression:
    if isinstance(term, Condition):
        return workload_pb2.Expression(condition=term.to_wire())
    wire = workload_pb2.Expression()
    if isinstance(term, AnyOf):
        wire.any_of.expressions.extend(each.to_expression() for each in term.operands)
    else:
        getattr(wire, "not").CopyFrom(term.operand.to_expression())
    return wire


def _alternatives(where: AnyConditions) -> tuple[Conditions, ...]:
    """What "or" joins: those of conditions that are joined so already."""
    conditions = conditions_of(where)
    if len(conditions.all_of) == 1 and isinstance(conditions.all_of[0], AnyOf):
        return conditions.all_of[0].operands
    return (conditions,)


@dataclass(frozen=True)
class Thresholds:
    """How many records fulfil at least so many of some conditions.

    Attributes:
        conditions: on the same or on different columns.
        at_least: one count for each of these numbers.
        each: every subset of so many conditions; 0 for all of them together.
    """

    conditions: tuple[Condition, ...]
    at_least: tuple[int, ...]
    each: int = 0

    def check(self, schema: Schema) -> None:
        """As Condition.check()."""
        for condition in self.conditions:
            condition.check(schema)

    def __str__(self) -> str:
        numbers = ",".join(str(number) for number in self.at_least)
        each = f"each {self.each} of " if self.each else ""
        return f"at least {numbers} of {each}({', '.join(str(condition) for condition in self.conditions)})"


class Column(_NoTruthValue):
    """A column of a condition that is being built; see `col`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def isin(self, values: Iterable[Value]) -> Condition:
        """One of these values: a list, or anything else with several."""
        if isinstance(values, str):
            raise InvalidQuestion(f"isin takes a list: isin([{values!r}])")
        texts = tuple(value_text(value) for value in values)
        if isinstance(values, (set, frozenset)):
            texts = tuple(sorted(texts))  # in the same order in each run
        if not texts:
            raise InvalidQuestion(f"the condition on {self._name}: a set has at least one value")
        return Condition(self._name, values=texts)

    def between(self, low: Value, high: Value, inclusive: str = "both") -> Condition:
        """From `low`, included, to `high`, included unless `inclusive` is "left": as bins of numeric columns want it, and of dates where
        `high` is a time.

        >>> import datetime
        >>> str(cu.col("visit").between(datetime.date(2019, 1, 1), datetime.date(2019, 3, 31)))
        'visit in [2019-01-01,2019-03-31]'
        """
        if inclusive not in ("both", "left"):
            raise InvalidQuestion(f'inclusive is "both" or "left", not {inclusive!r}')
        upper = UpperEnd.INCLUDED if inclusive == "both" else UpperEnd.EXCLUDED
        return Condition(self._name, low=value_text(low), high=value_text(high), upper=upper)

    def __eq__(self, value: object) -> Condition:  # type: ignore[override]
        return Condition(self._name, values=(value_text(value),))

    def __ge__(self, value: Value) -> Condition:
        return Condition(self._name, low=value_text(value))

    def __le__(self, value: Value) -> Condition:
        return Condition(self._name, high=value_text(value), upper=UpperEnd.INCLUDED)

    def __lt__(self, value: Value) -> Condition:
        return Condition(self._name, high=value_text(value), upper=UpperEnd.EXCLUDED)

    def __gt__(self, value: Value) -> Condition:
        return Condition(self._name, compare=(">", value_text(value)))

    def __ne__(self, value: object) -> Condition:  # type: ignore[override]
        return Condition(self._name, compare=("!=", value_text(value)))

    def is_missing(self) -> Condition:
        """That there is no value: ~col("weight").is_missing() is that there is one."""
        return Condition(self._name, missing=True)

    __hash__ = None  # type: ignore[assignment]


def col(name: str) -> Column:
    """A column, for conditions:

    >>> import curator_dp as cu
    >>> str((cu.col("age").between(18, 37)) & (cu.col("sex") == "Female"))
    'age in [18,37] and sex in {Female}'
    >>> str((cu.col("age") > 37) | ~(cu.col("zone").isin([1, 2])))
    'age > 37 or not zone in {1, 2}'
    """
    return Column(name)


def quoted(text: str) -> str:
    """A column or a value as the grammar takes it."""
    is_word = bool(text) and all(ord(c) >= 0x80 or c.isalnum() or c in "_-+.:/&%" for c in text)
    if is_word and text not in _KEYWORDS and text.lower() != "not":
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
      (?P<quoted>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
    | (?P<word>[0-9A-Za-z_\-+.:/&%\u0080-\U0010ffff]+)
    | (?P<sign><=|>=|<>|!=|[\[\](){},=<>])
    | (?P<end>$)
    )""",
    re.VERBOSE | re.DOTALL,
)


class _Reader:
    """Takes one token after the other; the first error ends everything."""

    def __init__(self, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        if size > LONGEST_TEXT:
            raise InvalidQuestion(f"conditions are limited to {LONGEST_TEXT} bytes; this has {size}")
        self._text = text
        self._next = 0
        self.kind = ""
        self.text = ""
        self.position = 0
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self._text, self._next)
        if found is None:
            self.position = self._next + len(self._text[self._next :]) - len(self._text[self._next :].lstrip(" \t\n\r"))
            is_quote = self._text[self.position] in "'\""
            self.fail(
                "this quote is not closed" if is_quote else "this character needs quotes around the text that it is part of"
            )
        self.kind = found.lastgroup or ""
        self.text = found.group(self.kind)
        self.position = found.start(self.kind)
        self._next = found.end()
        if self.kind == "quoted":
            self.text = re.sub(r"\\(.)", r"\1", self.text[1:-1], flags=re.DOTALL)

    def fail(self, what: str) -> NoReturn:
        shown = "".join(c if c.isprintable() else " " for c in self._text)
        raise InvalidQuestion(f"{what}\n  {shown}\n  {' ' * self.position}^")

    def take(self, kind: str, text: str) -> bool:
        is_it = self.kind == kind and self.text == text
        if is_it:
            self.advance()
        return is_it

    def expect(self, kind: str, text: str, after: str) -> None:
        if not self.take(kind, text):
            self.fail(f"expected '{text}' {after}")

    def is_keyword(self, word: str) -> bool:
        """A word that joins or compares, in any case. No name or value is in its place."""
        return self.kind == "word" and self.text.isascii() and self.text.lower() == word

    def take_keyword(self, word: str) -> bool:
        is_it = self.is_keyword(word)
        if is_it:
            self.advance()
        return is_it

    def is_negation(self) -> bool:
        """Whether "not" negates what follows, and is no column of this name."""
        if not self.is_keyword("not"):
            return False
        ahead = _TOKEN.match(self._text, self._next)
        if ahead is None:
            return True
        return ahead.group("sign") not in _SIGNS and ahead.group("word") != "in"

    def value(self, what: str) -> str:
        if self.kind == "word" and self.text in _KEYWORDS:
            self.fail(f"expected {what}; the word {self.text} needs quotes to be one")
        if self.kind not in ("word", "quoted"):
            self.fail(f"expected {what}")
        text = self.text
        self.advance()
        return text

    def number(self, what: str) -> int:
        if self.kind != "word" or not re.fullmatch(r"[0-9]{1,10}", self.text) or not 1 <= int(self.text) < 1 << 31:
            self.fail(f"expected {what}, a whole number from 1 on")
        number = int(self.text)
        self.advance()
        return number


def _read_interval(reader: _Reader, column: str) -> Condition:
    low = None if (reader.kind, reader.text) == ("sign", ",") else reader.value("the lower end or ','")
    reader.expect("sign", ",", "between the ends of the interval")
    if reader.kind == "sign" and reader.text in ("]", ")"):
        reader.advance()
        return Condition(column, low=low)
    high = reader.value("the upper end or ']'")
    if reader.take("sign", ")"):
        return Condition(column, low=low, high=high, upper=UpperEnd.EXCLUDED)
    reader.expect("sign", "]", "or ')' after the interval")
    return Condition(column, low=low, high=high, upper=UpperEnd.INCLUDED)


def _read_list(reader: _Reader, column: str, close: str) -> Condition:
    values = [reader.value("a value")]
    while reader.take("sign", ","):
        values.append(reader.value("a value"))
    reader.expect("sign", close, "or ',' after a value of the list")
    return Condition(column, values=tuple(values))


def _read_in(reader: _Reader, column: str) -> Condition:
    if reader.take("sign", "["):
        return _read_interval(reader, column)
    for begin, close in (("{", "}"), ("(", ")")):
        if reader.take("sign", begin):
            return _read_list(reader, column, close)
    reader.fail("expected '[' with an interval or '{' or '(' with a list after 'in'")


def _read_between(reader: _Reader, column: str) -> Condition:
    low = reader.value("the lower end after 'between'")
    if not reader.take_keyword("and"):
        reader.fail("expected 'and' between the ends of the interval")
    return Condition(column, low=low, high=reader.value("the upper end"), upper=UpperEnd.INCLUDED)


def _read_comparison(reader: _Reader, column: str) -> Condition:
    sign = reader.text
    reader.advance()
    value = reader.value(f"a value after '{sign}'")
    built = Column(column)
    comparisons = {"=": built.__eq__, ">=": built.__ge__, "<=": built.__le__, "<": built.__lt__, ">": built.__gt__}
    return comparisons[sign](value) if sign in comparisons else built.__ne__(value)


def _read_term(reader: _Reader) -> Union[Condition, Not]:
    """A condition, or its opposite where "not" is in it."""
    column = reader.value("an attribute")
    if reader.kind == "sign" and reader.text in _SIGNS:
        return _read_comparison(reader, column)
    if reader.take_keyword("is"):
        is_negated = reader.take_keyword("not")
        if not reader.take_keyword("missing"):
            reader.fail("expected 'missing' after 'is not'" if is_negated else "expected 'missing' or 'not missing' after 'is'")
        return _perhaps_not(Column(column).is_missing(), is_negated)
    is_negated = reader.take_keyword("not")
    if reader.take_keyword("in"):
        return _perhaps_not(_read_in(reader, column), is_negated)
    if reader.take_keyword("between"):
        return _perhaps_not(_read_between(reader, column), is_negated)
    if is_negated:
        reader.fail("expected 'in' or 'between' after 'not'")
    reader.fail(
        f"expected 'in', 'between', 'is', '=', '!=', '<', '<=', '>' or '>=' after the attribute {column} (a text with blanks needs quotes)"
    )


def _perhaps_not(condition: Condition, is_negated: bool) -> Union[Condition, Not]:
    return Not(Conditions((condition,))) if is_negated else condition


def _read_condition(reader: _Reader) -> Condition:
    """Of thresholds."""
    term = _read_term(reader)
    if isinstance(term, Not):
        reader.fail("a condition of thresholds has no 'not' in it; '!=' and lists of the other values work")
    return term


def _read_any(reader: _Reader, nested: int) -> Conditions:
    read = _read_all(reader, nested)
    while reader.take_keyword("or"):
        read = read | _read_all(reader, nested)
    return read


def _read_all(reader: _Reader, nested: int) -> Conditions:
    read = _read_one(reader, nested)
    while reader.take_keyword("and"):
        read = read & _read_one(reader, nested)
    return read


def _read_one(reader: _Reader, nested: int) -> Conditions:
    is_not = reader.is_negation()
    if not is_not and (reader.kind, reader.text) != ("sign", "("):
        return Conditions((_read_term(reader),))
    if nested == DEEPEST_TEXT:
        reader.fail(f"this is inside of {DEEPEST_TEXT} parentheses and 'not's, and cannot be inside of more")
    reader.advance()
    if is_not:
        return ~_read_one(reader, nested + 1)
    read = _read_any(reader, nested + 1)
    reader.expect("sign", ")", "or 'and' or 'or' after a condition (a text with blanks needs quotes)")
    return read


def parse_where(text: str) -> Conditions:
    """The conditions of a text. InvalidQuestion shows the place that cannot be read.

    >>> str(parse_where("age < 65 and sex = Female"))
    'age in [,65) and sex in {Female}'
    >>> str(parse_where("age > 37 or not (zone in (1, 2) and sex != Male)"))
    'age > 37 or not (zone in {1, 2} and sex != Male)'
    """
    reader = _Reader(text)
    conditions = _read_any(reader, 0)
    if reader.kind != "end":
        reader.fail("expected 'and', 'or' or the end (a text with blanks needs quotes)")
    return conditions


def parse_thresholds(text: str) -> Thresholds:
    """The thresholds of a text. InvalidQuestion shows the place that cannot be read.

    >>> parse_thresholds("at least 1,2 of (age >= 48, zone = 1)").at_least
    (1, 2)
    """
    reader = _Reader(text)
    reader.expect("word", "at", "first: at least 2 of (age >= 65, smoker = yes, zone in {1,2})")
    reader.expect("word", "least", "after 'at'")
    at_least = [reader.number("how many conditions must hold")]
    while reader.take("sign", ","):
        at_least.append(reader.number("how many conditions must hold"))
    reader.expect("word", "of", "or ',' after the number")
    each = 0
    if reader.take("word", "each"):
        each = reader.number("how many conditions are taken at a time")
        reader.expect("word", "of", "after the number")
    reader.expect("sign", "(", "before the conditions")
    conditions = [_read_condition(reader)]
    while reader.take("sign", ","):
        conditions.append(_read_condition(reader))
    reader.expect("sign", ")", "or ',' after a condition")
    if reader.kind != "end":
        reader.fail("expected the end after ')'")
    return Thresholds(tuple(conditions), tuple(at_least), each)


AnyConditions = Union[str, _Joined]


def conditions_of(where: AnyConditions) -> Conditions:
    """Of a text or a built condition. InvalidQuestion where it is neither."""
    if isinstance(where, str):
        return parse_where(where)
    if isinstance(where, (Condition, AnyOf, Not)):
        return Conditions((where,))
    if not isinstance(where, Conditions):
        raise InvalidQuestion(f'a condition is a text, "age >= 65", or built with col("age") >= 65, not {where!r}')
    return where

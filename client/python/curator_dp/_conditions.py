"""Conditions on columns: written as text, in the grammar of `curator workload --where`, or built with `col`.

    where      := condition { "and" condition }
    thresholds := "at least" number { "," number } "of" [ "each" number "of" ] "(" condition { "," condition } ")"
    condition  := column "in" "{" value { "," value } "}"
                | column "in" "[" [ value ] "," [ value ] ( "]" | ")" )
                | column ( "=" | ">=" | "<=" | "<" ) value

Columns and values are words (letters, digits, _ - + . : / & % and non-ASCII characters), or any text between quotes, in which \\
makes the next character part of the text. A value that is a keyword (and, in, of, each) must be quoted. "]" and "<=" include the
end, ")" and "<" do not. Bins of numeric columns are [edge, next edge), and take ")" and "<"; all others take "]" and "<=". The ends of
dates are days (2019-03-31), times (2019-03-31T12:00:00) or bins (2019-03, 2019-Q1, 2019-W13, 2019): of days and bins either is taken, of
times ")" and "<". Missing values, and the catch-all of ordered categories, are in no interval: only "=" and "{" take their labels.
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
_KEYWORDS = ("and", "in", "of", "each")


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
            "a condition is neither true nor false: join conditions with &, each in parentheses, and write an interval with "
            "col(...).between(low, high)"
        )


@dataclass(frozen=True)
class Condition(_NoTruthValue):
    """One condition on one column: a set of values, or an interval.

    Attributes:
        column: its name.
        values: the values of a set; None for an interval.
        low, high: the ends of an interval, as texts; None for the column's own.
        upper: whether the interval includes its upper end.
    """

    column: str
    values: Optional[tuple[str, ...]] = None
    low: Optional[str] = None
    high: Optional[str] = None
    upper: UpperEnd = UpperEnd.ABSENT

    def __and__(self, other: AnyConditions) -> Conditions:
        return Conditions((self,)) & other

    def to_wire(self) -> workload_pb2.Condition:
        """The message of a request."""
        wire = workload_pb2.Condition(attribute=self.column)
        if self.values is not None:
            for value in self.values:
                getattr(wire, "in").add().string_value = value
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
        return replace(self, high=column.excluded_end(self.high)) if column.kind == "date" else self

    def bins(self, schema: Schema) -> list[int]:
        """The codes of the bins whose values fulfil it, ascending. InvalidQuestion where it cuts a bin."""
        column = schema[self.column]
        if self.values is not None:
            return sorted({column.whole_bin(value) for value in self.values})
        meant = self.checked(schema)
        return list(column.interval_bins(meant.low, meant.high))

    def __str__(self) -> str:
        name = quoted(self.column)
        if self.values is not None:
            return f"{name} in {{{', '.join(quoted(value) for value in self.values)}}}"
        low = quoted(self.low) if self.low is not None else ""
        high = quoted(self.high) if self.high is not None else ""
        return f"{name} in [{low},{high}{')' if self.upper is UpperEnd.EXCLUDED else ']'}"


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
class Conditions(_NoTruthValue):
    """Conditions that must all hold."""

    all_of: tuple[Condition, ...]

    def __and__(self, other: AnyConditions) -> Conditions:
        return Conditions(self.all_of + conditions_of(other).all_of)

    def to_wire(self) -> workload_pb2.Predicate:
        """The message of a request."""
        return workload_pb2.Predicate(all_of=[each.to_wire() for each in self.all_of])

    def check(self, schema: Schema) -> None:
        """As Condition.check()."""
        for each in self.all_of:
            each.check(schema)

    def checked(self, schema: Schema) -> Conditions:
        """As Condition.checked()."""
        return Conditions(tuple(each.checked(schema) for each in self.all_of))

    def __str__(self) -> str:
        return " and ".join(str(each) for each in self.all_of)


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

    def __gt__(self, value: Value) -> NoReturn:
        raise InvalidQuestion("there is no '>': intervals include their lower end; write '>='")

    def __ne__(self, value: object) -> NoReturn:
        raise InvalidQuestion("there is no '!=': list the values that are meant with isin(...)")

    __hash__ = None  # type: ignore[assignment]


def col(name: str) -> Column:
    """A column, for conditions:

    >>> import curator_dp as cu
    >>> str((cu.col("age").between(18, 37)) & (cu.col("sex") == "Female"))
    'age in [18,37] and sex in {Female}'
    """
    return Column(name)


def quoted(text: str) -> str:
    """A column or a value as the grammar takes it."""
    is_word = bool(text) and all(ord(c) >= 0x80 or c.isalnum() or c in "_-+.:/&%" for c in text)
    if is_word and text not in _KEYWORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
      (?P<quoted>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
    | (?P<word>[0-9A-Za-z_\-+.:/&%\u0080-\U0010ffff]+)
    | (?P<sign><=|>=|[\[\](){},=<>])
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


def _read_condition(reader: _Reader) -> Condition:
    column = reader.value("an attribute")
    if reader.take("word", "in"):
        if reader.take("sign", "["):
            return _read_interval(reader, column)
        if not reader.take("sign", "{"):
            reader.fail("expected '[' with an interval or '{' with a set after 'in'")
        values = [reader.value("a value")]
        while reader.take("sign", ","):
            values.append(reader.value("a value"))
        reader.expect("sign", "}", "or ',' after a value of the set")
        return Condition(column, values=tuple(values))
    for sign in ("=", ">=", "<=", "<"):
        if reader.take("sign", sign):
            value = reader.value(f"a value after '{sign}'")
            built = Column(column)
            return {"=": built.__eq__, ">=": built.__ge__, "<=": built.__le__, "<": built.__lt__}[sign](value)
    if (reader.kind, reader.text) == ("sign", ">"):
        reader.fail("there is no '>': intervals include their lower end; write '>='")
    reader.fail(f"expected 'in', '=', '>=', '<=' or '<' after the attribute {column} (a text with blanks needs quotes)")


def parse_where(text: str) -> Conditions:
    """The conditions of a text. InvalidQuestion shows the place that cannot be read.

    >>> str(parse_where("age < 65 and sex = Female"))
    'age in [,65) and sex in {Female}'
    """
    reader = _Reader(text)
    conditions = [_read_condition(reader)]
    while reader.take("word", "and"):
        conditions.append(_read_condition(reader))
    if reader.kind != "end":
        reader.fail("expected 'and' or the end (a text with blanks needs quotes)")
    return Conditions(tuple(conditions))


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


AnyConditions = Union[str, Condition, Conditions]


def conditions_of(where: AnyConditions) -> Conditions:
    """Of a text or a built condition. InvalidQuestion where it is neither."""
    if isinstance(where, str):
        return parse_where(where)
    if isinstance(where, Condition):
        return Conditions((where,))
    if not isinstance(where, Conditions):
        raise InvalidQuestion(f'a condition is a text, "age >= 65", or built with col("age") >= 65, not {where!r}')
    return where

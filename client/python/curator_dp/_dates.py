"""Days and times of a declared range, and the labels of its bins.

A time is what a calendar and a clock on a wall show, without a zone, as numpy.datetime64 in seconds: the years 1 to 9999, of which
pandas' own times have only a part.
"""

from __future__ import annotations

import re
from typing import Any, Optional

import numpy as np
import numpy.typing as npt

from curator_dp._wire.curator.v1 import schema_pb2

Times = npt.NDArray[np.datetime64]

_DAY = np.timedelta64(1, "D")
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?)?", re.ASCII)


def read_time(text: str) -> Optional[tuple[np.datetime64, bool]]:
    """A day, at its first second, or a time, and whether it is a day; None where it is neither."""
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    day, hour, minute, second = found.groups()
    try:
        clock = f"T{hour}:{minute}:{second or '00'}" if hour is not None else ""
        time = np.datetime64(f"{day}{clock}", "s")
    except ValueError:
        return None
    return (time, hour is None) if not day.startswith("0000") else None


def time_text(time: np.datetime64) -> str:
    """2019-03-31, or 2019-03-31T12:00:00 where it is not midnight."""
    text = str(time.astype("datetime64[s]"))
    return text[:-9] if text.endswith("T00:00:00") else text


def excluded_time_text(time: np.datetime64) -> str:
    """Always with hours, minutes and seconds: the server takes a day at the end of an interval as its last one, and a time as its end."""
    return str(time.astype("datetime64[s]"))


def _monday(day: Any) -> Any:
    """Of the week of a day, or of each of several days. 1970-01-01 was a Thursday."""
    days = day.astype("datetime64[D]").astype(np.int64)
    return ((days + 3) // 7 * 7 - 3).astype("datetime64[D]")


def _week_label(monday: np.datetime64) -> str:
    """ISO 8601: the week's year is that of its Thursday."""
    thursday = monday.astype("datetime64[D]") + np.timedelta64(3, "D")
    year = thursday.astype("datetime64[Y]")
    return f"{year}-W{int((thursday - year.astype('datetime64[D]')) / _DAY) // 7 + 1:02d}"


def _quarter_label(month: np.datetime64) -> str:
    text = str(month.astype("datetime64[M]"))
    return f"{text[:4]}-Q{(int(text[5:7]) - 1) // 3 + 1}"


class DateBins:
    """The bins of a column of dates: [edge, next edge).

    Attributes:
        edges: shape (bins + 1,).
        is_listed: whether they were listed one by one, instead of being days, weeks, months, quarters or years.
    """

    def __init__(self, wire: schema_pb2.Date) -> None:
        self._bins = wire.bins
        self.is_listed = len(wire.edges) > 0
        if self.is_listed:
            self.edges = np.array([_declared(edge)[0] for edge in wire.edges])
            return
        begin = _declared(getattr(wire, "from"))[0]
        end, is_day = _declared(wire.to)
        self.edges = self._cut(begin, end + _DAY if is_day else end)

    def _cut(self, begin: np.datetime64, end: np.datetime64) -> Times:
        """The first and the last bin hold what the range has of their periods."""
        last = end - np.timedelta64(1, "s")
        if self._bins == schema_pb2.Date.WEEK:
            begins = np.arange(_monday(begin), _monday(last) + _DAY, np.timedelta64(7, "D"))
        else:
            unit, width = {
                schema_pb2.Date.DAY: ("D", 1),
                schema_pb2.Date.MONTH: ("M", 1),
                schema_pb2.Date.QUARTER: ("M", 3),
                schema_pb2.Date.YEAR: ("Y", 1),
            }[self._bins]
            first, after = (int(time.astype(f"datetime64[{unit}]").astype(np.int64)) for time in (begin, last))
            # 1970 began with a quarter.
            begins = np.arange(first // width * width, after + 1, width).astype(f"datetime64[{unit}]")
        edges = np.append(begins.astype("datetime64[s]"), end)
        edges[0] = begin
        return edges

    def __len__(self) -> int:
        return len(self.edges) - 1

    def label(self, first: int, last: int) -> str:
        """Of a run of bins, as the server writes it."""
        if self.is_listed:
            return f"[{time_text(self.edges[first])}, {time_text(self.edges[last + 1])})"
        begin = self._period_label(self.edges[first])
        return begin if first == last else f"{begin} .. {self._period_label(self.edges[last])}"

    def _period_label(self, time: np.datetime64) -> str:
        if self._bins == schema_pb2.Date.WEEK:
            return _week_label(_monday(time))
        if self._bins == schema_pb2.Date.QUARTER:
            return _quarter_label(time)
        unit = {schema_pb2.Date.DAY: "D", schema_pb2.Date.MONTH: "M", schema_pb2.Date.YEAR: "Y"}[self._bins]
        return str(time.astype(f"datetime64[{unit}]"))

    def bin_of(self, time: np.datetime64) -> Optional[int]:
        """The bin that has this time; None outside of the range."""
        code = int(np.searchsorted(self.edges, time, side="right")) - 1
        return code if 0 <= code < len(self) else None

    def first_whole(self, text: str) -> Optional[int]:
        """The bin that begins at a day or a time; None where none does."""
        read = read_time(text)
        code = self.bin_of(read[0]) if read is not None else None
        return code if code is not None and read is not None and self.edges[code] == read[0] else None

    def last_whole(self, text: str) -> Optional[int]:
        """The bin that ends with a day, which is the last one in it, or at a time, which is excluded; None where none does."""
        read = read_time(text)
        if read is None:
            return None
        end = read[0] + (_DAY if read[1] else np.timedelta64(0, "s"))
        code = int(np.searchsorted(self.edges, end)) - 1
        return code if 0 <= code < len(self) and self.edges[code + 1] == end else None

    def begin_text(self, code: int) -> str:
        """Of a bin, for an interval that begins with it."""
        return time_text(self.edges[code])

    def end_text(self, code: int) -> str:
        """Of a bin, for an interval that ends with it: its last day, or the time at which it ends."""
        text = time_text(self.edges[code + 1])
        return text if "T" in text else time_text(self.edges[code + 1] - _DAY)


def _declared(text: str) -> tuple[np.datetime64, bool]:
    read = read_time(text)
    assert read is not None, text
    return read

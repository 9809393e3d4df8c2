"""Names of the constants of the protocol."""

from __future__ import annotations

from typing import Any


def name_of(enum: Any, number: int, prefix: str = "") -> str:
    """Without the prefix that all names of the type have; the number itself where a newer server has sent an unknown one."""
    name = enum.DESCRIPTOR.values_by_number.get(number)
    return str(name.name).removeprefix(prefix) if name is not None else str(number)

"""Limits as one writes them on a command line: `memory=64MiB`, `script_time=5s`, `calls=10`."""

import re
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from codecage.client import Limits

_SECONDS = {"": 1.0, "s": 1.0, "ms": 0.001, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "k": 2**10,
    "m": 2**20,
    "g": 2**30,
    "t": 2**40,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_UNITS = re.compile(r"_(bytes|characters)$")

_FIELDS = {field.name: field.type for field in fields(Limits)}
_SHORT = {_UNITS.sub("", name): name for name in _FIELDS}


def parse_limits(settings: Iterable[str]) -> Limits:
    """Limits from "name=value" settings. A name may leave out its unit, and "-" is as good as "_".

    Raises ValueError naming what is valid.
    """
    values: dict[str, Any] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals:
            raise ValueError(f"{setting!r} is not of the form name=value")
        field = _field(name.strip())
        values[field] = _value(field, text.strip())
    return Limits(**values)


def _field(name: str) -> str:
    plain = name.replace("-", "_")
    field = plain if plain in _FIELDS else _SHORT.get(plain)
    if field is None:
        raise ValueError(f"there is no limit {name!r}; there are: {', '.join(sorted(_SHORT))}")
    return field


def _value(field: str, text: str) -> float | int:
    match = _QUANTITY.fullmatch(text)
    if _FIELDS[field] == (float | None):
        scale = _SECONDS.get(match[2].lower()) if match else None
        if match is None or scale is None:
            raise ValueError(f"{field}={text}: not a time; write for instance 500ms, 5s, 2m or 1h")
        return float(match[1]) * scale
    units = _BYTES if field.endswith("_bytes") else {"": 1}
    scale = units.get(match[2].lower()) if match else None
    amount = float(match[1]) * scale if match and scale else None
    if amount is None or not amount.is_integer():
        wanted = "a size; write for instance 4096, 64KiB or 64MiB" if len(units) > 1 else "a whole number"
        raise ValueError(f"{field}={text}: not {wanted}")
    return int(amount)

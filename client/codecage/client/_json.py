"""JSON texts: pydantic-aware on the way out, exact integers on the way in."""

import json
import sys
import threading
from typing import Any

from pydantic_core import to_json

_DEPTH = 2_000
"""More than the service lets a value be nested, whatever the caller's own stack."""
_raising = threading.Lock()
"""The limit is that of all threads: whoever raises it gives it back before another one does."""


def dump_json(value: Any) -> str:
    """Write a value as one JSON text.

    Models, dataclasses, dates, enums, sets and the like are written as pydantic writes them; NaN and the
    infinities become null, as in JavaScript. Raises ValueError for what cannot be written.
    """
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except RecursionError as error:
        raise ValueError("the value is nested too deeply") from error


def parse_json(text: str) -> Any:
    """Read one JSON text. Raises ValueError if it is none."""
    try:
        return json.loads(text)
    except RecursionError:
        return _parse_deep(text)


def _parse_deep(text: str) -> Any:
    with _raising:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit + _DEPTH)
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("the JSON text is nested too deeply") from error
        finally:
            sys.setrecursionlimit(limit)

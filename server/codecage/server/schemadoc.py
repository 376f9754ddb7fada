"""A JSON Schema as a document of strangers: its parts, and the references within it."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import unquote

__all__ = ["items_of", "members_of", "pointed"]


def members_of(value: Any) -> dict[str, Any]:
    """The members of an object; none for any other value."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The items of a list; none for any other value."""
    return cast("Any", value) if isinstance(value, list) else []


def pointed(root: Any, pointer: str) -> Any:
    """What a JSON pointer leads to, as it stands in the fragment of a reference; None if nothing is there."""
    found: Any = root
    for step in unquote(pointer).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        items = items_of(found)
        if items and name.isascii() and name.isdigit():
            found = items[int(name)] if len(name) <= 9 and int(name) < len(items) else None
        else:
            found = members_of(found).get(name)
    return found

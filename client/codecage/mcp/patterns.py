"""What a rule says of one argument: a condition on a JSON value."""

import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator
from pydantic_core import SchemaError, SchemaValidator, core_schema

__all__ = ["Condition", "found"]


class Condition(BaseModel):
    """A condition on one argument. Exactly one of its keys is given.

    A list meets it by its items, and by its items joined with spaces, as a command line is: see `is_met`. Regular
    expressions are those of Rust's regex crate, which takes time linear in the text, whatever a script sends.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    regex: str | None = None
    """Found anywhere in a string."""
    glob: str | None = None
    """Fits a whole string: * is any text, ? any one character."""
    under: str | None = None
    """A string that is this path, or a path below it, once `.` and `..` are worked off. Links are not followed."""
    equals: Any = None
    """Is this JSON value."""
    _test: Callable[[Any], bool] = PrivateAttr()

    @model_validator(mode="before")
    @classmethod
    def _of_a_string(cls, value: object) -> object:
        return {"glob": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _one_key(self) -> "Condition":
        if len(self.model_fields_set) != 1:
            raise ValueError("needs exactly one of regex, glob, under and equals")
        self._test = self._made()
        return self

    def is_met(self, value: Any, *, by_every_item: bool) -> bool:
        """Whether a value meets the condition; `by_every_item` says whether a list needs all of its items to."""
        if not isinstance(value, list) or "equals" in self.model_fields_set:
            return self._test(value)
        items = cast("Sequence[Any]", value)
        if by_every_item:
            return bool(items) and all(self.is_met(item, by_every_item=True) for item in items)
        joined = " ".join(item for item in items if isinstance(item, str))
        return self._test(joined) or any(self.is_met(item, by_every_item=False) for item in items)

    def _made(self) -> Callable[[Any], bool]:
        if self.regex is not None:
            return _search(self.regex)
        if self.glob is not None:
            return _search(_of_glob(self.glob))
        if self.under is not None:
            return _under(self.under)
        return lambda value: _same(value, self.equals)


def found(arguments: Mapping[str, Any], path: str) -> list[Any]:
    """The values at a path of names like `options.path`; every string at any depth for `*`. Empty: there is none."""
    if path == "*":
        return _strings(arguments)
    value: Any = arguments
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return []
        value = cast("Any", value)[name]
    return [value]


def _strings(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for each in cast("Mapping[str, Any]", value).values() for text in _strings(each)]
    if isinstance(value, list):
        items = cast("Sequence[Any]", value)
        joined = " ".join(item for item in items if isinstance(item, str))
        return [joined, *(text for each in items for text in _strings(each))]
    return []


def _search(pattern: str) -> Callable[[Any], bool]:
    try:
        validator = SchemaValidator(core_schema.str_schema(pattern=pattern, strict=True, regex_engine="rust-regex"))
    except SchemaError as error:
        raise ValueError(f"{pattern!r} is no regular expression: {_line_of(error)}") from error
    return validator.isinstance_python


def _line_of(error: SchemaError) -> str:
    return str(error).rstrip().rpartition("error: ")[2]


def _of_glob(glob: str) -> str:
    pieces = {"*": ".*", "?": "."}
    return f"(?s)^{''.join(pieces.get(char) or re.escape(char) for char in glob)}$"


def _under(folder: str) -> Callable[[Any], bool]:
    base = posixpath.normpath(folder).rstrip("/")

    def is_under(value: Any) -> bool:
        if not isinstance(value, str) or "\0" in value:
            return False
        path = posixpath.normpath(value)
        return path == (base or "/") or path.startswith(f"{base}/")

    return is_under


def _same(value: Any, wanted: Any) -> bool:
    # True is 1 in Python, and is not in JSON.
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)

"""What a rule says of one argument: a condition on a JSON value."""

import json
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ConfigDict, PrivateAttr, model_validator
from pydantic_core import SchemaError, SchemaValidator, core_schema

__all__ = ["Condition", "found"]


class Condition(BaseModel):
    """A condition on one argument. Exactly one of its keys is given.

    A list meets it by its items, and by all in it joined with spaces, as a command line is: see `is_met`. Regular
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
        """Whether a value meets the condition; `by_every_item` says whether a list needs all of its items to.

        Where a single item is enough a number is tested as its JSON text too, and a path up to a NUL, where systems
        end it: whoever asks so refuses calls, and is not to be got round by another form of the same value.
        """
        if isinstance(value, list):
            items = cast("Sequence[Any]", value)
            if self._test(value):
                return True
            if by_every_item:
                return bool(items) and all(self.is_met(item, by_every_item=True) for item in items)
            return self._test(_joined(items)) or any(self.is_met(item, by_every_item=False) for item in items)
        if by_every_item:
            return self._test(value) and not (self.under is not None and "\0" in value)
        forms = [value, value.partition("\0")[0]] if isinstance(value, str) else [value, _joined([value])]
        return any(map(self._test, forms))

    def _made(self) -> Callable[[Any], bool]:
        if self.regex is not None:
            return _search(self.regex)
        if self.glob is not None:
            return _search(_of_glob(self.glob))
        if self.under is not None:
            return _under(self.under)
        return lambda value: _same(value, self.equals)


_MISSING = object()
"""What an item of a list has where it lacks what is looked for: no condition is met by it."""


def found(arguments: Mapping[str, Any], path: str, *, with_names: bool) -> list[Any]:
    """The values at a path of names like `options.path`; every string at any depth for `*`. Empty: there is none.

    `with_names`: for `*` also the names of members within arguments, which a script chooses, and lists as lines.
    """
    if path != "*":
        return _at(arguments, path)
    return [text for each in arguments.values() for text in _strings(each, with_names=with_names)]


def _at(value: Any, path: str) -> list[Any]:
    """What lies at a path. A list on the way is looked through item by item; a name may hold dots itself."""
    if isinstance(value, list):
        return [each for item in cast("Sequence[Any]", value) for each in _at(item, path) or [_MISSING]]
    if not isinstance(value, Mapping):
        return []
    members = cast("Mapping[str, Any]", value)
    found_here = [members[path]] if path in members else []
    steps = path.split(".")
    for count in range(1, len(steps)):
        name, rest = ".".join(steps[:count]), ".".join(steps[count:])
        if name in members:
            found_here += _at(members[name], rest)
    return found_here


def _strings(value: Any, *, with_names: bool) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        texts = [text for each in members.values() for text in _strings(each, with_names=with_names)]
        return [*members, *texts] if with_names else texts
    if isinstance(value, list):
        items = cast("Sequence[Any]", value)
        texts = [text for each in items for text in _strings(each, with_names=with_names)]
        return [_joined(items), *texts] if with_names else texts
    return []


def _joined(items: Sequence[Any]) -> str:
    """All texts and numbers in a list, as the line that they would make."""
    parts: list[str] = []
    for item in items:
        if isinstance(item, list):
            parts.append(_joined(cast("Sequence[Any]", item)))
        elif isinstance(item, str):
            parts.append(item)
        elif isinstance(item, int | float):
            parts.append(json.dumps(item))
    return " ".join(parts)


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
    base = _normal(folder).rstrip("/")

    def is_under(value: Any) -> bool:
        if not isinstance(value, str):
            return False
        path = _normal(value)
        return path == (base or "/") or path.startswith(f"{base}/")

    return is_under


def _normal(path: str) -> str:
    # Two slashes in front mean something of their own in POSIX, but are one to every system that servers run on.
    return posixpath.normpath(f"/{path.lstrip('/')}" if path.startswith("/") else path)


def _same(value: Any, wanted: Any) -> bool:
    # True is 1 in Python, and is not in JSON.
    if isinstance(value, Mapping) and isinstance(wanted, Mapping):
        members, others = cast("Mapping[str, Any]", value), cast("Mapping[str, Any]", wanted)
        return members.keys() == others.keys() and all(_same(members[name], others[name]) for name in members)
    if isinstance(value, list) and isinstance(wanted, list):
        items, wanted_items = cast("Sequence[Any]", value), cast("Sequence[Any]", wanted)
        return len(items) == len(wanted_items) and all(map(_same, items, wanted_items))
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)

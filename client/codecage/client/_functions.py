"""The two tools of goose with which a model looks at the functions before it writes a script."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from codecage.client._answer import Answer
from codecage.client._tools import Tool

LIST_FUNCTIONS = "list_functions"
GET_FUNCTION_DETAILS = "get_function_details"

_DESCRIPTION_CHARACTERS = 160
_SENTENCE = re.compile(r"(?<=[.!?])\s")


def list_functions(tools: Mapping[str, Tool]) -> Answer:
    """Every function by its exact name, each with the first sentence of its description."""
    lines = [_line(tool) for tool in tools.values()]
    return Answer(text="\n".join(lines) or "There are no functions.")


def get_function_details(tools: Mapping[str, Tool], arguments: Mapping[str, Any]) -> Answer:
    """Descriptions and schemas, untouched, of the functions that `{"functions": [names]}` asks for.

    Names that are not there are told, and fail nothing.
    """
    names: Any = arguments.get("functions")
    listed = cast("Sequence[Any]", names) if isinstance(names, list) else (None,)
    if not all(isinstance(name, str) for name in listed):
        return Answer(text='Error: the arguments must be {"functions": [names]}', is_error=True)
    asked = list(dict.fromkeys(listed))
    details: dict[str, Any] = {"functions": [_details(tools[name]) for name in asked if name in tools]}
    if unknown := [name for name in asked if name not in tools]:
        details["unknown"] = unknown
    return Answer(text=json.dumps(details, ensure_ascii=False))


def _line(tool: Tool) -> str:
    text = _SENTENCE.split(" ".join(tool.description.split()), maxsplit=1)[0]
    if len(text) > _DESCRIPTION_CHARACTERS:
        text = text[: _DESCRIPTION_CHARACTERS - 1] + "…"
    return f"{tool.name}: {text}" if text else tool.name


def _details(tool: Tool) -> dict[str, Any]:
    details: dict[str, Any] = {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
    if tool.output_schema is not None:
        details["output_schema"] = tool.output_schema
    return details

"""The tools that a model gets, one dialect's worth of them, ready for the API of a provider."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from codecage.server.describe.rules import rules_of
from codecage.server.dialects import Dialect, Policy
from codecage.server.errors import FieldViolation, InvalidRequest
from codecage.server.limits import Limits
from codecage.v1 import codecage_pb2 as pb

__all__ = ["ModelToolText", "definitions_of"]

_PLACEHOLDER = re.compile(r"\{\{(description|rules|signatures)\}\}")
_MAX_CHARACTERS = 15 << 20
_ROLES: Mapping[str, pb.ModelToolRole.ValueType] = {
    "list_functions": pb.MODEL_TOOL_ROLE_LIST,
    "get_function_details": pb.MODEL_TOOL_ROLE_DETAILS,
}
"""Those of the model's tools that run nothing."""

_PURPOSE = (
    "Runs a script in JavaScript or TypeScript that calls tools, and gives back its result. Use it to make several "
    "calls in one step, to repeat calls, and to filter or combine what they give before you read it. Do not use it "
    "for a single call whose result would only be printed: call that tool itself, where you have it."
)
_LOOK_UP = "Look names up with `list_functions` and schemas with `get_function_details` first; do not guess either."
_LIST = (
    "Lists the functions that `execute_javascript` can call: exact names with short descriptions. Do not use it for "
    "names that you know already, and do not guess names instead of using it."
)
_DETAILS = (
    "Tells the input and output schemas of functions that `execute_javascript` can call, by their exact names; names "
    "that do not exist are listed as unknown. Ask for all that you need at once. Do not use it for functions whose "
    "schemas you have seen."
)
_NO_ARGUMENTS: Mapping[str, object] = {"type": "object", "properties": {}, "additionalProperties": False}
_FUNCTIONS = {
    "type": "object",
    "properties": {
        "functions": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "description": "The exact names of the functions.",
        }
    },
    "required": ["functions"],
    "additionalProperties": False,
}
_TOOL_GRAPH = {
    "type": "array",
    "description": "What the script is going to call, for display: one entry for each step.",
    "items": {
        "type": "object",
        "properties": {
            "tool": {"type": "string", "description": "The name of the function."},
            "description": {"type": "string", "description": "What this step is for."},
            "depends_on": {
                "type": "array",
                "items": {"type": "integer", "minimum": 0},
                "description": "The indexes of the steps whose results it needs.",
            },
        },
        "required": ["tool", "description"],
        "additionalProperties": False,
    },
}


@dataclass(frozen=True)
class ModelToolText:
    """One tool for the model, before the signatures are in its description."""

    name: str
    role: pb.ModelToolRole.ValueType
    rules: str
    """The description without the signatures."""
    schema: Mapping[str, object]
    holds_signatures: bool
    """Whether the description holds the signatures, where the caller does not say otherwise."""

    def fixed_text(self, template: str | None) -> str | None:
        """The description but for the signatures; None if it holds none."""
        if template is None:
            return self.rules if self.holds_signatures else None
        wants = "{{signatures}}" in template or (self.holds_signatures and "{{description}}" in template)
        return self._filled(template, "") if wants else None

    def message(self, template: str | None, signatures: str) -> pb.ModelTool:
        """As a message. Signatures and rules are text: what looks like a placeholder in them is none."""
        described = self._described(signatures)
        return pb.ModelTool(
            name=self.name,
            description=described if template is None else self._filled(template, signatures),
            input_schema_json=orjson.dumps(self.schema).decode(),
            role=self.role,
        )

    def _filled(self, template: str, signatures: str) -> str:
        texts = {"description": self._described(signatures), "rules": self.rules, "signatures": signatures}
        # Before it is written out: a small template may name a large text many times.
        size = len(template) + sum(len(texts[found]) for found in _PLACEHOLDER.findall(template))
        if size > _MAX_CHARACTERS:
            reason = f"the description would have {size} characters, more than {_MAX_CHARACTERS}"
            raise InvalidRequest(FieldViolation(f"description_templates[{self.name!r}]", reason))
        return _PLACEHOLDER.sub(lambda found: texts[found[1]], template)

    def _described(self, signatures: str) -> str:
        return f"{self.rules}\n\nThe tools:\n{signatures}" if self.holds_signatures else self.rules


def definitions_of(dialect: Dialect, policy: Policy, limits: Limits) -> list[ModelToolText]:
    """The tools of the dialect for a model, those that only tell something first."""
    has_look_up = any(name in _ROLES for name in dialect.model_tools)
    texts: list[ModelToolText] = []
    for name in sorted(dialect.model_tools, key=lambda each: (_ROLES.get(each, 100), each)):
        role = _ROLES.get(name, pb.MODEL_TOOL_ROLE_RUN)
        if role == pb.MODEL_TOOL_ROLE_LIST:
            texts.append(ModelToolText(name, role, _LIST, _NO_ARGUMENTS, holds_signatures=False))
        elif role == pb.MODEL_TOOL_ROLE_DETAILS:
            texts.append(ModelToolText(name, role, _DETAILS, _FUNCTIONS, holds_signatures=False))
        else:
            parts = [_PURPOSE, *([_LOOK_UP] if has_look_up else []), "Rules:"]
            rules = "\n".join([*parts, *(f"- {rule}" for rule in rules_of(policy, limits))])
            schema = _run_schema(dialect)
            texts.append(ModelToolText(name, role, rules, schema, holds_signatures=not has_look_up))
    return texts


def _run_schema(dialect: Dialect) -> dict[str, object]:
    properties: dict[str, object] = {"code": {"type": "string", "description": "The script."}}
    if dialect.describing.has_tool_graph:
        properties["tool_graph"] = _TOOL_GRAPH
    return {"type": "object", "properties": properties, "required": ["code"], "additionalProperties": False}

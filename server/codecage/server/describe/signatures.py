"""What is said of one tool, at each level of detail, in the form that its dialect calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from codecage.server.describe.comments import clean, first_sentence, is_identifier, one_line, quoted
from codecage.server.describe.typescript import Detail, TypeWriter
from codecage.server.names import NameMap
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb

__all__ = ["CallText", "ToolText", "namespace_of"]

_MAX_LINE = 240
"""Characters of the arguments' type in one line; beyond them it is written in less depth."""
_LINE_DETAILS = tuple(
    Detail(depth, members, is_full=False, parts=200, characters=2_000) for depth, members in ((3, 40), (2, 30), (1, 24))
)
_PLAIN = re.compile(r"[^\s,\"'`]+")
_SEPARATORS = ("__", ".", "/", ":")
_OUTPUT_MARK = "r"  # in the names of its types, so that they differ from those of the arguments
_QUOTED_KEYS = frozenset({"new", "constructor"})
"""Names that mean something of their own as the name of a method."""


def namespace_of(name: str) -> str:
    """What comes before the last separator of a name; "" if there is none."""
    end = max(name.rfind(separator) for separator in _SEPARATORS)
    return name[: max(end, 0)]


@dataclass(frozen=True)
class CallText:
    """How calls are written."""

    call_form: pb.CallForm.ValueType
    answer_form: pb.AnswerForm.ValueType
    is_member: bool = True
    """As a member of a declaration of `tools`; else as a call, with `tools` in front."""

    @property
    def types(self) -> list[str]:
        """Declarations of the types that signatures in this form name."""
        return [_PARTS] if self.answer_form == pb.ANSWER_FORM_PARTS else []


_PARTS = """\
type ToolAnswer<T = unknown> = { text: string; details?: T; images?: { data: string; mimeType: string }[] };"""


@dataclass(frozen=True)
class ToolText:
    """One tool as scripts of one dialect call it. Each text is made when it is first needed, and kept."""

    tool: Tool
    index: int
    names: NameMap
    form: CallText

    @cached_property
    def namespace(self) -> str:
        """Descriptions are shared out fairly over these."""
        return namespace_of(self.tool.name)

    @cached_property
    def summary(self) -> str:
        """The first sentence of the description, in one line."""
        return first_sentence(self.tool.description)

    @cached_property
    def _key(self) -> str | None:
        """The key behind `tools`; None where the tool is called by name."""
        return None if self.form.call_form == pb.CALL_FORM_NAME_AND_ARGUMENTS else self.names.key_of(self.index)

    @cached_property
    def callee(self) -> str:
        """How a script reaches it, up to the arguments."""
        if self._key is not None:
            return f"tools.{self._key}" if is_identifier(self._key) else f"tools[{quoted(self._key)}]"
        if self.form.call_form == pb.CALL_FORM_OBJECT:
            return f"tools.call({{ name: {quoted(self.tool.name)}, args: "
        return f"tools.call({quoted(self.tool.name)}, "

    @cached_property
    def exact_name(self) -> str:
        """Its name as listed, in quotes where it could be mistaken in a list."""
        name = self.tool.name
        return name if _PLAIN.fullmatch(name) and one_line(name) == name else quoted(name)

    @cached_property
    def short_name(self) -> str:
        """What stands for it in a list of names: the key behind `tools`, or its name where it is called by name."""
        key = self._key
        if key is None:
            return self.exact_name
        return key if is_identifier(key) else quoted(key)

    @cached_property
    def line(self) -> str:
        """Its signature in one line, with the first sentence of its description."""
        summary = f" // {self.summary}" if self.summary else ""
        output = self.tool.output_schema_json
        answer = self._answer_type(_short(orjson.loads(output)) if output else "unknown")
        arguments = _as_object(_short(orjson.loads(self.tool.input_schema_json or "{}")))
        return f"{self._head(arguments)}: Promise<{answer}>;{summary}"

    @property
    def declaration(self) -> str:
        """Its signature with all that is known, below a comment."""
        return self._declared[0]

    @property
    def types(self) -> str:
        """The types that the declaration names, each a declaration of its own."""
        return self._declared[1]

    @cached_property
    def _declared(self) -> tuple[str, str]:
        arguments = TypeWriter(orjson.loads(self.tool.input_schema_json or "{}"), Detail(), f"_{self.index}")
        output = TypeWriter(
            orjson.loads(self.tool.output_schema_json or "{}"), Detail(), f"_{self.index}{_OUTPUT_MARK}"
        )
        head, answer = self._head(_as_object(arguments.write())), self._answer_type(output.write())
        types = "\n".join([*arguments.declarations(), *output.declarations()])
        return f"{self._documentation}{head}: Promise<{answer}>;", types

    def _head(self, arguments: str) -> str:
        mark = "?" if self._takes_nothing else ""
        prefix = "" if self.form.is_member else "tools."
        if self._key is not None:
            return f"{self._member if self.form.is_member else self.callee}(args{mark}: {arguments})"
        if self.form.call_form == pb.CALL_FORM_OBJECT:
            return f"{prefix}call(call: {{ name: {quoted(self.tool.name)}; args: {arguments} }})"
        return f"{prefix}call(name: {quoted(self.tool.name)}, args{mark}: {arguments})"

    @property
    def _member(self) -> str:
        key = self._key or ""
        return key if is_identifier(key) and key not in _QUOTED_KEYS else quoted(key)

    @cached_property
    def _takes_nothing(self) -> bool:
        """Whether it may be called without arguments, which stands for an empty object."""
        return not self.tool.schema.mismatch(b"{}")

    def _answer_type(self, structured: str) -> str:
        if self.form.answer_form == pb.ANSWER_FORM_TEXT:
            return "string"
        if self.form.answer_form == pb.ANSWER_FORM_PARTS:
            return "ToolAnswer" if structured == "unknown" else f"ToolAnswer<{structured}>"
        return structured

    @cached_property
    def _documentation(self) -> str:
        lines = [line.rstrip() for line in clean(self.tool.description).strip().split("\n")]
        if self.tool.hints is not None and self.tool.hints.read_only:
            lines.append("Read-only.")
        lines = [line for line in lines if line or len(lines) > 1]
        if not lines:
            return ""
        if len(lines) == 1:
            return f"/** {lines[0]} */\n"
        return "/**\n" + "\n".join(f" * {line}".rstrip() for line in lines) + "\n */\n"


def _short(schema: Any) -> str:
    """The type in one line, in as much depth as has a place there."""
    text = ""
    for detail in _LINE_DETAILS:
        text = TypeWriter(schema, detail).write()
        if len(text) <= _MAX_LINE:
            break
    return text


def _as_object(text: str) -> str:
    """The type of arguments, which are always an object, whatever their schema leaves open."""
    return "object" if text == "unknown" else text

"""One page of tools, written out within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson

from codecage.server.describe.budget import share, tokens_of
from codecage.server.describe.comments import one_line
from codecage.server.describe.signatures import ToolText
from codecage.v1 import codecage_pb2 as pb

__all__ = ["Page"]

_LEVELS = (pb.DETAIL_UNSPECIFIED, pb.DETAIL_NAMES, pb.DETAIL_SIGNATURES, pb.DETAIL_FULL)
"""The detail of each level of a budget; at the first a tool is only counted."""
_NAME_TOKENS = 2
"""What a name takes besides its own text."""
_NO_LIMIT = 1 << 60
_FRAME_TOKENS = 40
"""What stands around the tools: the opening of the block, how many are shown."""


@dataclass(frozen=True)
class Page:
    """Some tools, in order, out of those that matched."""

    tools: Sequence[ToolText]
    matched: int
    """How many matched in all."""
    detail: pb.Detail.ValueType
    """What is said of each tool, at most."""
    unknown: Sequence[str] = ()
    """Names that were asked for and are no tools."""
    query: str = ""

    def levels(self, budget: int, texts: Callable[[ToolText, int], str]) -> list[int]:
        """The level of detail of each tool, so that its `texts` together fit into `budget` tokens; 0: no limit."""
        wanted = _LEVELS.index(self.detail)
        if not budget:
            return [wanted] * len(self.tools)
        known: dict[tuple[int, int], int] = {}

        def cost(index: int, level: int) -> int:
            if (index, level) not in known:
                known[index, level] = tokens_of(texts(self.tools[index], level)) + _NAME_TOKENS
            return known[index, level]

        groups = [tool.namespace for tool in self.tools]
        return share(groups, wanted, cost, max(0, budget - _FRAME_TOKENS))

    def declarations(self, budget: int) -> str:
        """A block of TypeScript that declares `tools`."""
        levels = self.levels(budget, _declared)
        types = self._types(levels)
        body = [
            f"  {_indented(_member(tool, level))}" for tool, level in zip(self.tools, levels, strict=True) if level > 1
        ]
        body += [f"  // {line}" for line in self._names(levels)]
        block = "\n".join([*types, "declare const tools: {", *body, "};"])
        return "\n".join([*self._heading(), f"```ts\n{block}\n```"]) if self.tools else self._nothing()

    def lines(self, budget: int) -> str:
        """One line for each tool, as it is called."""
        levels = self.levels(budget, _declared)
        told = [_member(tool, level) for tool, level in zip(self.tools, levels, strict=True) if level > 1]
        types = self._types(levels)
        return "\n".join([*self._heading(), *types, *told, *self._names(levels)]) if self.tools else self._nothing()

    def summaries(self, budget: int) -> str:
        """The exact name of each tool with the first sentence of its description."""
        levels = self.levels(budget, _summarised)
        told = [_summarised(tool, level) for tool, level in zip(self.tools, levels, strict=True) if level > 1]
        return "\n".join([*self._heading(), *told, *self._names(levels)]) if self.tools else self._nothing()

    def details(self, budget: int) -> str:
        """A JSON object with the schemas of each tool as they were listed."""
        levels = self.levels(budget, _detailed)
        told = [_detailed(tool, level) for tool, level in zip(self.tools, levels, strict=True) if level]
        members = [f'"functions":[{",".join(told)}]']
        if self.unknown:
            members.append(f'"unknown_functions":{orjson.dumps(list(self.unknown)).decode()}')
        if len(told) < self.matched:
            members.append(f'"note":{orjson.dumps(self._counted(len(told))).decode()}')
        return "{" + ",".join(members) + "}"

    def described_levels(self, budget: int) -> list[pb.Detail.ValueType]:
        """The detail of each tool, so that their signatures fit into `budget` tokens; 0: no limit."""
        return [_LEVELS[max(1, level)] for level in self.levels(budget, _declared)]

    def _types(self, levels: Sequence[int]) -> list[str]:
        """The types that the signatures name."""
        of_form = self.tools[0].form.types if self.tools and max(levels) > 1 else []
        full = [tool.types for tool, level in zip(self.tools, levels, strict=True) if level > 2 and tool.types]
        return [*of_form, *full]

    def _heading(self) -> list[str]:
        unknown = [f"No such tools: {', '.join(map(one_line, self.unknown))}."] if self.unknown else []
        return [*unknown, *([self._counted(len(self.tools))] if len(self.tools) < self.matched else [])]

    def _counted(self, shown: int) -> str:
        return f"Showing {shown} of {self.matched} tools."

    def _nothing(self) -> str:
        nothing = (
            f"No tool matches {orjson.dumps(one_line(self.query)).decode()}." if self.query else "There are no tools."
        )
        return "\n".join([*self._heading(), nothing] if not self.unknown else self._heading())

    def _names(self, levels: Sequence[int]) -> list[str]:
        """The tools of which no more than the name is told, and how many are not told at all, by namespace."""
        named: dict[str, list[str]] = {}
        counted: dict[str, int] = {}
        for tool, level in zip(self.tools, levels, strict=True):
            if level == 1:
                named.setdefault(tool.namespace, []).append(tool.short_name)
            elif level == 0:
                counted[tool.namespace] = counted.get(tool.namespace, 0) + 1
        lines: list[str] = []
        for namespace in dict.fromkeys([*named, *counted]):
            names = ", ".join(named.get(namespace, []))
            more = f"{counted[namespace]} more" if namespace in counted else ""
            told = " and ".join(filter(None, [names, more]))
            of = f" of {one_line(namespace)}" if namespace else ""
            lines.append(f"names only{of}: {told}" if names else f"not shown{of}: {more}")
        return lines if any(levels) or counted else []


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _member(tool: ToolText, level: int) -> str:
    return tool.declaration if level > 2 else tool.line


def _declared(tool: ToolText, level: int) -> str:
    if level <= 1:
        return tool.short_name
    return tool.line if level == 2 else f"{tool.types}\n{tool.declaration}"


def _summarised(tool: ToolText, level: int) -> str:
    if level <= 1:
        return tool.short_name
    return f"{tool.exact_name}: {tool.summary}" if tool.summary else tool.exact_name


def _detailed(tool: ToolText, level: int) -> str:
    """A tool as a member of a JSON list. The schemas are the texts as they were listed."""
    members = [f'"name":{orjson.dumps(tool.tool.name).decode()}']
    if level == 2:
        members.append(f'"description":{orjson.dumps(tool.summary).decode()}')
        members.append(f'"signature":{orjson.dumps(tool.line).decode()}')
    if level > 2:
        members.append(f'"description":{orjson.dumps(tool.tool.description).decode()}')
        members.append(f'"input_schema":{tool.tool.input_schema_json or "{}"}')
        if tool.tool.output_schema_json:
            members.append(f'"output_schema":{tool.tool.output_schema_json}')
    return "{" + ",".join(members) + "}"

"""The tools of all servers behind us, under one name each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from codecage.client import Tool as ClientTool
from codecage.client import ToolCall, tools_from
from codecage.mcp.config import Settings
from codecage.mcp.progress import current_progress
from codecage.mcp.rules import Decision, decide
from codecage.mcp.upstream import Upstream
from mcp.types import CallToolResult, Tool

__all__ = ["Catalog", "Clash"]

_MODEL_TOOLS = frozenset({"run_script", "run_code", "execute_javascript", "list_functions", "get_function_details"})


class Clash(Exception):
    """Two tools would have one name. The message says which and how to mend it."""


@dataclass(frozen=True, slots=True)
class _Entry:
    upstream: Upstream
    tool: Tool

    @property
    def is_read_only(self) -> bool:
        annotations = self.tool.annotations
        return annotations is not None and annotations.read_only_hint is True


class Catalog:
    """The tools by the names that scripts use, as they were when this was made."""

    def __init__(self, upstreams: Iterable[Upstream], settings: Settings) -> None:
        """Raises Clash."""
        self._settings = settings
        self._entries: dict[str, _Entry] = {}
        for upstream in upstreams:
            for tool in upstream.tools:
                self._add(_Entry(upstream, tool))

    def tools(self) -> list[ClientTool]:
        """The tools, ready for a toolkit: called, they call the servers behind us."""
        listed = [entry.tool.model_copy(update={"name": name}) for name, entry in self._entries.items()]
        return [self._timed(tool) for tool in tools_from(listed, self._call)]

    def decide(self, call: ToolCall) -> Decision:
        """What the rules say of a call."""
        entry = self._entries.get(call.tool_name)
        if entry is None:
            return Decision("deny", "there is no such tool here")
        config, settings = entry.upstream.config, self._settings
        rules = [(rule, call.tool_name) for rule in settings.rules]
        rules += [(rule, entry.tool.name) for rule in config.rules]
        return decide(rules, call.arguments, self._otherwise(entry))

    def _timed(self, tool: ClientTool) -> ClientTool:
        timeout = self._entries[tool.name].upstream.config.call_timeout
        return replace(tool, hints=replace(tool.hints, timeout=timeout))

    def _otherwise(self, entry: _Entry) -> Any:
        config, settings = entry.upstream.config, self._settings
        default = config.default or settings.default
        approves = settings.approve_read_only if config.approve_read_only is None else config.approve_read_only
        return "allow" if default == "ask" and approves and entry.is_read_only else default

    def _add(self, entry: _Entry) -> None:
        is_first_class = entry.upstream.config.first_class
        name = entry.tool.name if is_first_class else f"{entry.upstream.name}__{entry.tool.name}"
        if name in _MODEL_TOOLS:
            raise Clash(f"the tool {name!r} of the server {entry.upstream.name!r} is called like one of our own")
        other = self._entries.setdefault(name, entry)
        if other is not entry:
            raise Clash(
                f"two tools would be called {name!r}: {_told(other)} and {_told(entry)};"
                " rename a server, or take firstClass from it"
            )

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        entry = self._entries[name]
        return await entry.upstream.call(entry.tool.name, arguments, current_progress(name))


def _told(entry: _Entry) -> str:
    return f"{entry.tool.name!r} of the server {entry.upstream.name!r}"

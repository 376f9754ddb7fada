"""Names of the tools behind, and what is decided where no rule is about a call."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import Tool, ToolAnnotations

from codecage.client import ToolCall
from codecage.mcp.catalog import Catalog, Clash
from codecage.mcp.config import ServerConfig, Settings
from codecage.mcp.upstream import Upstream


def upstream(name: str, *tools: Tool, **settings: Any) -> Upstream:
    made = Upstream(name, ServerConfig.model_validate({"command": "x", **settings}), lambda: None)
    made.tools = list(tools)
    return made


def tool(name: str, *, is_read_only: bool = False) -> Tool:
    return Tool(name=name, input_schema={"type": "object"}, annotations=ToolAnnotations(read_only_hint=is_read_only))


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(call_id="1", sequence=1, tool_name=name, arguments_json="", arguments=arguments)


async def test_names_have_their_server_before_them_unless_it_is_first_class() -> None:
    catalog = Catalog([upstream("a", tool("t")), upstream("b", tool("t"), firstClass=True)], Settings())
    assert [each.name for each in catalog.tools()] == ["a__t", "t"]


@pytest.mark.parametrize(
    ("servers", "told"),
    [
        ([("a", "t", True), ("b", "t", True)], "two tools would be called 't': 't' of the server 'a' and 't' of the"),
        ([("a", "b__t", False), ("a__b", "t", False)], "two tools would be called 'a__b__t'"),
        ([("a", "b__t", True), ("b", "t", False)], "two tools would be called 'b__t'"),
        ([("a", "run_script", True)], "is called like one of our own"),
    ],
)
async def test_two_tools_of_one_name_are_a_clash_however_they_came_by_it(
    servers: list[tuple[str, str, bool]], told: str
) -> None:
    upstreams = [upstream(server, tool(name), firstClass=is_first_class) for server, name, is_first_class in servers]
    with pytest.raises(Clash, match=told):
        Catalog(upstreams, Settings())


@pytest.mark.parametrize(
    ("server", "settings", "looks", "changes"),
    [
        ({}, {}, "allow", "ask"),
        ({}, {"approve_read_only": False}, "ask", "ask"),
        ({"approveReadOnly": True}, {"approve_read_only": False}, "allow", "ask"),
        ({"default": "deny"}, {}, "deny", "deny"),
        ({"default": "allow"}, {"default": "deny"}, "allow", "allow"),
        ({}, {"default": "deny"}, "deny", "deny"),
        ({"rules": [{"action": "ask"}]}, {}, "ask", "ask"),
        ({"rules": [{"action": "allow", "tool": "change"}]}, {"default": "deny"}, "deny", "allow"),
        ({"rules": [{"action": "allow"}]}, {"rules": [{"action": "deny", "tool": "s__change"}]}, "allow", "deny"),
    ],
)
async def test_rules_come_first_then_read_only_tools_then_the_defaults(
    server: dict[str, Any], settings: dict[str, Any], looks: str, changes: str
) -> None:
    behind = upstream("s", tool("look", is_read_only=True), tool("change"), **server)
    catalog = Catalog([behind], Settings.model_validate(settings))
    assert (catalog.decide(call("s__look")).action, catalog.decide(call("s__change")).action) == (looks, changes)


async def test_a_tool_that_is_gone_is_refused() -> None:
    assert Catalog([], Settings()).decide(call("s__look")).action == "deny"

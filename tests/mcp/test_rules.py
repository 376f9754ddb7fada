"""Which calls rules are about, and which of them counts."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from codecage.mcp.rules import Decision, Rule, decide


def rule(action: str = "deny", **members: Any) -> Rule:
    return Rule.model_validate({"action": action, **members})


@pytest.mark.parametrize(
    ("members", "tool", "arguments", "is_about"),
    [
        ({}, "anything", {}, True),
        ({"tool": "write_*"}, "write_file", {}, True),
        ({"tool": "write_*"}, "rewrite_file", {}, False),
        ({"tool": "a.b"}, "axb", {}, False),
        ({"arguments": {"command": {"regex": r"\brm\b"}}}, "t", {"command": "sudo rm -rf /"}, True),
        ({"arguments": {"command": {"regex": r"\brm\b"}}}, "t", {"command": "farm"}, False),
        ({"arguments": {"command": {"regex": r"\brm\b"}}}, "t", {}, False),
        ({"arguments": {"command": {"regex": r"^rm -rf"}}}, "t", {"command": ["rm", "-rf", "/"]}, True),
        ({"arguments": {"options.path": "*.env"}}, "t", {"options": {"path": "a/.env"}}, True),
        ({"arguments": {"options.path": "*.env"}}, "t", {"options": "a/.env"}, False),
        ({"arguments": {"*": {"regex": "secret"}}}, "t", {"deep": [{"er": "a secret"}]}, True),
        ({"arguments": {"force": {"equals": True}}}, "t", {"force": True}, True),
        ({"arguments": {"force": {"equals": True}}}, "t", {"force": 1}, False),
        ({"arguments": {"path": {"under": "/etc"}}}, "t", {"path": "/srv/../etc/passwd"}, True),
        ({"arguments": {"path": {"under": "/etc"}}}, "t", {"path": "/etcetera"}, False),
        ({"arguments": {"path": {"under": "/"}}}, "t", {"path": "/anything"}, True),
        ({"arguments": {"path": {"under": "/etc"}}}, "t", {"path": "//etc/passwd"}, True),
        ({"arguments": {"path": {"under": "//etc"}}}, "t", {"path": "/etc/passwd"}, True),
        ({"arguments": {"path": {"under": "/etc"}}}, "t", {"path": "/etc/passwd\0.txt"}, True),
        ({"arguments": {"path": {"under": "/etc"}}}, "t", {"path": "/etc\0/../../srv"}, True),
        ({"action": "allow", "arguments": {"path": {"under": "/srv"}}}, "t", {"path": "/srv/a\0"}, False),
        ({"action": "allow", "arguments": {"path": {"under": "/srv"}}}, "t", {"path": "//srv/a"}, True),
        ({"action": "allow", "arguments": {"path": {"under": "/srv"}}}, "t", {"path": ["/srv/a", 1]}, False),
        ({"arguments": {"edits.path": {"under": "/etc"}}}, "t", {"edits": [{"path": "/a"}, {"path": "/etc/b"}]}, True),
        ({"arguments": {"edits.path": {"under": "/etc"}}}, "t", {"edits": [[{"path": ["/etc/b"]}]]}, True),
        ({"action": "allow", "arguments": {"e.p": "x"}}, "t", {"e": [{"p": "x"}, {"p": "y"}]}, False),
        ({"action": "allow", "arguments": {"e.p": "x"}}, "t", {"e": [{"p": "x"}, {"q": "y"}]}, False),
        ({"action": "allow", "arguments": {"e.p": "x"}}, "t", {"e": [{"p": "x"}, {"p": "x"}]}, True),
        ({"arguments": {"a.b": "x"}}, "t", {"a.b": "x"}, True),
        ({"arguments": {"a.b.c": "x"}}, "t", {"a.b": {"c": "x"}}, True),
        ({"action": "allow", "arguments": {"a.b": "x"}}, "t", {"a.b": "y", "a": {"b": "x"}}, False),
        ({"arguments": {"*": {"under": "/etc"}}}, "t", {"files": {"/etc/passwd": "x"}}, True),
        ({"arguments": {"*": {"regex": "path"}}}, "t", {"path": {"a": "x"}}, False),
        ({"action": "allow", "arguments": {"*": "x"}}, "t", {"a": {"b": ["x", "x"]}}, True),
        ({"action": "allow", "arguments": {"*": "x"}}, "t", {"a": {"b": ["x", "y"]}}, False),
        ({"arguments": {"port": {"regex": "^22$"}}}, "t", {"port": 22}, True),
        ({"action": "allow", "arguments": {"port": {"regex": "^22$"}}}, "t", {"port": 22}, False),
        ({"arguments": {"command": {"regex": "rm -rf"}}}, "t", {"command": ["rm", ["-rf"]]}, True),
        ({"arguments": {"command": {"regex": "kill -9 1"}}}, "t", {"command": ["kill", "-9", 1]}, True),
        ({"arguments": {"tag": {"equals": "x"}}}, "t", {"tag": ["y", "x"]}, True),
        ({"arguments": {"tag": {"equals": ["x"]}}}, "t", {"tag": ["x"]}, True),
        ({"action": "allow", "arguments": {"o": {"equals": {"a": [True]}}}}, "t", {"o": {"a": [1]}}, False),
        ({"action": "allow", "arguments": {"o": {"equals": {"a": [True]}}}}, "t", {"o": {"a": [True]}}, True),
        ({"arguments": {"a": "x", "b": "y"}}, "t", {"a": "x", "b": "z"}, False),
    ],
)
def test_a_rule_is_about_the_calls_that_meet_all_of_its_conditions(
    members: dict[str, Any], tool: str, arguments: dict[str, Any], *, is_about: bool
) -> None:
    assert rule(**{"action": "deny", **members}).is_about(tool, arguments) is is_about


def test_a_rule_that_refuses_needs_one_item_of_a_list_and_one_that_allows_needs_all() -> None:
    arguments = {"paths": ["/srv/a", "/etc/passwd"]}
    condition = {"paths": {"under": "/srv"}}
    assert rule("deny", arguments=condition).is_about("t", arguments)
    assert rule("ask", arguments=condition).is_about("t", arguments)
    assert not rule("allow", arguments=condition).is_about("t", arguments)
    assert rule("allow", arguments=condition).is_about("t", {"paths": ["/srv/a", "/srv/b"]})
    assert not rule("allow", arguments=condition).is_about("t", {"paths": []})


def test_of_the_rules_about_a_call_the_strictest_counts_wherever_it_stands() -> None:
    rules = [(rule("allow"), "t"), (rule("deny", tool="t", reason="no"), "t"), (rule("ask"), "t")]
    assert decide(rules, {}, "allow") == Decision("deny", "no")
    assert decide(rules[:1] + rules[2:], {}, "allow") == Decision("ask")
    assert decide(rules[:1], {}, "deny") == Decision("allow")
    assert decide([], {}, "ask") == Decision("ask")


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"action": "forbid"}, "action"),
        ({"action": "deny", "tols": "x"}, "tols"),
        ({"action": "deny", "arguments": {"a": {"regex": "("}}}, "no regular expression: unclosed group"),
        ({"action": "deny", "arguments": {"a": {}}}, "exactly one of regex, glob, under and equals"),
        ({"action": "deny", "arguments": {"a": {"glob": "x", "regex": "y"}}}, "exactly one of"),
    ],
)
def test_a_rule_that_cannot_be_meant_is_refused_with_the_place(members: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Rule.model_validate(members)


def test_an_expression_that_backtracks_elsewhere_takes_no_time_here() -> None:
    slow = rule(arguments={"text": {"regex": r"^(a+)+$"}})
    assert not slow.is_about("t", {"text": "a" * 100_000 + "!"})

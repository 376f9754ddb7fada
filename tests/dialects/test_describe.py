"""What a model is told of a dialect is what a script of it finds: names, forms, answers and rules."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import grpc
import pytest
from tests.dialects.bench import DIALECTS, Bench, body, returning
from tests.support.caller import information, tool

from codecage.server.dialects import DIALECTS as RECORDS
from codecage.server.names import NameMap
from codecage.v1 import codecage_pb2 as pb

ODD_NAMES = [
    *("plain", "get-item", "get_item", "a.b", "a b", "9lives", "delete", "new", "class", "constructor", "toString"),
    *("__proto__", "then", "call", "hasOwnProperty", "名", "été", "😀", 'quo"te', "back`tick", "new\nline", "*/"),
    *("x\u2028y", "server__list-issues", "$", "_", "0", " ", "${x}", "tools", "args", "prototype", "a-b", "a_b_"),
    *("length", "name"),
]
ODD = [tool(name, {"properties": {"n": {"type": "integer"}}}, f"Tool {index}.") for index, name in enumerate(ODD_NAMES)]


async def describe(bench: Bench, tools: Sequence[pb.Tool] = ODD, **fields: Any) -> pb.DescribeResponse:
    response: pb.DescribeResponse = await bench.stub.Describe(
        pb.DescribeRequest(tools=pb.ToolList(tools=tools), **fields)
    )
    return response


def called(tool: pb.DescribedTool, arguments: str) -> str:
    """A call of a described tool, from nothing but its description."""
    close = " })" if tool.callee.startswith("tools.call({") else ")"
    return tool.callee + ("" if tool.callee.startswith("tools.call(") else "(") + arguments + close


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_every_declared_name_is_callable_and_reaches_the_tool_of_that_name(bench: Bench, dialect: str) -> None:
    described = await describe(bench, dialect=dialect)
    assert [each.name for each in described.tools] == ODD_NAMES
    calls = [called(each, f"{{ n: {number} }}") for number, each in enumerate(described.tools)]
    source = "".join(f"await {call};\n" for call in calls)
    seen = await bench.run(body(dialect, source), dialect, tools=ODD)
    assert seen.code == "completed", seen.finished
    assert [(call.tool_name, json.loads(call.arguments_json)["n"]) for call in seen.calls] == [
        (name, number) for number, name in enumerate(ODD_NAMES)
    ]


@pytest.mark.parametrize("dialect", ["standard", "sero", "devoxxgenie"])
async def test_the_runtime_finds_by_each_key_what_the_map_of_names_says(bench: Bench, dialect: str) -> None:
    names = NameMap.of(ODD_NAMES)
    keys = [*ODD_NAMES, *names.identifiers, *(identifier for identifier, _names in names.collisions), "nope", "a_c"]
    source = f"return {json.dumps(keys)}.map((key) => key === 'call' ? 'call' : tools[key]?.name ?? null)"
    seen = await bench.run(body(dialect, source), dialect, tools=ODD)
    found = [None if index is None else ODD_NAMES[index] for index in map(names.find, keys)]
    assert seen.value == ["call" if key == "call" else name for key, name in zip(keys, found, strict=True)]
    assert (names.find("a_b"), names.find("get_item")) == (None, ODD_NAMES.index("get_item"))


async def test_check_tells_the_tool_that_an_identifier_leads_to(bench: Bench) -> None:
    source = "await tools.server__list_issues({}); await tools._9lives({}); await tools.call('call', {}); tools.a_b"
    told = await bench.check(source, tools=ODD)
    assert list(told.tool_names) == ["server__list-issues", "9lives", "call"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_definitions_are_ready_for_a_provider(bench: Bench, dialect: str) -> None:
    described = await describe(bench, dialect=dialect)
    assert {each.name for each in described.model_tools} == RECORDS[dialect].model_tools
    (run,) = (each for each in described.model_tools if each.role == pb.MODEL_TOOL_ROLE_RUN)
    for definition in described.model_tools:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", definition.name)
        assert "Do not use it for" in definition.description
        schema = json.loads(definition.input_schema_json)
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert set(schema.get("required", [])) <= schema["properties"].keys()
    assert "a single call whose result would only be printed" in run.description
    assert json.loads(run.input_schema_json)["required"] == ["code"]
    assert ("tool_graph" in run.input_schema_json) is (dialect == "goose")


# What the rules say, tried: the words, and a script that follows them with what becomes of it.
RULES: dict[str, list[tuple[str, str, Callable[[Any], bool]]]] = {
    "standard": [
        ("give the result with `return`", "return await tools.t({ n: 1 })", lambda seen: seen.value == {"n": 1}),
        ('`await tools["any name"]({ ... })`', "return await tools['any name']({})", lambda seen: seen.value == {}),
        ("throws a `ToolError`", "await tools.t({ n: 'x' })", lambda seen: seen.error.tool_code == "invalid_arguments"),
        ("`ALL_TOOLS`", "return [typeof store, typeof exit, ALL_TOOLS.length]", lambda seen: seen.value[2] == 2),
        ("64 MiB of memory", "return 1", lambda seen: seen.started.limits.memory_bytes == 64 << 20),
    ],
    "goose": [
        ("Define `async function run()", "async function run() { return 3 }", lambda seen: seen.value == 3),
        (
            'await tools.call("name", { ... })',
            "async function run() { return [await tools.call('t', { n: 1 }), typeof tools.t] }",
            lambda seen: seen.value == [{"n": 1}, "undefined"],
        ),
        (
            "still open at the end is cancelled",
            "function run() { tools.call('t', {}) }",
            lambda seen: seen.cancelled == [],
        ),
    ],
    "sero": [
        (
            "`{ text, details?, images? }`",
            "return await tools.t({ n: 1 })",
            lambda seen: seen.value["details"] == {"n": 1},
        ),
        (
            '`await tools.call({ name: "name", args: { ... } })`',
            'return (await tools.call({ name: "t", args: {} })).details',
            lambda seen: seen.value == {},
        ),
        ("still open at the end fails the script", "tools.t({})", lambda seen: seen.code == "unawaited_calls"),
        ("30 s in all", "return 1", lambda seen: seen.started.limits.wall_time.seconds == 30),
    ],
    "devoxxgenie": [
        ("gives the tool's text as a string", "return await tools.t({ n: 1 })", lambda seen: seen.value == '{"n":1}'),
        ("begins with `Error:`", "return await tools.t({ n: 'x' })", lambda seen: seen.value.startswith("Error:")),
        ("100 calls (one more fails)", "return 1", lambda seen: seen.started.limits.calls == 100),
    ],
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_rules_that_are_told_are_the_rules_that_hold(bench: Bench, dialect: str) -> None:
    tools = [tool("t", {"properties": {"n": {"type": "integer"}}}), tool("any name")]
    described = await describe(bench, tools, dialect=dialect)
    for words, source, holds in RULES[dialect]:
        assert words in described.model_tools[-1].description
        seen = await bench.run(source, dialect, tools=tools)
        assert holds(seen), (words, seen)


async def test_the_rules_follow_policies_and_limits_of_the_request(bench: Bench) -> None:
    limits = pb.Limits(calls=7, calls_in_flight=1, rendered_characters=500)
    policy = pb.Policy(
        call_form=pb.CALL_FORM_NAME_AND_ARGUMENTS,
        failure_form=pb.FAILURE_FORM_ERROR_STRING,
        answer_form=pb.ANSWER_FORM_TEXT,
        call_limit_action=pb.LIMIT_ACTION_REJECT_CALL,
    )
    (definition,) = (await describe(bench, [tool("t")], limits=limits, policy=policy)).model_tools
    for words in (
        'call(name: "t", args?: object): Promise<string>;',
        "There is no other form.",
        "begins with `Error:`",
        "7 calls (one more fails)",
        "one at a time",
        "cut to 500 characters",
    ):
        assert words in definition.description
    for policy_value in pb.CallForm.values()[1:]:
        for form in pb.AnswerForm.values()[1:]:
            every = pb.Policy(call_form=policy_value, answer_form=form)
            assert (await describe(bench, [tool("t")], policy=every)).model_tools


ISSUES = [
    tool("github__list_issues", {"properties": {"repository": {}}}, "Lists the issues of a repository."),
    tool("github__create_issue", {}, "Makes an issue."),
    tool("mail__send", {"properties": {"issue": {}}}, "Sends a letter about anything."),
    tool("files__read", {}, "Reads a file; also for listings."),
    tool("listIssueComments", {}, "The comments of one."),
]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("github__create_issue", ["github__create_issue", "github__list_issues", "listIssueComments", "mail__send"]),
        (
            "list issues",
            ["github__list_issues", "listIssueComments", "github__create_issue", "mail__send", "files__read"],
        ),
        ("REPOSITORY", ["github__list_issues"]),
        ("comment", ["listIssueComments"]),
        ("issue zeppelin", ["github__create_issue", "listIssueComments", "github__list_issues", "mail__send"]),
        ("zeppelin", []),
        ("??", []),
    ],
)
async def test_a_search_gives_the_best_first(bench: Bench, query: str, names: list[str]) -> None:
    found = await describe(bench, ISSUES, query=query)
    assert [each.name for each in found.tools] == names
    assert (found.matched_tools, found.shown_tools) == (len(names), len(names))


async def test_pages_follow_each_other_to_the_end(bench: Bench) -> None:
    names: list[str] = []
    token = ""
    for _ in range(3):
        page = await describe(bench, ISSUES, max_tools=2, page_token=token, query="github file mail list comments")
        names += [each.name for each in page.tools]
        assert f"Showing {page.shown_tools} of 5 tools." in page.text
        token = page.next_page_token
    assert token == ""
    assert sorted(names) == sorted(each.name for each in ISSUES)


async def test_names_and_a_query_may_be_given_together(bench: Bench) -> None:
    found = await describe(bench, ISSUES, names=["mail__send", "nope", "files__read"], query="letter")
    assert [each.name for each in found.tools] == ["mail__send"]
    assert list(found.unknown_names) == ["nope"]


async def test_the_levels_of_detail_say_more_and_more(bench: Bench) -> None:
    long = "First sentence. Second one.\n\nMore of it."
    tools = [pb.Tool(name="t", description=long, input_schema_json='{"properties":{"a":{"description":"An a."}}}')]
    texts = {detail: (await describe(bench, tools, detail=detail)).text for detail in (1, 2, 3)}
    assert [("First" in texts[at], "Second" in texts[at], "An a." in texts[at]) for at in (1, 2, 3)] == [
        (False, False, False),
        (True, False, False),
        (True, True, True),
    ]
    assert all("t" in text for text in texts.values())


async def test_a_budget_takes_detail_from_all_namespaces_alike(bench: Bench) -> None:
    schema = {
        "properties": {f"argument_{n}": {"type": "string", "description": "Told at length. " * 3} for n in range(4)}
    }
    tools = [tool(f"big__tool_{n}", schema, "Does a lot.") for n in range(60)]
    tools += [tool(f"small__tool_{n}", schema, "Does little.") for n in range(3)]
    described = await describe(bench, tools, max_tokens=2600)
    details = {each.name: each.detail for each in described.tools}
    assert min(details.values()) == pb.DETAIL_NAMES
    assert all(details[f"small__tool_{n}"] > pb.DETAIL_NAMES for n in range(3))
    (definition,) = described.model_tools
    assert len(definition.description) / 3 <= 2600
    assert "the built-ins of JavaScript" in definition.description
    for name in details:
        assert name in definition.description


async def test_a_budget_that_is_too_small_for_names_says_how_many_there_are(bench: Bench) -> None:
    described = await describe(bench, ISSUES, max_tokens=1)
    (definition,) = described.model_tools
    assert "not shown of github: 2 more" in definition.description
    assert described.matched_tools == 5


async def test_a_caller_may_replace_or_extend_a_description(bench: Bench) -> None:
    tools = [tool("t", {}, "Holds {{rules}}.")]
    plain = (await describe(bench, tools)).model_tools[0].description
    signatures = (await describe(bench, tools)).text
    templates = {
        "Mine.\n{{signatures}}\nThe end.": f"Mine.\n{signatures}\nThe end.",
        "{{description}}\nAnd more.": f"{plain}\nAnd more.",
        "{{rules}}": plain.partition("\n\nThe tools:")[0],
        "No tools.": "No tools.",
        "{{ signatures }} {{other}}": "{{ signatures }} {{other}}",
    }
    for template, description in templates.items():
        (definition,) = (await describe(bench, tools, description_templates={"run_script": template})).model_tools
        assert definition.description == description
    goose = await describe(
        bench, tools, dialect="goose", description_templates={"execute_javascript": "{{signatures}}"}
    )
    assert 'call(name: "t", args?: object): Promise<unknown>; // Holds {{rules}}.' in goose.model_tools[-1].description


async def test_output_types_are_shown_in_the_form_of_the_dialect(bench: Bench) -> None:
    tools = [pb.Tool(name="t", output_schema_json='{"type":"object","properties":{"n":{"type":"integer"}}}')]
    told = {
        dialect: (await describe(bench, tools, dialect=dialect, detail=pb.DETAIL_SIGNATURES)).tools[0].signature
        for dialect in DIALECTS
    }
    assert told == {
        "standard": "t(args?: object): Promise<{ n?: number }>;",
        "goose": 'call(name: "t", args?: object): Promise<{ n?: number }>;',
        "sero": "t(args?: object): Promise<ToolAnswer<{ n?: number }>>;",
        "devoxxgenie": "tools.t(args?: object): Promise<string>;",
    }
    seen = await bench.run("return await tools.t()", tools=tools, answer=returning('{"n":1}'))
    assert seen.value == {"n": 1}


REFUSED: dict[str, dict[str, Any]] = {
    "dialect": {"dialect": "cobol"},
    "query": {"query": "x" * 1025},
    "names": {"names": ["x"] * 1001},
    "page_token": {"page_token": "1.0"},
    "policy.call_form": {"policy": pb.Policy(call_form=99)},  # type: ignore[arg-type]  # what a newer client may send
    "limits.calls": {"limits": pb.Limits(calls=10**9)},
    "detail": {"detail": 9},
    "description_templates['nope']": {"description_templates": {"nope": ""}},
    "description_templates['run_script']": {"description_templates": {"run_script": "x" * ((64 << 10) + 1)}},
    "tools.tools[1].name": {"tools": [tool("a"), tool("a")]},
    "tools.tools[0].hints.serial_key.group": {
        "tools": [pb.Tool(name="a", hints=pb.ToolHints(serial_key=pb.SerialKey(argument="a")))]
    },
}


@pytest.mark.parametrize("path", REFUSED)
async def test_what_cannot_be_described_is_refused_by_its_path(bench: Bench, path: str) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await describe(bench, **REFUSED[path])
    code, details = information(caught.value)
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert [violation.field for violation in details[1].field_violations] == [path]


async def test_a_dialect_s_own_model_tools_are_not_described(bench: Bench) -> None:
    described = await describe(bench, [tool("run_script"), tool("t")])
    assert [each.name for each in described.tools] == ["t"]

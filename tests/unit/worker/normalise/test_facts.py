"""What the normaliser tells of a script besides the text: entry, language, notices, tools."""

from __future__ import annotations

import pytest
from tests.unit.worker.normalise.engine_process import EngineProcess


@pytest.mark.parametrize(
    ("source", "tools", "computed"),
    [
        ("return await tools.read({})", ["read"], False),
        (
            "return [await tools.read({}), tools['a-b']?.({}), tools[`c`]({}), tools?.d({})]",
            ["a-b", "c", "d", "read"],
            False,
        ),
        ("await tools.call('x y', {}); await tools.call({ name: \"z\", args: {} })\nreturn 1", ["x y", "z"], False),
        ("const { a, 'b-c': d } = tools;\nreturn a", ["a", "b-c"], False),
        ("const { a, ...rest } = tools;\nreturn a", ["a"], True),
        ("const t = tools;\nreturn t.a({})", [], True),
        ("const name = 'a';\nreturn tools[name]({})", [], True),
        ("const name = 'a';\nreturn tools.call(name, {})", [], True),
        ("const f = tools.call;\nreturn f('a', {})", [], True),
        ("return globalThis.tools.a({})", [], True),
        ("return eval('tools.a({})')", [], True),
        ("// tools.a({})\nconst s = 'tools.b({})';\nreturn tools.c({})", ["c"], False),
        ("const s = `\ntools.b({})\n`;\nreturn tools.c({})", ["c"], False),
        ("/*\ntools.b({})\n*/\nreturn tools.c({})", ["c"], False),
        ("async function main({ tools }: any) { return tools.a({}) }", ["a"], False),
        ("const u = await tools.get_user<{ id: number }>({ id: 7 });\nreturn u as any", ["get_user"], False),
        ("let x: typeof tools.q;\nreturn x.tools", [], False),
        ("return 1", [], False),
    ],
)
def test_tools_that_a_script_names(source: str, tools: list[str], computed: bool, engine: EngineProcess) -> None:
    found = engine.run(source, run=False).found
    assert (sorted(found["tools"]), found["computed"]) == (tools, computed)


@pytest.mark.parametrize(
    ("source", "codes"),
    [
        ("return 1", []),
        ("const a = 1;\na", []),
        ("const a: number = 1;\na", ["erased_types"]),
        ("```js\nreturn 1\n```", ["code_fence"]),
        ("Here:\n```ts\nreturn 1 as number\n```", ["code_fence", "erased_types"]),
        ("const rows = [1];\nconst total = rows.length;", ["no_value"]),
        ("const rows = [1];\nfor (const row of rows) text(row);", []),
        ("", []),
        ("// nothing", []),
        ("const tools = {};\nreturn 1", ["shadowed_name"]),
        ("const { tools } = { tools: 1 };\nreturn 1", ["shadowed_name"]),
        ("const text = 'a';\ntext(text);\nreturn 1", ["shadowed_name"]),
        ("const { text } = { text: 'a' };\nreturn text", []),
        ("const text = 'a';\nreturn ({ text() {} }).text()", []),
    ],
)
def test_notices(source: str, codes: list[str], engine: EngineProcess) -> None:
    assert engine.run(source, run=False).codes == codes


def test_notices_say_where(engine: EngineProcess) -> None:
    found = engine.run("Look:\n```js\nconst a = 1;\nconst tools = 2;\n```", run=False).found
    places = {notice["code"]: (notice["line"], notice["column"]) for notice in found["notices"]}
    assert places == {"code_fence": (2, 1), "no_value": (4, 1), "shadowed_name": (4, 7)}
    assert "return" in next(notice["message"] for notice in found["notices"] if notice["code"] == "no_value")


@pytest.mark.parametrize(
    ("source", "entry", "expected"),
    [
        ("return 1", "any", "body"),
        ("1", "any", "last_expression"),
        ("async function main() {}", "any", "function:main"),
        ("export default 1", "any", "default_export"),
        ("module.exports = () => 1", "any", "default_export"),
        ("async function run() {}", "run_function", "function:run"),
        ("1", "body", "body"),
    ],
)
def test_entry_is_told(source: str, entry: str, expected: str, engine: EngineProcess) -> None:
    assert engine.run(source, entry=entry, run=False).found["entry"] == expected


def test_language_is_that_of_what_was_found(engine: EngineProcess) -> None:
    assert engine.run("return 1", "typescript", run=False).found["language"] == "javascript"
    assert engine.run("return 1 as any", "javascript", run=False).found["language"] == "typescript"


def test_comparison_that_could_be_a_call_is_read_as_the_language_says(engine: EngineProcess) -> None:
    source = "const f = (...x) => x.length, a = 1, b = 2, c = 3, d = 2;\nreturn f(a < b, c > (d));"
    assert engine.run(source, "javascript").value == 2
    assert engine.run(source, "auto").fields["message"] == "a is not a function"


CALLS: list[tuple[str, object]] = [
    ("async ({ tools, input }) => [typeof tools, input]", ["object", {}]),
    ("async (tools) => typeof tools", "object"),
    ("(params = 1) => params", {}),
    ("({ city = 'none' }) => city", "none"),
    ("(context) => Object.keys(context)", ["tools", "input", "text", "image", "console"]),
    ("export default async function (input: unknown, tools: any) { return [input, typeof tools] }", [{}, "object"]),
]


@pytest.mark.parametrize(("source", "value"), CALLS)
def test_function_is_called_with_what_its_parameters_name(source: str, value: object, engine: EngineProcess) -> None:
    assert engine.run(source).value == value

"""What did not end a run but should be known: each kind of warning, and that a clean run has none."""

from __future__ import annotations

from typing import Any

import pytest
from tests.dialects.bench import DIALECTS, IMAGE, Bench, body, calling, parts, returning, schema_tool, text
from tests.support.caller import RunStream, success, tool

from codecage.v1 import codecage_pb2 as pb

UNCUT = {"limits": pb.Limits(rendered_characters=100_000)}
# A kind, a script that brings it about, what else the run needs, and a part of the message.
BROUGHT_ABOUT: dict[str, tuple[str, dict[str, Any], str]] = {
    "missing_await": ("tools.t({}); return 1", {}, "put await in front of it"),
    "truncated": ("text('x'.repeat(30000)); return 1", {}, "the rendered text was truncated from 30002 to "),
    "coerced": ("return new Map([[1, 2]])", {}, "use Object.fromEntries(map)"),
    "shadowed_name": ("const tools = 5; return tools", {}, "the script declares tools, which hides the tools"),
    "code_fence": ("```js\nreturn 1\n```", {}, "taken out of its code fence"),
    "erased_types": ("const n: number = 1; return n", {}, "types were erased; they are not checked"),
    "console_overflow": ("console.log('x'.repeat(70000)); return 1", UNCUT, "beyond 65536 bytes was dropped"),
    "unhandled_rejection": ("Promise.reject(5); return 1", {}, "nothing handled it: 5"),
    "precision": ("return await tools.t({})", {"answer": returning("[9007199254740993]")}, "at [0]"),
    "schema": ("return await tools.t({})", {"tools": [schema_tool({"type": "no"})]}, "are not checked"),
    "name_collision": ("return 1", {"tools": [tool("a-b"), tool("a b")]}, "tools.a_b could be each of a-b, a b"),
    "dropped_content": ("return await tools.t({})", {"answer": parts(text("x"), IMAGE)}, "holds images"),
    "no_value": ("const a = 1; if (a) { a + 1 }", {}, "the script has no value"),
    "abandoned_call": ("return await Promise.race([tools.t({}), 5])", {}, "when the race that awaited it was over"),
}


@pytest.mark.parametrize("kind", BROUGHT_ABOUT)
async def test_each_kind_of_warning_comes_with_its_reason_and_alone(bench: Bench, kind: str) -> None:
    source, options, told = BROUGHT_ABOUT[kind]
    seen = await bench.run(source, **options)
    assert seen.code == "completed"
    assert list(seen.warnings) == [kind]
    assert told in seen.warnings[kind]
    (warning,) = seen.finished.warnings
    assert pb.WarningKind.Name(warning.kind) == f"WARNING_KIND_{kind.upper()}"


async def test_every_kind_is_known(bench: Bench) -> None:
    kinds = {name.removeprefix("WARNING_KIND_").lower() for name in pb.WarningKind.keys()}  # noqa: SIM118
    assert kinds - BROUGHT_ABOUT.keys() == {"unspecified", "stray_answer", "budget", "not_served"}


async def test_what_a_caller_does_wrong_is_a_warning(bench: Bench) -> None:
    stream = RunStream(bench.stub)
    await stream.start("await tools.t({}); return 1", [tool("t")])
    call = await stream.call()
    await stream.send(adjust_budget=pb.AdjustBudget())
    await stream.send(suspend=pb.Suspend())
    await stream.answer(pb.ToolResult(call_id="none"))
    await stream.answer(success(call, 1))
    finished = await stream.finished()
    assert [warning.code for warning in finished.warnings] == ["budget", "not_served", "stray_answer"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_clean_run_has_no_warning(bench: Bench, dialect: str) -> None:
    source = f"const a = await Promise.all([{calling(dialect)}, {calling(dialect)}]); return a.length"
    seen = await bench.run(body(dialect, source), dialect)
    assert (seen.json, seen.warnings) == ("2", {})


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_output_stands_for_a_value(bench: Bench, dialect: str) -> None:
    written = await bench.run(body(dialect, "console.log('said')"), dialect)
    assert "no_value" not in written.warnings
    silent = await bench.run(body(dialect, "const a = 1;"), dialect)
    assert "no_value" in silent.warnings


async def test_an_empty_source_completes_without_a_word(bench: Bench) -> None:
    for source in ("", " \n", "// nothing"):
        seen = await bench.run(source)
        assert (seen.code, seen.json) == ("completed", None)
    assert (await bench.run("")).warnings == {}


async def test_a_hundred_warnings_are_enough(bench: Bench) -> None:
    seen = await bench.run("for (let i = 0; i < 150; i++) tools.t({}); return 1", answer=returning("1"))
    assert len(seen.finished.warnings) == 100

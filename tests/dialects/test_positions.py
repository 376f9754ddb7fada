"""Places told in the lines and columns of the script as it was sent, whatever was erased or inserted."""

from __future__ import annotations

import pytest
from tests.dialects.bench import Bench, body

from codecage.v1 import codecage_pb2 as pb

# A source with a mark in front of the place that is told.
THROWN = [
    "\n\n  throw ▼new Error('x')",
    "const a = '😀é漢'; throw ▼new Error(a)",
    "const n: number = 1; throw ▼new Error(String(n))",
    "const x = 1 as any; ▼x.foo.bar; return 0",
    "enum E { A, B } throw ▼new Error(E[0])",
    "enum E {\n  A = 'a',\n  B = 'b',\n}\nthrow ▼new Error(E.A)",
    "class P { constructor(private a: number, public b = 2) { ▼null.x } } new P(1)",
    "const f = <T,>(x: T): T => { throw ▼new Error('g') }; f<number>(1)",
    "let a = 1\n\n▼null.x",
    "\n  ▼null.x",
    "\t▼null.x",
    "const s = 1\n;[1].forEach(() => {\n  ▼undefinedName()\n})",
    "`${▼null.x}`",
    "return (() => { ▼'a'.b.c })()",
    "interface A { a: string }\ntype B = A | null;\nthrow ▼new Error('t')",
    "await Promise.reject(▼new Error('r'))",
    "async function main() {\n  const y = 1;\n  throw ▼new Error('m');\n}\nmain()",
    "async function main() {\n  throw ▼new Error('m');\n}",
    "#!/usr/bin/env node\nthrow ▼new Error('h')",
    "```js\nthrow ▼new Error('f')\n```",
    "//# sourceURL=evil.js\nthrow ▼new Error('s')",
    "/*@ sourceURL=evil.js */ throw ▼new Error('s')\n//@ sourceMappingURL=x",
    "const a = 1\r\nconst b = 2\u2028const c = 3\nthrow ▼new Error('l')",
]


def marked(source: str) -> tuple[str, tuple[int, int]]:
    """The source without its mark, and the place of the mark."""
    before = source[: source.index("▼")].replace("\r\n", "\n").replace("\u2028", "\n").split("\n")
    return source.replace("▼", ""), (len(before), len(before[-1].encode("utf-16-le")) // 2 + 1)


@pytest.mark.parametrize("source", THROWN)
async def test_an_error_has_the_place_where_it_came_from(bench: Bench, source: str) -> None:
    plain, place = marked(source)
    seen = await bench.run(plain)
    assert seen.place == place
    assert seen.error.stack.split("\n")[0].endswith(f"@script.js:{place[0]}:{place[1]}") or "null.x" in source


@pytest.mark.parametrize("source", THROWN)
async def test_the_line_is_shown_with_a_caret_under_the_place(bench: Bench, source: str) -> None:
    plain, (line, _column) = marked(source)
    seen = await bench.run(plain)
    shown, caret = seen.error.excerpt.split("\n")
    assert shown.startswith(f"{line} | ")
    assert caret.lstrip(" ").startswith("| ")
    assert caret.endswith("^")


SYNTAX = [
    "const a = ▼;",
    "return 1 +▼",
    "const f = () => {\n  return (▼",
    "let x = 1;\nlet ▼x = 2;",
    "const s = '😀'; const t = ▼;",
    "const n: number = ▼;",
    "  ▼@decorate class A {}",
    "function f() { ▼await g() } f()",
    "return 'ok'\n▼}",
]


@pytest.mark.parametrize("source", SYNTAX)
async def test_a_syntax_error_has_its_place(bench: Bench, source: str) -> None:
    plain, place = marked(source)
    seen = await bench.run(plain)
    assert (seen.code, seen.place) == ("syntax_error", place), seen.error
    checked = await bench.check(plain)
    assert checked.diagnostics[0].position == seen.error.position


CALLS = [
    "await tools.▼t({})",
    "const s = '😀😀', n: number = 1, r = await tools.▼t({ s, n })",
    "enum E { A }\nlet a = E.A\nawait tools.▼t({ a })",
    "const all = [1].map((x: number) => tools.▼t({ x }))\nawait Promise.all(all)",
    "async function main() {\n  return await tools.▼call('t', {})\n}",
]


@pytest.mark.parametrize("source", CALLS)
async def test_a_call_has_the_place_where_it_is_made(bench: Bench, source: str) -> None:
    plain, (line, column) = marked(source)
    seen = await bench.run(plain)
    assert [call.position for call in seen.calls] == [pb.Position(line=line, column=column)]


async def test_a_rejection_and_a_missing_await_have_their_places(bench: Bench) -> None:
    rejected = "const n: number = 1\nPromise.reject(▼new Error('u')); return n"
    for source in (rejected, "enum E { A } tools.▼t({})\nreturn E.A"):
        plain, (line, column) = marked(source)
        seen = await bench.run(plain)
        (warning,) = [each for each in seen.finished.warnings if each.code != "erased_types"]
        assert warning.position == pb.Position(line=line, column=column)


@pytest.mark.parametrize("dialect", ["standard", "goose", "sero", "devoxxgenie"])
async def test_frames_are_those_of_the_script_alone(bench: Bench, dialect: str) -> None:
    source = body(
        dialect, "function outer() { return inner() } function inner() { throw new Error('x') } return outer()"
    )
    frames = (await bench.run(source, dialect)).error.stack.split("\n")
    named = [frame.partition("@")[0] for frame in frames]
    assert named == ["inner", "outer", *(["run"] if dialect == "goose" else [""])]
    assert all(frame.partition("@")[2].startswith("script.js:1:") for frame in frames)


async def test_a_script_reads_its_own_frames_alone(bench: Bench) -> None:
    source = (
        "const frames = []; await tools.t({}).then(() => frames.push(new Error('x').stack)); "
        "try { await tools.call('nope', {}) } catch (e) { frames.push(e.stack) } "
        "try { structuredClone(() => 1) } catch (e) { frames.push(e.stack) } return frames"
    )
    for stack in await bench.value(source):
        assert stack
        assert all("@script.js:" in frame for frame in stack.split("\n"))


async def test_code_made_from_text_is_told_where_it_is_used(bench: Bench) -> None:
    for source in ("eval('null.x //# sourceURL=evil.js')", "new Function('null.x')()"):
        seen = await bench.run(f"\n{source}")
        assert seen.place[0] == 2
        assert "evil.js" not in seen.error.stack

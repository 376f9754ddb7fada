"""Positions are those of the text as sent, whatever was inserted in front of them."""

from __future__ import annotations

import pytest
from tests.unit.worker.normalise.engine_process import EngineProcess

THROW = "(() => { throw new Error('here') })()"


def expected_place(source: str) -> tuple[int, int]:
    """Line and column of `new Error`, counted in UTF-16 units."""
    before = source[: source.index("new Error")]
    line = before.rpartition("\n")[2]
    return before.count("\n") + 1, len(line.encode("utf-16-le")) // 2 + 1


@pytest.mark.parametrize(
    "source",
    [
        f"const a: number = 1; {THROW}; return a",
        f"const a: number = 1; {THROW}",
        f"const a = 1; a\n; {THROW}\n",
        f"const s: string = '😀'; const t: any = 1; {THROW}",
        f"enum E {{ A, B = 'x', C = {THROW} }}",
        f"enum E {{ A, B }} {THROW}",
        f"class A {{ constructor(private a: string, b = {THROW}) {{ }} }}\nnew A('x')",
        f"class A {{ constructor(private a: string) {{ {THROW} }} }}\nnew A('x')",
        f"class B {{}}\nclass A extends B {{ constructor(private a: string) {{ super(); {THROW} }} }}\nnew A('x')",
        f"const f = <\nT,\n>(x: T) => {THROW};\nf(1)",
        f"const f = (x: number): {{\n a: 1 }} => {THROW};\nf(1)",
        f"const f = () => <any>{{ a: {THROW} }}; f()",
        f"const r = 1 + 1 as any / 2 + {THROW}",
        f"export default async function () {{ {THROW} }}",
        f"export default {THROW}",
        f"module.exports = async () => {{ {THROW} }}",
        f"async () => {{ {THROW} }}",
        f"async function main(): Promise<void> {{\n  {THROW}\n}}",
        f"void {THROW}",
        f"Text:\n```ts\nconst a: number = 1;\n{THROW}\n```\n",
        f"#!/usr/bin/env node\n{THROW}",
        f"\ufeffconst a: number = 1;\r\n{THROW}\r\n",
        f"type A = {{\r\n  a: 1;\r\n}};\r\nconst a: A = {THROW};",
        f"/* \u2028 */ const a: number = 1;{THROW}".replace("\u2028", " "),
    ],
)
def test_error_has_the_place_of_the_source(source: str, engine: EngineProcess) -> None:
    answer = engine.run(source)
    assert answer.kind == "thrown"
    assert (answer.fields["message"], answer.fields["line"], answer.fields["column"]) == (
        "here",
        *expected_place(source),
    )


def test_frames_keep_their_file(engine: EngineProcess) -> None:
    for comment in ("//# sourceURL=x.js", "//@ sourceURL=x.js", "/*# sourceURL=x.js */", "//# sourceMappingURL=x.js"):
        answer = engine.run(
            f"const f = () => {{ throw new Error('{comment[:2]}# sourceURL=y') }};\nreturn f() {comment}"
        )
        assert "@script.js:1:" in answer.fields["stack"]
        assert "x.js" not in answer.fields["stack"]


def test_text_that_only_looks_like_such_a_comment_stays(engine: EngineProcess) -> None:
    source = "return '//# sourceURL=x' + `/*# sourceURL=y */`"
    assert engine.run(source).found["body"] == source


def test_plain_javascript_is_not_touched(engine: EngineProcess) -> None:
    source = "// type A = 1\r\nconst a = { b: 1 < 2, c: 'x as y!' };\r\nreturn [a?.b, /<T>/.source, a ? a.b : 0];\r\n"
    found = engine.run(source).found
    assert (found["body"], found["insertions"], found["notices"]) == (source, [], [])

"""Text made to hang, crash or deceive the normaliser: an answer in time, and a small one."""

from __future__ import annotations

import pytest
from tests.unit.worker.normalise.engine_process import EngineProcess

SIZE = 256 << 10
SLOWEST = 6.0
"""Seconds; quadratic work on this size takes minutes."""


def filled(unit: str, before: str = "", after: str = "") -> str:
    return before + unit * ((SIZE - len(before) - len(after)) // len(unit)) + after


HOSTILE = {
    "parentheses": filled("("),
    "brackets": filled("["),
    "braces": filled("{"),
    "objects": filled("({a:"),
    "arrows": filled("(a=>"),
    "generic arrows": filled("<T>(a:"),
    "types": filled("Array<", "let a: "),
    "conditional types": filled("A extends B ? ", "type A = "),
    "conditionals": filled("a?(b):"),
    "async arrows": filled("async (a = "),
    "sums": filled("1+", after="1"),
    "members": filled(".a", "b"),
    "calls": filled(".then(x)", "b"),
    "casts": filled(" as any", "return 1"),
    "cast lines": filled("x as any\n"),
    "marks": filled("!", "a"),
    "fences": filled("```\n"),
    "fences and text": filled("```js\na b\n", "x y\n"),
    "tilde fences": filled("~~~\n", "x y\n"),
    "backticks": filled("`"),
    "backticks and more": filled("`", after="x"),
    "spaces": filled(" ", after="x y"),
    "spaces within": filled(" ", "x y", "z"),
    "semicolons": filled(";", "x y"),
    "semicolons and more": filled(";", "{ a b", "x"),
    "less than": filled("a < "),
    "greater than": filled("a > (", "b < c\n"),
    "comments": filled("/* */"),
    "open comment": filled("*", "/*"),
    "lines": filled("\n"),
    "functions": "".join(f"function f{i}() {{ return f{i + 1}() }}\n" for i in range(6000)),
    "identifier": filled("a", "const ", ": any = 1"),
    "optional identifier": filled("a", "function f(", "?: any) {}"),
    "tools": filled("tools."),
    "tools on lines": filled("tools.a({});\n", after="return 1"),
    "enum": filled('"a b",', "enum E {", "}"),
    "labels": filled("a:", after="1"),
    "directives": filled("'a';"),
    "types only": filled("interface A {}\n"),
    "words": filled("ls -la word's "),
    "quotes": filled("'"),
    "templates": filled("`${"),
    "tags": filled("<a b='c' "),
    "classes": filled("class A { a: B\n"),
    "else if": filled("if (a) b; else "),
    "exports": filled("export {};\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_answered_in_time(name: str, engine: EngineProcess) -> None:
    answer = engine.run(HOSTILE[name], run=False)
    assert answer.seconds < SLOWEST
    if answer.kind == "refused":
        assert len(answer.refusal["message"]) < 1000


def test_deep_nesting_is_told_as_such(engine: EngineProcess) -> None:
    refusal = engine.run("(" * 50_000).refusal
    assert (refusal["message"], refusal["line"]) == ("the script is nested too deeply", 0)


@pytest.mark.parametrize(
    "source",
    [
        "return 1; }); globalThis.escaped = 1; (async function () {",
        "} ; globalThis.escaped = 1; {",
        "a <!-- (\nglobalThis.escaped = 1",
        "1 //",
        "`",
        "/*",
        "1 /*",
        "x\n--> (",
        "'use strict'; return function () { /*",
    ],
)
def test_no_text_leaves_its_wrapper(source: str, engine: EngineProcess) -> None:
    answer = engine.run(source + "\n")
    assert answer.kind in {"refused", "engine", "value", "thrown"}
    assert answer.fields.get("left_nothing", True)


def test_script_reaches_nothing_of_the_normaliser(engine: EngineProcess) -> None:
    source = (
        "const all = Reflect.ownKeys(globalThis).map(String);\n"
        "const names = all.filter((name) => /babel|norm|^module|^exports/.test(name));\n"
        "return [names, typeof norm, typeof exports]"
    )
    assert engine.run(source).value == [[], "undefined", "undefined"]


def test_engine_remembers_no_text_that_a_pattern_was_tried_on(engine: EngineProcess) -> None:
    source = "const seen: string[] = [RegExp.input, RegExp.lastMatch, RegExp.leftContext];\nreturn seen"
    assert engine.run(source).value == ["", "", ""]

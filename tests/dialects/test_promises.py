"""Promise.all, any and race take a note of calls, and are otherwise what the language says."""

from __future__ import annotations

import pytest
from tests.dialects.bench import Bench

STATICS = ("all", "any", "race")


@pytest.mark.parametrize("name", STATICS)
@pytest.mark.parametrize(
    ("given", "shown"), [("5", "a number"), ("{ a: 1 }", "an object"), ("undefined", "undefined"), ("null", "null")]
)
async def test_what_is_no_list_rejects_the_promise(bench: Bench, name: str, given: str, shown: str) -> None:
    seen = await bench.value(f"return await Promise.{name}({given}).catch((error) => `${{error}}`)")
    assert seen == f"TypeError: {shown} is not iterable"


@pytest.mark.parametrize("name", STATICS)
async def test_a_list_is_read_item_by_item_and_closed_when_reading_is_broken_off(bench: Bench, name: str) -> None:
    source = f"""
        const seen = [];
        function* endless() {{ for (let i = 0; ; i++) {{ seen.push(i); yield i; }} }}
        function* items() {{ try {{ yield* endless(); }} finally {{ seen.push("end"); }} }}
        Promise.resolve = (item) => {{ if (item === 2) throw "enough"; return new Promise((done) => done(item)); }};
        return [await Promise.{name}(items()).catch((error) => error), seen];
    """
    assert await bench.value(source) == ["enough", [0, 1, 2, "end"]]


@pytest.mark.parametrize("name", STATICS)
async def test_a_failing_list_rejects_with_its_own_error(bench: Bench, name: str) -> None:
    source = f"return await Promise.{name}((function* () {{ throw 'mine'; }})()).catch((error) => error)"
    assert await bench.value(source) == "mine"


@pytest.mark.parametrize("name", STATICS)
async def test_a_class_of_the_script_gets_promises_of_its_own(bench: Bench, name: str) -> None:
    source = f"""
        class Mine extends Promise {{}}
        const made = Mine.{name}([tools.t({{ n: 1 }})]);
        return [made instanceof Mine, await made, Promise.{name}.name, Promise.{name}.length];
    """
    answer = {"n": 1}
    assert await bench.value(source) == [True, [answer] if name == "all" else answer, name, 1]


@pytest.mark.parametrize("name", STATICS)
async def test_texts_sets_and_generators_are_lists(bench: Bench, name: str) -> None:
    lists = "'a', new Set(['a']), ['a'].values(), (function* () { yield Promise.resolve('a'); })()"
    source = f"return await Promise.all([{lists}].map((list) => Promise.{name}(list)))"
    assert await bench.value(source) == [["a"] if name == "all" else "a"] * 4

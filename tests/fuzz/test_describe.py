"""Whatever a catalogue holds, what is said of it is TypeScript, in its budget, and declares its tools alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.support.typescript import declared, problems_with
from tests.unit.worker.normalise.engine_process import EngineProcess, engine_process

from codecage.server.describe import describe
from codecage.server.describe.budget import share, tokens_of
from codecage.server.errors import InvalidRequest
from codecage.server.limits import CEILINGS
from codecage.v1 import codecage_pb2 as pb

WICKED = st.sampled_from(
    [
        *("*/", "/*", "//", "```", "`", "'", '"', "\\", "\n", "\r", "\u2028", "\u2029", "\u202e", "\x00", "${x}"),
        *("</script>", "{{signatures}}", "};", "*", "/", "é", "名", "😀", "a-b", "__proto__", "constructor", "new"),
        *("get x", "readonly", "async", "call", "then", "0", "1a", " ", ""),
    ]
)
TEXTS = st.lists(st.one_of(WICKED, st.text(max_size=4)), max_size=5).map("".join)
NAMES = TEXTS.filter(lambda name: 0 < len(name.encode()) <= 200)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=2), st.dictionaries(TEXTS, st.lists(SCALARS, max_size=2), max_size=2)
)
POINTERS = st.one_of(
    st.sampled_from(
        [
            "#", "#/$defs/a", "#/$defs/b", "#/$defs/~0~1", "#/properties/a", "#/properties/a/items", "#/nowhere", "#x",
            "http://127.0.0.1/x", "file:///etc/hostname", "#/$defs/a/anyOf/0", "#/%", "",
        ]
    ),
    TEXTS.map(lambda text: f"#/$defs/{text}"),
)  # fmt: skip
KEYS = st.one_of(st.sampled_from("ab"), TEXTS)
TYPES = st.sampled_from(["string", "number", "integer", "boolean", "null", "object", "array", "any", "*/"])


SCHEMA_KEYWORDS = ("items", "additionalItems", "additionalProperties")
LIST_KEYWORDS = ("items", "prefixItems", "anyOf", "oneOf", "allOf")
MAP_KEYWORDS = ("properties", "properties", "patternProperties", "$defs")
PLAIN_KEYWORDS: dict[str, st.SearchStrategy[Any]] = {
    "type": st.one_of(TYPES, st.lists(TYPES, max_size=3)),
    "required": st.lists(KEYS, max_size=3),
    "$ref": POINTERS,
    "$dynamicRef": POINTERS,
    "$anchor": st.just("x"),
    "$schema": st.sampled_from(["http://json-schema.org/draft-07/schema#", "*/"]),
    "enum": st.one_of(st.lists(VALUES, max_size=4), st.just(list(range(70)))),
    "const": VALUES,
    "default": VALUES,
    "description": st.one_of(TEXTS, VALUES),
    "title": TEXTS,
    "pattern": TEXTS,
    "format": st.one_of(TEXTS, VALUES),
    "minLength": VALUES,
    "minItems": st.one_of(st.integers(0, 3), VALUES),
    "readOnly": VALUES,
}
KEYWORDS = st.sampled_from([*SCHEMA_KEYWORDS, *LIST_KEYWORDS, *MAP_KEYWORDS, *MAP_KEYWORDS, *PLAIN_KEYWORDS])


@st.composite
def schemas(draw: st.DrawFn, depth: int = 0) -> Any:
    """A schema, right or wrong."""
    if depth == 3 or (depth and draw(st.booleans())):
        return draw(st.sampled_from([True, False, {}, {"type": "string"}, {"type": "integer"}]))
    schema: dict[str, Any] = {}
    for keyword in draw(st.lists(KEYWORDS, max_size=4)):
        part = schemas(depth + 1)
        if keyword in PLAIN_KEYWORDS:
            schema[keyword] = draw(PLAIN_KEYWORDS[keyword])
        elif keyword in MAP_KEYWORDS:
            schema[keyword] = draw(st.dictionaries(KEYS, part, max_size=2))
        elif keyword in SCHEMA_KEYWORDS and draw(st.booleans()):
            schema[keyword] = draw(part)
        else:
            schema[keyword] = draw(st.lists(part, max_size=2))
    return schema


OBJECTS = st.one_of(st.none(), schemas())
TOOLS = st.lists(
    st.builds(
        lambda name, description, input_schema, output_schema, is_read_only: pb.Tool(
            name=name,
            description=description,
            input_schema_json="" if input_schema is None else json.dumps(input_schema),
            output_schema_json=None if output_schema is None else json.dumps(output_schema),
            hints=pb.ToolHints(read_only=is_read_only),
        ),
        NAMES, TEXTS, OBJECTS, OBJECTS, st.booleans(),
    ),
    max_size=3,
    unique_by=lambda tool: tool.name,
)  # fmt: skip
DIALECTS = st.sampled_from(["standard", "sero"])
DETAILS = st.sampled_from([pb.DETAIL_NAMES, pb.DETAIL_SIGNATURES, pb.DETAIL_FULL])


RELAXED = settings(
    max_examples=150,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink one takes minutes
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def engine() -> Iterator[EngineProcess]:
    """The parser that scripts go through."""
    with engine_process() as process:
        yield process


def block_of(text: str) -> str:
    """The TypeScript of a text with one code fence around it."""
    assert text.count("```") == 2, text
    before, _, rest = text.partition("```ts\n")
    block, _, after = rest.partition("\n```")
    assert after == ""
    assert "```" not in before
    return block


def described(tools: list[pb.Tool], **fields: Any) -> pb.DescribeResponse:
    """What is said of them; what no service takes is no case."""
    try:
        return describe(pb.DescribeRequest(tools=pb.ToolList(tools=tools), **fields), CEILINGS, None)
    except InvalidRequest:
        assume(False)  # that is its form
        raise


@RELAXED
@given(tools=TOOLS, dialect=DIALECTS, detail=DETAILS)
def test_every_declaration_is_typescript_for_two_parsers_and_declares_the_tools_alone(
    engine: EngineProcess, tools: list[pb.Tool], dialect: str, detail: pb.Detail.ValueType
) -> None:
    response = described(tools, dialect=dialect, detail=detail)
    if not response.tools:
        return
    block = block_of(response.text)
    assert problems_with(block) == [], block
    types, members = declared(block)
    assert len(types) == len(set(types))
    assert len(members) == (0 if detail == pb.DETAIL_NAMES else len(response.tools)), block
    answer = engine.run(f"{block}\nreturn 1", "typescript")
    assert answer.kind == "value", (block, answer.fields)
    assert answer.value == 1


@RELAXED
@given(tools=TOOLS, detail=DETAILS)
def test_one_line_signatures_are_calls_that_parse_and_take_one_line_each(
    tools: list[pb.Tool], detail: pb.Detail.ValueType
) -> None:
    response = described(tools, dialect="devoxxgenie", detail=pb.DETAIL_SIGNATURES)
    lines = response.text.split("\n") if response.tools else []
    assert len(lines) == len(response.tools)
    for line, tool in zip(lines, response.tools, strict=True):
        assert line.startswith("tools.call(name: " if tool.callee.startswith("tools.call(") else f"{tool.callee}(args")
        assert problems_with(f"declare const tools: {{\n{line.removeprefix('tools').removeprefix('.')}\n}}") == [], line


@RELAXED
@given(tools=TOOLS, dialect=st.sampled_from(["standard", "goose", "sero", "devoxxgenie"]), budget=st.integers(1, 2000))
def test_a_budget_is_kept_and_no_tool_disappears_unsaid(tools: list[pb.Tool], dialect: str, budget: int) -> None:
    response = described(tools, dialect=dialect, detail=pb.DETAIL_FULL, max_tokens=budget)
    whole = described(tools, dialect=dialect, detail=pb.DETAIL_NAMES, max_tokens=1)
    assert tokens_of(response.text) <= max(budget, tokens_of(whole.text)) + 40 * len(response.tools)
    assert response.matched_tools == len(response.tools) == response.shown_tools


@given(
    items=st.lists(
        st.tuples(st.sampled_from("abc"), st.lists(st.integers(1, 50), min_size=3, max_size=3)), max_size=20
    ),
    budget=st.integers(0, 600),
)
def test_tokens_are_shared_out_level_by_level_and_never_beyond_the_budget(
    items: list[tuple[str, tuple[int, int, int]]], budget: int
) -> None:
    costs = [[sum(steps[: level + 1]) for level in range(3)] for _group, steps in items]
    reached = share([group for group, _steps in items], 3, lambda index, level: costs[index][level - 1], budget)
    spent = sum(costs[index][level - 1] for index, level in enumerate(reached) if level)
    assert spent <= budget
    if sum(cost[0] for cost in costs) <= budget:
        assert all(level >= 1 for level in reached), "a tool was left out although all names fit"
    if sum(cost[2] for cost in costs) <= budget:
        assert all(level == 3 for level in reached)

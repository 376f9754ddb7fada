"""The type of a schema: what it says, and that it never forbids what the schema allows."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tests.support.typescript import problems_with

from codecage.server.catalogs import Catalog
from codecage.server.describe import describe
from codecage.server.describe.comments import first_sentence
from codecage.server.describe.typescript import Detail, TypeWriter
from codecage.server.errors import InvalidRequest
from codecage.server.limits import CEILINGS
from codecage.v1 import codecage_pb2 as pb

SHORT = Detail(is_full=False)
STRING, INTEGER = {"type": "string"}, {"type": "integer"}

TYPES: list[tuple[Any, str]] = [
    (True, "unknown"),
    (False, "never"),
    ({}, "unknown"),
    (STRING, "string"),
    (INTEGER, "number"),
    ({"type": "any"}, "unknown"),
    ({"type": ["string", "null"]}, "string | null"),
    ({"nullable": True, "type": "string"}, "string"),  # no keyword of JSON Schema: null is refused
    ({"const": None}, "null"),
    ({"enum": ['a"b', -1, 1.5, True, None, [1], {"a": 2}]}, '"a\\"b" | -1 | 1.5 | true | null | [1] | { "a": 2 }'),
    ({"enum": []}, "unknown"),
    ({"type": "array"}, "unknown[]"),
    ({"items": {"type": ["string", "number"]}}, "(string | number)[]"),
    ({"prefixItems": [STRING, INTEGER], "items": False, "minItems": 1}, "[string, number?]"),
    ({"prefixItems": [STRING], "items": INTEGER}, "[string?, ...number[]]"),
    ({"items": [STRING], "additionalItems": False, "minItems": 1}, "[string]"),
    ({"items": [STRING]}, "[string?, ...unknown[]]"),
    ({"type": "object"}, "{ [key: string]: unknown }"),
    ({"additionalProperties": INTEGER}, "{ [key: string]: number }"),
    ({"type": "object", "additionalProperties": False}, "{}"),
    ({"properties": {"a": STRING, "b-c": {}}, "required": ["b-c"]}, '{ a?: string; "b-c": unknown }'),
    ({"properties": {"a": STRING}, "additionalProperties": INTEGER}, "{ a?: string } & { [key: string]: number }"),
    ({"properties": {"a": STRING}, "required": ["z"]}, "{ a?: string; z: unknown }"),
    ({"patternProperties": {"^x": STRING, "^y": INTEGER}}, "{ [key: string]: string | number }"),
    ({"anyOf": [STRING, {}]}, "unknown"),
    ({"oneOf": [STRING, INTEGER, False]}, "string | number"),
    ({"allOf": [{"properties": {"a": STRING}}, {"anyOf": [STRING, INTEGER]}]}, "{ a?: string } & (string | number)"),
    ({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "{ [key: string]: unknown }"),
    ({"$ref": "#/$defs/a", "$defs": {"a": STRING}}, "string"),
    ({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "null"}}}, "null"),
    ({"$ref": "#/nowhere"}, "unknown"),
    ({"$ref": "other.json"}, "unknown"),
    ({"properties": {"a": {"$ref": "#"}}}, "{ a?: unknown }"),
    (
        {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "null",
         "definitions": {"a": STRING}},
        "string",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "written"), TYPES, ids=lambda each: json.dumps(each)[:60])
def test_a_schema_in_one_line(schema: Any, written: str) -> None:
    assert TypeWriter(schema, SHORT).write() == written
    assert problems_with(f"type A = {written};") == []


def test_what_a_type_cannot_say_stands_in_comments() -> None:
    schema = {
        "properties": {
            "n": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "default": 3, "description": "How many."},
            "s": {"type": "string", "pattern": "^a*/", "format": "date-time", "deprecated": True},
            "l": {"type": "array", "items": {"type": "string", "maxLength": 5}, "uniqueItems": True},
        }
    }
    assert TypeWriter(schema, Detail()).write() == (
        "{\n"
        "  /** How many. (integer, minimum 1, exclusiveMaximum 9, default 3) */\n  n?: number;\n"
        "  /** (format date-time, pattern ^a* /, deprecated) */\n  s?: string;\n"
        "  /** (uniqueItems) */\n  l?: string /* maxLength 5 */[];\n"
        "}"
    )


def test_references_are_named_types_and_a_name_that_stands_for_itself_is_unknown() -> None:
    tree = {"description": "A tree.", "properties": {"left": {"$ref": "#/$defs/tree"}}}
    ring = {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, STRING]}, "tree": tree, "c": STRING}
    schema = {"$defs": ring, "properties": {name: {"$ref": f"#/$defs/{name}"} for name in ring}}
    writer = TypeWriter(schema, Detail(), "_7")
    assert writer.write().split() == ["{", "a?:", "a_7;", "b?:", "b_7;", "tree?:", "tree_7;", "c?:", "c_7;", "}"]
    assert {name: text.split() for name, text in writer.named.items()} == {
        "a_7": ["unknown"],
        "b_7": ["unknown"],
        "c_7": ["string"],
        "tree_7": ["{", "left?:", "tree_7;", "}"],
    }
    assert "/** A tree. */\ntype tree_7 = {" in "\n".join(writer.declarations())


LARGE: dict[str, Any] = {
    "many members": {"properties": {f"p{number}": STRING for number in range(9000)}},
    "deep": json.loads('{"items":' * 120 + "{}" + "}" * 120),
    "deep in place": json.loads('{"allOf":[' * 60 + "{}" + "]}" * 60),
    "a long literal": {"properties": {"a": {"enum": ["x" * 200_000]}}},
    "a literal again and again": {
        "$defs": {"e": {"enum": ["x" * 400] * 50}},
        "properties": {f"p{number}": {"$ref": "#/$defs/e"} for number in range(3000)},
    },
    "a very long literal again and again": {
        "$defs": {"c": {"const": [0] * 90_000}},
        "properties": {f"p{number}": {"$ref": "#/$defs/c"} for number in range(199)},
    },
    "very many members": {"properties": {f"p{number}": {} for number in range(25_000)}},
    "an anchor again and again": {
        "properties": {f"p{number}": {"$ref": "#a"} for number in range(1900)},
        "$defs": {"a": {"$anchor": "a"}, **{f"d{number}": {} for number in range(15_000)}},
    },
    "types that end in one name": {
        "properties": {f"p{number}": {"$ref": f"#/$defs/d{number}/a"} for number in range(1900)},
        "$defs": {f"d{number}": {"a": STRING} for number in range(1900)},
    },
    "a chain of references": {
        "$defs": {f"d{number}": {"$ref": f"#/$defs/d{number + 1}"} for number in range(4000)},
        "$ref": "#/$defs/d0",
    },
    "references that double": {
        "$defs": {
            f"d{number}": {"properties": {side: {"$ref": f"#/$defs/d{number + 1}"} for side in "ab"}}
            for number in range(40)
        },
        "$ref": "#/$defs/d0",
    },
}


@pytest.mark.parametrize("case", LARGE)
def test_a_large_schema_has_a_type_of_bounded_size(case: str) -> None:
    schema = LARGE[case]
    begin = time.process_time()
    written = TypeWriter(schema, Detail(3, 40, is_full=False, parts=200, characters=2_000)).write()
    writer = TypeWriter(schema, Detail())
    full = f"type A = {writer.write()};"
    assert time.process_time() - begin < 5
    assert len(written) < 50_000
    assert len("\n".join([*writer.declarations(), full])) < 1_500_000
    assert problems_with(f"type A = {written};") == []


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("", ""),
        ("Reads.", "Reads."),
        ("Reads a file, e.g. a text. Fails otherwise.", "Reads a file, e.g. a text."),
        ("Reads a\n   file\n\nMore.", "Reads a file"),
        ("Version 1.2 of it! And more", "Version 1.2 of it!"),
        ("ファイルを読む。もっと。", "ファイルを読む。"),  # a full stop of another script
        ("x" * 300, "x" * 199 + "…"),
    ],
)
def test_the_first_sentence(description: str, sentence: str) -> None:
    assert first_sentence(description) == sentence


def test_a_template_cannot_make_more_of_a_text_than_a_caller_could_take() -> None:
    listed = [pb.Tool(name=f"t{number}", description="x" * (60 << 10)) for number in range(20)]
    templates = {"run_script": "{{signatures}}" * 4_000}
    request = pb.DescribeRequest(tools=pb.ToolList(tools=listed), description_templates=templates)
    with pytest.raises(InvalidRequest, match=r"description_templates\['run_script'\]: the description would have"):
        describe(request, CEILINGS, None)
    request.description_templates["run_script"] = "{{signatures}}"
    assert describe(request, CEILINGS, None).shown_tools == 20


def test_a_search_takes_no_longer_for_the_words_that_it_does_not_mean() -> None:
    listed = [
        pb.Tool(
            name=f"t{number}",
            description=" ".join(
                f"{chr(97 + each % 26)}w{chr(97 + number % 26)}q{each:x}"
                for each in range(number * 300, number * 300 + 300)
            ),
        )
        for number in range(400)
    ]
    query = " ".join(f"zz{number:x}" for number in range(0x1000, 0x1000 + 120))
    catalog = Catalog.from_messages(listed, "tools")
    request = pb.DescribeRequest(catalog_id=catalog.id, query="awaq0", max_tools=1)
    assert describe(request, CEILINGS, catalog).matched_tools >= 1
    begin = time.process_time()
    request.query = query
    describe(request, CEILINGS, catalog)
    assert time.process_time() - begin < 5


def test_an_answer_that_no_caller_could_take_is_refused_with_advice() -> None:
    listed = [pb.Tool(name=f"t{number}", description="x" * (60 << 10)) for number in range(120)]
    request = pb.DescribeRequest(tools=pb.ToolList(tools=listed))
    with pytest.raises(InvalidRequest, match=r"max_tools: the answer would have .* ask for pages"):
        describe(request, CEILINGS, None)
    request.max_tools = 20
    assert describe(request, CEILINGS, None).shown_tools == 20

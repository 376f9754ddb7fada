"""What a call resolves to in each dialect, and how its failure comes."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.dialects.bench import (
    DIALECTS,
    IMAGE,
    Answer,
    Bench,
    body,
    calling,
    parts,
    returning,
    schema_tool,
    text,
)
from tests.support.caller import failure

from codecage.v1 import codecage_pb2 as pb

USER, ASSISTANT = pb.AUDIENCE_USER, pb.AUDIENCE_ASSISTANT
OTHER = pb.ContentPart(other=pb.OtherContent(data=b"x", mime_type="application/x"))
PICTURE = {"data": base64.b64encode(IMAGE.image.data).decode(), "mimeType": "image/png"}
N = {"n": [1]}

# The content of an answer, and what the call resolves to in each dialect.
ANSWERS: dict[str, tuple[Answer, dict[str, Any]]] = {
    "two texts": (
        parts(text("a"), text("b")),
        {"standard": "a\nb", "goose": "a\nb", "sero": {"text": "a\nb"}, "devoxxgenie": "a\nb"},
    ),
    "a value beside a text": (
        parts(text("a"), structured='{"n":[1]}'),
        {"standard": N, "goose": N, "sero": {"text": "a", "details": N}, "devoxxgenie": "a"},
    ),
    "a value alone": (
        returning('{"n":[1]}'),
        {"standard": N, "goose": N, "sero": {"text": "", "details": N}, "devoxxgenie": '{"n":[1]}'},
    ),
    "null": (
        returning("null"),
        {"standard": None, "goose": None, "sero": {"text": "", "details": None}, "devoxxgenie": "null"},
    ),
    "json in parts": (
        parts(text('{"n":'), text("[1]}")),
        {"standard": '{"n":\n[1]}', "goose": N, "sero": {"text": '{"n":\n[1]}'}, "devoxxgenie": '{"n":\n[1]}'},
    ),
    "a number as text": (
        parts(text("5")),
        {"standard": "5", "goose": 5, "sero": {"text": "5"}, "devoxxgenie": "5"},
    ),
    "parts for one reader": (
        parts(text("u", USER), text("5", ASSISTANT), text("6", USER, ASSISTANT)),
        {"standard": "u\n5\n6", "goose": "5\n6", "sero": {"text": "u\n5\n6"}, "devoxxgenie": "u\n5\n6"},
    ),
    "an image": (
        parts(text("x"), IMAGE, OTHER),
        {"standard": "x", "goose": "x", "sero": {"text": "x", "images": [PICTURE]}, "devoxxgenie": "x"},
    ),
    "nothing": (
        parts(),
        {"standard": "", "goose": "", "sero": {"text": ""}, "devoxxgenie": ""},
    ),
    "text that is nearly json": (
        parts(text("[1,]")),
        {"standard": "[1,]", "goose": "[1,]", "sero": {"text": "[1,]"}, "devoxxgenie": "[1,]"},
    ),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", ANSWERS)
async def test_an_answer_has_the_form_of_its_dialect(bench: Bench, name: str, dialect: str) -> None:
    answer, wanted = ANSWERS[name]
    seen = await bench.run(body(dialect, f"return await {calling(dialect)}"), dialect, answer)
    assert seen.value == wanted[dialect]


# What each dialect leaves out of these parts, in the words of its warning.
DROPPED = {
    ("images", "standard"): "images",
    ("images", "goose"): "images",
    ("images", "sero"): "",
    ("images", "devoxxgenie"): "images",
    ("other", "standard"): "content that is neither text nor an image",
    ("other", "goose"): "content that is neither text nor an image",
    ("other", "sero"): "content that is neither text nor an image",
    ("other", "devoxxgenie"): "content that is neither text nor an image",
    ("user", "standard"): "",
    ("user", "goose"): "parts for the user only",
    ("user", "sero"): "",
    ("user", "devoxxgenie"): "",
}
CONTENT = {"images": IMAGE, "other": OTHER, "user": text("u", USER)}


@pytest.mark.parametrize(("content", "dialect"), DROPPED)
async def test_content_that_a_dialect_does_not_show_is_dropped_with_a_warning(
    bench: Bench, content: str, dialect: str
) -> None:
    answer = parts(text("x"), CONTENT[content])
    seen = await bench.run(body(dialect, f"await {calling(dialect)}; return 1"), dialect, answer)
    dropped = DROPPED[content, dialect]
    told = f"the answer of t holds {dropped}, which this dialect does not show"
    assert seen.warnings == ({"dropped_content": told} if dropped else {})


FAILURES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a text": ({"message": "no such file", "code": "enoent"}, "no such file", "enoent"),
    "a prefixed text": ({"message": "Error: once"}, "Error: once", "tool_failed"),
    "a refusal without words": ({"message": "", "denied": True}, "t failed", "denied"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", FAILURES)
async def test_a_failed_call_rejects_or_resolves_to_a_text_that_says_error_once(
    bench: Bench, name: str, dialect: str
) -> None:
    failed, message, code = FAILURES[name]
    source = f"return await {calling(dialect)}.then((v) => ['ok', v], (e) => [e.name, e.message, e.code, e.tool])"
    seen = await bench.run(body(dialect, source), dialect, lambda call: failure(call, **failed))
    if dialect == "devoxxgenie":
        assert seen.value == ["ok", f"Error: {message.removeprefix('Error: ')}"]
    else:
        assert seen.value == ["ToolError", message, code, "t"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_uncaught_failure_ends_the_run_except_where_it_is_text(bench: Bench, dialect: str) -> None:
    source = body(dialect, f"return await {calling(dialect)}")
    seen = await bench.run(source, dialect, lambda call: failure(call, "gone", code="enoent"))
    if dialect == "devoxxgenie":
        assert (seen.value, seen.rendered) == ("Error: gone", "Error: gone")
        return
    assert (seen.code, seen.error.tool_name, seen.error.tool_code) == ("tool_error", "t", "enoent")
    assert "ToolError: the tool t failed: gone" in seen.rendered


async def test_all_that_failed_in_devoxxgenie_is_text(bench: Bench) -> None:
    source = "return [await tools.t({}), await tools.t(5), await tools.call('nope', {}), await tools.t({ n: 1 })]"
    limited = pb.Limits(calls=2, answer_bytes=100)
    schema = schema_tool({"properties": {"n": {"type": "string"}}})
    seen = await bench.run(source, "devoxxgenie", parts(text("x" * 101)), tools=[schema], limits=limited)
    assert seen.value == [
        "Error: the answer of t is larger than 100 bytes",
        "Error: t: the arguments must be one object, like { name: value }, not a number",
        'Error: there is no tool "nope". The tools are: t.',
        'Error: the arguments of t do not fit: n: 1 is not of type "string"',
    ]
    assert await bench.value(
        "return [await tools.t({}), await tools.t({})]",
        dialect="devoxxgenie",
        answer=parts(text("x")),
        limits=pb.Limits(calls=1),
    ) == ["x", "Error: the script may make 1 tool calls, and this is one more"]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_an_answer_that_is_no_json_fails_its_call(bench: Bench, dialect: str) -> None:
    source = f"return await {calling(dialect)}.catch((e) => 'Error: ' + e.message)"
    seen = await bench.run(body(dialect, source), dialect, returning("{"))
    assert seen.value.startswith("Error: the answer of t cannot be used: it is not JSON")


# The form that each policy gives an answer of the text "5" beside the value 6.
OVERRIDES: dict[pb.AnswerForm.ValueType, Any] = {
    pb.ANSWER_FORM_VALUE_OR_TEXT: 6,
    pb.ANSWER_FORM_ASSISTANT_VALUE: 6,
    pb.ANSWER_FORM_PARTS: {"text": "5", "details": 6},
    pb.ANSWER_FORM_TEXT: "5",
}


@pytest.mark.parametrize("form", OVERRIDES)
async def test_a_request_may_ask_for_another_form_of_answers(bench: Bench, form: pb.AnswerForm.ValueType) -> None:
    seen = await bench.run(
        "return await tools.t({})", answer=parts(text("5"), structured="6"), policy=pb.Policy(answer_form=form)
    )
    assert seen.value == OVERRIDES[form]


async def test_a_request_may_ask_for_another_form_of_failures(bench: Bench) -> None:
    policy = pb.Policy(failure_form=pb.FAILURE_FORM_ERROR_STRING)
    seen = await bench.run("return await tools.t({})", answer=lambda call: failure(call, "gone"), policy=policy)
    assert seen.value == "Error: gone"
    policy = pb.Policy(failure_form=pb.FAILURE_FORM_REJECT)
    seen = await bench.run("return await tools.t({})", "devoxxgenie", lambda call: failure(call, "gone"), policy=policy)
    assert seen.code == "tool_error"

"""Answers of hosts: checked, bounded, put into the form of a dialect."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.answers import PreparedAnswer, prepare_answer, prepare_failure
from codecage.server.dialects import DIALECTS
from codecage.server.ledger import CallRecord
from codecage.server.limits import Limits
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb

RECORD = CallRecord(7, Tool("read", "", None, 0.0), 0.0, 0, 0.0)


def prepared(result: pb.ToolResult, dialect: str = "standard", **limits: int) -> PreparedAnswer:
    """The answer to call 7, a call of `read`."""
    return prepare_answer(RECORD, result, replace(Limits(), **limits), DIALECTS[dialect].policy)


def structured(text: str) -> pb.ToolResult:
    """A structured answer."""
    return pb.ToolResult(success=pb.ToolSuccess(structured_json=text))


def told(answer: PreparedAnswer) -> dict[str, Any]:
    """What the script learns of a failure."""
    assert answer.wire.kind == wire.ANSWER_KIND_ERROR
    fields: dict[str, Any] = orjson.loads(answer.wire.text)
    return fields


def test_a_structured_answer_goes_on_as_it_is() -> None:
    answer = prepared(structured('{ "a":  1.0 }'))
    assert (answer.wire.sequence, answer.wire.kind, answer.wire.text) == (7, wire.ANSWER_KIND_JSON, '{ "a":  1.0 }')
    assert (answer.status, answer.failure_code, answer.dropped) == (pb.CALL_STATUS_COMPLETED, "", "")


@pytest.mark.parametrize("text", ["", "{", "[1,]", "NaN", "{'a':1}", "1 2", '"\\ud8"', "\x00"])
def test_what_is_no_json_fails_the_call(text: str) -> None:
    answer = prepared(structured(text))
    assert (told(answer)["code"], answer.status) == ("malformed_answer", pb.CALL_STATUS_FAILED)


def test_an_answer_that_says_nothing_fails_the_call() -> None:
    assert told(prepared(pb.ToolResult()))["code"] == "malformed_answer"


def test_size_depth_and_items_are_bounded_by_one_code() -> None:
    assert not prepared(structured('"' + "x" * 100 + '"'), answer_bytes=200).is_too_large
    for answer in (
        prepared(structured('"' + "x" * 200 + '"'), answer_bytes=200),
        prepared(structured("[" * 11 + "]" * 11), json_depth=10),
        prepared(structured("[1,2,3]"), json_items=3),
        prepared(structured("[" + "1," * 100_000 + "1]"), json_items=1000),
        prepared(pb.ToolResult(failure=pb.ToolFailure(message="x" * 300)), answer_bytes=200),
    ):
        assert (answer.is_too_large, answer.failure_code, told(answer)["code"]) == (True, *["answer_too_large"] * 2)


def test_a_failure_goes_on_with_all_that_the_host_said() -> None:
    failure = pb.ToolFailure(code="c", message="m", retryable=True, details_json='{"a":1}')
    answer = prepared(pb.ToolResult(failure=failure))
    assert told(answer) == {"callId": "call-7", "code": "c", "message": "m", "retryable": True, "details": '{"a":1}'}
    assert (answer.status, answer.failure_code) == (pb.CALL_STATUS_FAILED, "c")


def test_a_failure_without_words_gets_some() -> None:
    failed = told(prepared(pb.ToolResult(failure=pb.ToolFailure(details_json="{"))))
    assert (failed["code"], failed["message"], failed["details"]) == ("tool_failed", "read failed", None)
    denied = prepared(pb.ToolResult(failure=pb.ToolFailure(denied=True)))
    assert (told(denied)["code"], denied.status) == ("denied", pb.CALL_STATUS_DENIED)


def test_code_and_message_of_a_failure_are_bounded_between_characters() -> None:
    fields = told(prepared(pb.ToolResult(failure=pb.ToolFailure(code="é" * 500, message="😀" * 50_000))))
    assert (fields["code"], fields["message"]) == ("é" * 128, "😀" * (16 << 10))


@pytest.mark.parametrize("message", ["gone", "Error: gone"])
def test_a_failure_as_text_is_prefixed_once(message: str) -> None:
    answer = prepared(pb.ToolResult(failure=pb.ToolFailure(message=message)), "devoxxgenie")
    assert (answer.wire.kind, answer.wire.text) == (wire.ANSWER_KIND_TEXT, "Error: gone")
    own = prepare_failure(RECORD, "tool_timeout", message, DIALECTS["devoxxgenie"].policy)
    assert own.wire.text == "Error: gone"


def test_what_is_dropped_is_named_once_and_in_order() -> None:
    image, other = pb.ContentPart(image=pb.Image()), pb.ContentPart(other=pb.OtherContent())
    user = pb.ContentPart(text="u", audience=[pb.AUDIENCE_USER])
    result = pb.ToolResult(success=pb.ToolSuccess(parts=[other, image, user, image]))
    assert prepared(result).dropped == "images, content that is neither text nor an image"
    assert prepared(result, "goose").dropped.endswith("neither text nor an image, parts for the user only")
    assert prepared(result, "sero").dropped == "content that is neither text nor an image"

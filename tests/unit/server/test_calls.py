"""Calls between a worker that nobody trusts and a host that may be late or wrong."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.recorder import START, call_frame

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.calls import Calls
from codecage.server.clocks import Clocks
from codecage.server.limits import CEILINGS
from codecage.server.outbox import Outbox
from codecage.server.report import Warnings
from codecage.server.request import decode_start
from codecage.server.violation import ProtocolViolation
from codecage.v1 import codecage_pb2 as pb

TOOLS = [
    pb.Tool(name="free"),
    pb.Tool(name="strict", input_schema_json='{"required":["a"],"properties":{"a":{"type":"string"}}}'),
    pb.Tool(name="broken", input_schema_json='{"type":"strang"}'),
]


class Bench:
    """The calls of one run."""

    def __init__(self, dialect: str = "standard", **limits: Any) -> None:
        start = pb.Start(source="", dialect=dialect, tools=pb.ToolList(tools=TOOLS), limits=pb.Limits(**limits))
        request = decode_start(start, CEILINGS)
        self.outbox = Outbox()
        self.warnings = Warnings()
        self.calls = Calls(request, Clocks(request.limits, START), self.outbox, self.warnings, START)

    def take(self, sequence: int, tool: int = 0, arguments: str = "{}") -> None:
        """The worker makes a call."""
        self.calls.take(call_frame(sequence, tool, arguments), START)

    def sent(self) -> list[str]:
        """The calls that the host was sent."""
        found: list[str] = []
        while self.outbox:
            found += [call.tool_name for call in self.outbox.take().tool_calls.calls]
        return found


def test_a_call_that_fits_goes_to_the_host() -> None:
    bench = Bench()
    bench.take(1)
    bench.take(2, 1, '{"a":"x"}')
    assert (bench.sent(), bench.calls.answers, bench.calls.open_count) == (["free", "strict"], [], 2)


@pytest.mark.parametrize("dialect", ["standard", "devoxxgenie"])
def test_a_mismatch_is_answered_here_in_the_form_of_the_dialect(dialect: str) -> None:
    bench = Bench(dialect)
    bench.take(1, 1, '{"a":5}')
    (answer,) = bench.calls.answers
    is_text = dialect == "devoxxgenie"
    assert answer.kind == (wire.ANSWER_KIND_TEXT if is_text else wire.ANSWER_KIND_ERROR)
    assert "the arguments of strict do not fit: a: 5 is not of type" in answer.text.replace("\\", "")
    assert (bench.sent(), len(bench.calls.ledger)) == ([], 0)
    record = bench.calls.failed_call(1)
    assert record is not None
    assert (record.tool.name, record.failure_code) == ("strict", "invalid_arguments")


def test_a_schema_that_cannot_be_used_is_warned_of_once() -> None:
    bench = Bench()
    bench.take(1, 2, '{"a":5}')
    bench.take(2, 2)
    assert bench.sent() == ["broken", "broken"]
    assert [warning.code for warning in bench.warnings.messages] == ["schema"]


@pytest.mark.parametrize(
    ("sequence", "tool", "arguments"),
    [
        (2, 0, "{}"),
        (0, 0, "{}"),
        (1, 3, "{}"),
        (1, 0, "[]"),
        (1, 0, "5"),
        (1, 0, "{"),
        (1, 0, ""),
        (1, 0, '{"a":' + "[" * 200 + "]" * 200 + "}"),
        (1, 0, '{"a":"' + "x" * 2000 + '"}'),
    ],
)
def test_a_call_that_no_honest_worker_makes_is_a_violation(sequence: int, tool: int, arguments: str) -> None:
    bench = Bench(argument_bytes=1000)
    with pytest.raises(ProtocolViolation):
        bench.take(sequence, tool, arguments)
    assert bench.sent() == []


def test_a_worker_cannot_make_more_calls_than_its_script_may() -> None:
    bench = Bench(calls=1)
    bench.take(1)
    with pytest.raises(ProtocolViolation):
        bench.take(2)
    crowded = Bench(calls_in_flight=1)
    crowded.take(1)
    with pytest.raises(ProtocolViolation):
        crowded.take(2)


def test_refused_calls_count_against_the_limit_of_calls() -> None:
    bench = Bench(calls=1)
    bench.take(1, 1)
    with pytest.raises(ProtocolViolation):
        bench.take(2, 1)


def test_a_call_that_was_not_refused_has_not_failed() -> None:
    bench = Bench()
    bench.take(1)
    assert (bench.calls.failed_call(1), bench.calls.failed_call(2)) == (None, None)


def test_an_answer_that_is_too_large_ends_the_run_where_the_policy_says_so() -> None:
    big = pb.ToolResults(results=[pb.ToolResult(call_id="call-1", success=pb.ToolSuccess(structured_json='"xxx"'))])
    for dialect, code in (("standard", None), ("sero", "answer_size")):
        bench = Bench(dialect, answer_bytes=3)
        bench.take(1)
        ending = bench.calls.take_results(big, START + 1)
        assert (ending.code if ending else None) == code
        assert [entry.failure_code for entry in bench.calls.ledger.entries()] == ["answer_too_large"]

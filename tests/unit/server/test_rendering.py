"""What a model reads, put together from what a run left."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.recorder import START, call_frame

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.dialects import DIALECTS
from codecage.server.ledger import Ledger
from codecage.server.limits import CEILINGS, Limits
from codecage.server.outcome import Ending
from codecage.server.output import OutputRecord
from codecage.server.rendering import render
from codecage.server.request import decode_start
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb

Pieces = list[tuple[int, str]]


def rendered(dialect: str, ending: Ending, pieces: Pieces | None = None, ledger: Ledger | None = None) -> str:
    """The text for a run that wrote `pieces`: 0 is `text()`, 1 to 5 are levels of the console."""
    output = OutputRecord(Limits())
    for kind, text in pieces or []:
        output.take(wire.Output(kind=kind, text=text))
    request = decode_start(pb.Start(source="", dialect=dialect), CEILINGS)
    return render(request, ending, output, ledger or Ledger("run", START))


def called(*calls: tuple[str, pb.CallStatus.ValueType]) -> Ledger:
    """A ledger of calls that have ended."""
    ledger = Ledger("run", START)
    for number, (name, status) in enumerate(calls, 1):
        ledger.add(call_frame(number), Tool(name, "", None, 0.0), 0.0, START)
        record = ledger.get(number)
        assert record is not None
        ledger.close(record, status, START)
    return ledger


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_value_is_rendered_as_text_or_json(dialect: str) -> None:
    end = "\nNested calls: 0 completed, 0 failed" if dialect == "sero" else ""
    for value, text in (('"a\\nb"', "a\nb"), ('{"a":1}', '{"a":1}'), ("null", "null"), ('""', "")):
        assert rendered(dialect, Ending("completed", value_json=value)) == text + end
    assert rendered(dialect, Ending("completed")) == ("undefined" if dialect == "sero" else "") + end
    shown = Ending("completed", value_json='{"a":1}', shown='{\n  "a": 1\n}')
    assert rendered(dialect, shown) == '{\n  "a": 1\n}' + end


def test_a_dropped_line_of_the_console_is_told_where_the_console_is_shown() -> None:
    pieces = [(1, "x" * (64 << 10)), (1, "y")]
    for dialect in DIALECTS:
        text = rendered(dialect, Ending("completed", value_json="1"), pieces)
        assert ("was dropped]" in text) is (dialect != "sero")


def error(**fields: Any) -> Ending:
    """A run that failed."""
    return Ending("script_error", pb.ScriptError(name="TypeError", message="bad", **fields))


def test_an_error_is_told_with_its_line_or_its_excerpt_and_its_hint() -> None:
    place = pb.Position(line=3, column=2)
    assert rendered("standard", error()) == "TypeError: bad"
    assert rendered("standard", error(position=place)) == "TypeError: bad (line 3)"
    assert rendered("standard", error(position=place, excerpt="3 | x\n  | ^", hint="Mend it.")) == (
        "TypeError: bad\n3 | x\n  | ^\nMend it."
    )
    assert rendered("devoxxgenie", error()) == "Error: TypeError: bad"


def test_a_tool_has_failed_only_where_the_host_saw_the_call() -> None:
    ledger = called(("read", pb.CALL_STATUS_FAILED))
    assert rendered("standard", error(tool_name="read", call_id="call-1"), ledger=ledger) == (
        "TypeError: the tool read failed: bad"
    )
    assert rendered("standard", error(tool_name="read", call_id="call-2"), ledger=ledger) == "TypeError: bad"


def test_fifty_calls_are_listed_and_the_rest_is_summed_up() -> None:
    completed, cancelled = ("a", pb.CALL_STATUS_COMPLETED), ("b", pb.CALL_STATUS_CANCELLED)
    assert rendered("sero", Ending("completed", value_json="1"), ledger=called(*[completed] * 50)).count("\n") == 51
    text = rendered("sero", Ending("completed", value_json="1"), ledger=called(*[completed] * 52, *[cancelled] * 3))
    assert text.split("\n")[1] == "Nested calls: 52 completed, 3 failed, 5 omitted"
    assert text.split("\n")[-2:] == ["- a: completed x 2 more", "- b: cancelled x 3 more"]

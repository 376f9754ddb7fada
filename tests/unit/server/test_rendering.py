"""What the model reads of a run, in the manner of the `standard` dialect."""

from __future__ import annotations

from dataclasses import replace

from tests.support.recorder import call_frame, new_request

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.ledger import Ledger
from codecage.server.limits import Limits
from codecage.server.outcome import Ending
from codecage.server.output import OutputRecord
from codecage.server.rendering import render
from codecage.server.tools import Tool
from codecage.v1 import codecage_pb2 as pb

TEXT, LOG, WARN = 0, 1, 3


def rendered(ending: Ending, *pieces: tuple[int, str], console_bytes: int = 1000) -> str:
    """The text of a run that wrote these pieces."""
    output = OutputRecord(replace(Limits(), console_bytes=console_bytes))
    for kind, text in pieces:
        output.take(wire.Output(kind=kind, text=text))
    return render(new_request(console_bytes=console_bytes), ending, output, Ledger("run", 0.0))


def test_what_was_written_comes_first_and_then_the_value() -> None:
    ending = Ending("completed", value_json='{"a":1}')
    assert rendered(ending, (TEXT, "first"), (WARN, "second")) == 'first\n[warn] second\n{"a":1}'


def test_a_text_value_is_shown_without_quotes() -> None:
    assert rendered(Ending("completed", value_json='"plain\\ntext"')) == "plain\ntext"


def test_nothing_written_and_nothing_returned_is_nothing_to_read() -> None:
    assert rendered(Ending("completed")) == ""


def test_a_console_that_was_cut_says_so() -> None:
    shown = rendered(Ending("completed"), (LOG, "abcd"), console_bytes=3)
    assert shown == "abc\n[console output beyond 3 bytes was dropped]"


def test_an_error_is_told_with_its_place_and_hint_after_what_was_written() -> None:
    error = pb.ScriptError(name="TypeError", message="no", position=pb.Position(line=2), hint="try yes")
    assert rendered(Ending("script_error", error), (TEXT, "so far")) == "so far\nTypeError: no (line 2)\ntry yes"


def test_a_failed_tool_is_named_and_an_excerpt_stands_for_the_place() -> None:
    ledger = Ledger("run", 0.0)
    ledger.add(call_frame(1), Tool("read", "", None, 0.0), 0.0, 0.0)
    record = ledger.get(1)
    assert record is not None
    ledger.close(record, pb.CALL_STATUS_FAILED, 1.0, "not_found")
    error = pb.ScriptError(
        name="ToolError",
        message="gone",
        tool_name="read",
        call_id="call-1",
        excerpt="1 | x",
        position=pb.Position(line=1),
    )
    shown = render(new_request(), Ending("tool_error", error), OutputRecord(Limits()), ledger)
    assert shown == "ToolError: the tool read failed: gone\n1 | x"

"""One run of the fake service: what a script does, written in Python."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from codecage.client._convert import reverse_requests, reverse_responses
from codecage.client._events import CallsCancelled, ToolCall, ToolHints
from codecage.client._json import dump_json
from codecage.client._result import (
    UNDEFINED,
    CallStatus,
    ConsoleLine,
    EndedBy,
    Image,
    LedgerEntry,
    Outcome,
    OutputImage,
    OutputText,
    RunResult,
    RunWarning,
    ScriptFailure,
    Usage,
)
from codecage.client._tools import ToolError, ToolFailure, ToolOutput
from codecage.client.testing._messages import AnswerSeen, CancelSeen, Message, StartSeen, SuspendSeen

Write = Callable[[bytes], Awaitable[None]]


class Ends(Exception):
    """Raised by a script to end its run in another way than by its value."""

    def __init__(
        self,
        outcome: Outcome,
        *,
        ended_by: EndedBy = EndedBy.LIMIT,
        error: ScriptFailure | None = None,
    ) -> None:
        super().__init__(outcome)
        self.outcome = outcome
        self.ended_by = ended_by
        self.error = error or ScriptFailure(name="Error", message=str(outcome))


@dataclass(slots=True)
class _Open:
    """A call that the client has seen."""

    call: ToolCall
    answered: "asyncio.Future[ToolOutput | ToolFailure]"
    began: float
    entry: LedgerEntry


class FakeRun:
    """What a script can do: call tools, write output, end. Every method sends something real."""

    def __init__(self, start: StartSeen, run_id: str, write: Write) -> None:
        self.start = start
        """What the client asked for."""
        self.run_id = run_id
        self.messages: list[Message] = []
        """Everything that the client sent after the start, in order."""
        self.closed = asyncio.Event()
        """Set once the stream is over, whoever ended it."""
        self._write = write
        self._began = time.monotonic()
        self._calls: dict[str, _Open] = {}
        self._warnings: list[RunWarning] = []
        self._came = asyncio.Condition()
        self._ended_by_caller: asyncio.Future[Ends] = asyncio.get_running_loop().create_future()

    async def call(self, tool_name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a tool and wait: its structured value, else its text. Raises ToolError if it fails."""
        (call_id,) = await self.begin((tool_name, arguments or {}))
        outcome = await self.outcome(call_id)
        if isinstance(outcome, ToolFailure):
            raise as_tool_error(outcome)
        return outcome.text if outcome.structured is UNDEFINED else outcome.structured

    async def begin(self, *calls: tuple[str, Mapping[str, Any]]) -> list[str]:
        """Make calls in one message, without waiting. Returns their ids."""
        made = [self._new_call(name, arguments) for name, arguments in calls]
        await self._write(reverse_responses.tool_calls(made))
        return [call.call_id for call in made]

    async def outcome(self, call_id: str) -> ToolOutput | ToolFailure:
        """Wait for the answer to a call, as the client sent it."""
        return await asyncio.shield(self._calls[call_id].answered)

    async def give_up(self, *call_ids: str, reason: str = "timeout", message: str = "") -> None:
        """Say that nobody waits for these calls any more: "timeout", "abandoned" or "run_ended"."""
        is_timeout = reason == "timeout"
        failure = ToolFailure(message=message, code="tool_timeout" if is_timeout else reason)
        for call_id in call_ids:
            self._settle(call_id, failure, CallStatus.FAILED if is_timeout else CallStatus.CANCELLED)
        await self._write(reverse_responses.calls_cancelled(CallsCancelled(call_ids, reason, message)))

    async def text(self, text: str) -> None:
        """Write text, as `text()` does."""
        await self._write(reverse_responses.output(OutputText(text)))

    async def image(self, image: Image) -> None:
        """Write an image, as `image()` does."""
        await self._write(reverse_responses.output(OutputImage(image)))

    async def console(self, text: str, level: str = "log") -> None:
        """Write a line to the console."""
        await self._write(reverse_responses.output(ConsoleLine(level, text)))

    async def message(self, kind: type[Message]) -> Message:
        """Wait until the client has sent a message of this kind; the first one of it."""
        async with self._came:
            await self._came.wait_for(lambda: any(isinstance(each, kind) for each in self.messages))
        return next(each for each in self.messages if isinstance(each, kind))

    async def receive(self, data: bytes | None) -> None:
        """Take a message of the client; None: it has half-closed."""
        if data is None:
            if any(not each.answered.done() for each in self._calls.values()):
                self._end(Ends(Outcome.CANCELLED, ended_by=EndedBy.CALLER))
            return
        for message in reverse_requests.messages(data):
            # First noted, then acted on: it may end the run, and then the test looks at what came.
            async with self._came:
                self.messages.append(message)
                self._came.notify_all()
            self._take(message)

    async def ending(self) -> Ends:
        """Wait until the client ends the run."""
        return await asyncio.shield(self._ended_by_caller)

    def result(self, ends: Ends | None, value: Any) -> RunResult:
        """How the run ended: by itself with a value, or as `ends` says."""
        outcome = Outcome.COMPLETED if ends is None else ends.outcome
        value_json = None if ends is not None or value is UNDEFINED else dump_json(value)
        ledger = tuple(each.entry for each in self._calls.values())
        return RunResult(
            run_id=self.run_id,
            outcome=outcome,
            code=str(outcome),
            ended_by=EndedBy.SCRIPT if ends is None else ends.ended_by,
            value_json=value_json,
            rendered=value_json or "",
            error=None if ends is None else ends.error,
            usage=self._usage(ledger, value_json),
            ledger=ledger,
            warnings=tuple(self._warnings),
            annotations=self.start.annotations,
            labels=dict(self.start.labels),
            state=dict(self.start.state),
            journal=reverse_responses.journal(self.run_id) if outcome is Outcome.SUSPENDED else None,
        )

    def _usage(self, ledger: tuple[LedgerEntry, ...], value_json: str | None) -> Usage:
        return Usage(
            wall_time=time.monotonic() - self._began,
            calls=len(ledger),
            argument_bytes=sum(entry.argument_bytes for entry in ledger),
            answer_bytes=sum(entry.answer_bytes for entry in ledger),
            value_bytes=len((value_json or "").encode()),
        )

    def _new_call(self, name: str, arguments: Mapping[str, Any]) -> ToolCall:
        sequence = len(self._calls) + 1
        arguments_json = dump_json(arguments)
        hints = next((tool.hints for tool in self.start.tools if tool.name == name), ToolHints())
        call = ToolCall(
            call_id=f"call-{sequence}",
            sequence=sequence,
            tool_name=name,
            arguments_json=arguments_json,
            arguments=arguments,
            idempotency_key=f"{self.run_id}/{sequence}",
            hints=hints,
        )
        now = time.monotonic()
        entry = LedgerEntry(
            call_id=call.call_id,
            sequence=sequence,
            tool_name=name,
            status=CallStatus.UNANSWERED,
            start_offset=now - self._began,
            argument_bytes=len(arguments_json.encode()),
        )
        answered: asyncio.Future[ToolOutput | ToolFailure] = asyncio.get_running_loop().create_future()
        self._calls[call.call_id] = _Open(call, answered, now, entry)
        return call

    def _take(self, message: Message) -> None:
        match message:
            case AnswerSeen(call_id, ToolFailure() as failure):
                self._settle(call_id, failure, CallStatus.DENIED if failure.denied else CallStatus.FAILED)
            case AnswerSeen(call_id, outcome):
                self._settle(call_id, outcome, CallStatus.COMPLETED)
            case CancelSeen(reason):
                error = ScriptFailure(name="Cancelled", message=reason or "cancelled by the caller")
                self._end(Ends(Outcome.CANCELLED, ended_by=EndedBy.CALLER, error=error))
            case SuspendSeen(reason):
                error = ScriptFailure(name="Suspended", message=reason or "suspended by the caller")
                self._end(Ends(Outcome.SUSPENDED, ended_by=EndedBy.CALLER, error=error))
            case _:
                pass

    def _settle(self, call_id: str, outcome: ToolOutput | ToolFailure, status: CallStatus) -> None:
        known = self._calls.get(call_id)
        if known is None or known.answered.done():
            warning = RunWarning(code="stray_answer", message=f"{call_id} is not open")
            self._warnings.append(warning)
            return
        code = ""
        if isinstance(outcome, ToolFailure):
            code = outcome.code or ("denied" if outcome.denied else "tool_failed")
            outcome = replace(outcome, code=code)
        known.entry = replace(
            known.entry,
            status=status,
            duration=time.monotonic() - known.began,
            answer_bytes=_size(outcome),
            failure_code=code,
        )
        known.answered.set_result(outcome)

    def _end(self, ends: Ends) -> None:
        if not self._ended_by_caller.done():
            self._ended_by_caller.set_result(ends)


def _size(outcome: ToolOutput | ToolFailure) -> int:
    if isinstance(outcome, ToolFailure):
        return len(outcome.message.encode())
    structured = "" if outcome.structured is UNDEFINED else dump_json(outcome.structured)
    images = sum(len(image.data) for image in outcome.images)
    return len((outcome.text or "").encode()) + len(structured.encode()) + images


def as_tool_error(failure: ToolFailure) -> ToolError:
    """What a script sees of a failure."""
    return ToolError(failure.message, code=failure.code, retryable=failure.retryable, details=failure.details)

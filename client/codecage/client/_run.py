"""One run in progress, answered by hand."""

from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from codecage.client._config import Clock
from codecage.client._convert import requests
from codecage.client._events import Event, RunFinished
from codecage.client._result import UNDEFINED, ConsoleLine, OutputImage, OutputText, RunResult, Started
from codecage.client._tools import ToolFailure, ToolOutput, as_output

if TYPE_CHECKING:
    from codecage.client._stream import Stream

_LARGEST_ANSWER = 63 * 1024 * 1024  # a server takes messages of 64 MiB


class Run:
    """A run that has a worker. Made by Client.start.

    Iterate over it for what happens, and answer each call of a ToolCallsRequested. The run goes on while
    nobody reads, up to its limits. Leaving its context closes the stream, which kills the run if it is not
    over.

    Iterating, and `result`, raise FateUnknown if the connection or the server breaks. Nothing sent to a run
    that is over, or about a call that is not open, has any effect.
    """

    def __init__(self, stream: "Stream", started: Started) -> None:
        self.started = started
        """The limits, policies and isolation layers in force."""
        self._stream = stream
        self._waiting: list[Event] = [started]
        self._output: list[OutputText | OutputImage] = []
        self._console: list[ConsoleLine] = []
        self._result: RunResult | None = None

    @property
    def run_id(self) -> str:
        """The id of the run: the caller's, or the one that the server made."""
        return self.started.run_id

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if self._waiting:
            return self._waiting.pop()
        event = await self._stream.next_event()
        if event is None:
            raise StopAsyncIteration
        return self._seen(event)

    async def answer(self, call_id: str, value: Any = None) -> None:
        """Answer a call: text as text, a ToolOutput as it says, anything else as one JSON value.

        Raises ValueError for a value that cannot be written as JSON; the call is then still open.
        """
        self.send_outcome(call_id, as_output(value))

    async def fail(
        self,
        call_id: str,
        message: str,
        *,
        code: str = "",
        retryable: bool = False,
        details: Any = UNDEFINED,
    ) -> None:
        """Answer a call with a failure. Raises ValueError for details that cannot be written as JSON."""
        failure = ToolFailure(message=message, code=code, retryable=retryable, details=details)
        self._stream.send(requests.answer(call_id, failure))

    async def deny(self, call_id: str, message: str = "the call was not allowed", *, code: str = "") -> None:
        """Answer a call that was refused before its tool ran."""
        self._stream.send(requests.answer(call_id, ToolFailure(message=message, code=code, denied=True)))

    async def pending(self, *call_ids: str, reason: str = "", resolved: bool = False) -> None:
        """Say that these calls wait for a person, which stops the clocks;

        or with `resolved` that they no longer do.
        """
        self._stream.send(requests.pending(call_ids, reason, is_resolved=resolved))

    async def adjust(self, clock: Clock, *, extend_by: float | None = None, pause: bool | None = None) -> None:
        """Change a time budget: allow `extend_by` seconds more, or stop (`pause=True`) or restart the clock.

        Script time cannot be paused. What would exceed the server's ceiling is cut, with a warning in the
        result. Raises ValueError unless exactly one change is asked for.
        """
        if (extend_by is None) == (pause is None):
            raise ValueError("give either extend_by or pause")
        if extend_by is not None:
            self._stream.send(requests.extend(clock, extend_by))
        elif pause is not None:
            self._stream.send(requests.pause(clock, is_paused=pause))

    async def suspend(self, reason: str = "") -> None:
        """End the run as suspended. The result then carries the journal with which a later run goes on."""
        self._stream.send(requests.suspend(reason))

    async def cancel(self, reason: str = "") -> None:
        """End the run as cancelled. The result still comes, with everything up to then."""
        self._stream.send(requests.cancel(reason))

    async def half_close(self) -> None:
        """Say that no more answers will come. A run with open calls is then ended as cancelled."""
        self._stream.half_close()

    async def result(self) -> RunResult:
        """Read on to the end of the run.

        Events on the way are dropped, so open calls must be answered elsewhere.
        """
        while self._result is None:
            await anext(self)
        return self._result

    async def aclose(self) -> None:
        """Close the stream. Kills the run if it is not over."""
        await self._stream.close()

    def send_outcome(self, call_id: str, outcome: ToolOutput | ToolFailure) -> None:
        """Answer a call with an outcome that is made already. One that is too large to be sent fails the call.

        Raises ValueError as `answer` does.
        """
        message = requests.answer(call_id, outcome)
        if len(message) > _LARGEST_ANSWER:
            # It would break the stream, and with it the run.
            told = f"the answer has {len(message)} bytes; more than {_LARGEST_ANSWER} cannot be sent"
            message = requests.answer(call_id, ToolFailure(message=told, code="answer_too_large"))
        self._stream.send(message)

    def _seen(self, event: Event) -> Event:
        match event:
            case OutputText() | OutputImage():
                self._output.append(event)
            case ConsoleLine():
                self._console.append(event)
            case RunFinished(result):
                self._result = replace(
                    result,
                    output=tuple(self._output),
                    console=tuple(self._console),
                    started=self.started,
                )
                return RunFinished(self._result)
            case _:
                pass
        return event

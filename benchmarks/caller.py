"""A caller of the service with nothing between it and the generated stubs."""

from collections.abc import Awaitable, Callable

from grpc import aio

from codecage.v1 import codecage_pb2 as pb
from codecage.v1.codecage_pb2_grpc import CodeModeServiceStub

NO_ANSWER = pb.ToolSuccess(structured_json="null")


class RunError(Exception):
    """A script of a workload did not complete, so there is nothing to measure."""


class Caller:
    """Runs scripts one way only: write `start`, answer calls as they come, read to the end of the stream."""

    def __init__(self, channel: aio.Channel) -> None:
        stub = CodeModeServiceStub(channel)
        self._run, self._check = stub.Run, stub.Check

    async def run(self, start: pb.Start, answer: pb.ToolSuccess = NO_ANSWER) -> pb.Finished:
        """Runs one script; every tool call gets the same answer."""
        call = self._run()
        await call.write(pb.RunRequest(start=start))
        finished: pb.Finished | None = None
        while isinstance(response := await call.read(), pb.RunResponse):
            event = response.WhichOneof("event")
            if event == "tool_calls":
                await call.write(_answers(response.tool_calls, answer))
            elif event == "finished":
                finished = response.finished
        return _completed(finished)

    def script(
        self, start: pb.Start, answer: pb.ToolSuccess = NO_ANSWER, value: str | None = None
    ) -> Callable[[], Awaitable[object]]:
        """A run to be measured, that must come to a value."""

        async def action() -> None:
            finished = await self.run(start, answer)
            if value is not None and finished.value_json != value:
                raise RunError(f"the script returned {finished.value_json!r:.200}, not {value}")

        return action

    def check(self, request: pb.CheckRequest, language: "pb.Language.ValueType") -> Callable[[], Awaitable[object]]:
        """A Check to be measured, that must find this language and nothing wrong."""

        async def action() -> None:
            found = await self._check(request)
            if found.diagnostics or found.language != language:
                raise RunError(f"the script was not taken as it is: {found!s:.500}")

        return action


def _answers(made: pb.ToolCalls, answer: pb.ToolSuccess) -> pb.RunRequest:
    """The same answer to each call; written in place, which copies a large one once."""
    request = pb.RunRequest()
    for call in made.calls:
        request.tool_results.results.add(call_id=call.call_id).success.CopyFrom(answer)
    return request


def _completed(finished: pb.Finished | None) -> pb.Finished:
    """Refuses a run that ended in another way."""
    if finished is None:
        raise RunError("the stream ended without its last message")
    if finished.outcome != pb.OUTCOME_COMPLETED:
        raise RunError(f"the script ended as {finished.code}: {finished.error.message:.500}")
    return finished

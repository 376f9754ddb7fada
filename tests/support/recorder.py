"""A run without a process: a worker that only takes notes, and the frames that a real one would send."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.dialects import DIALECTS, Policy
from codecage.server.limits import CEILINGS, Limits
from codecage.server.request import RunRequest
from codecage.server.run import Run
from codecage.server.tools import Tool, ToolSet
from codecage.v1 import codecage_pb2 as pb

__all__ = [
    "START",
    "RecordingWorker",
    "call_frame",
    "completed",
    "drain",
    "failed",
    "new_request",
    "new_run",
    "output",
    "turn",
]

START = 1000.0
"""When the runs of these tests begin, in seconds of their own clock."""


@dataclass
class RecordingWorker:
    """Takes a note of all that a run asks of its worker."""

    sent: list[wire.SupervisorFrame] = field(default_factory=list[wire.SupervisorFrame])
    kills: int = 0
    cpu_seconds: float = 0.0
    peak_bytes: int = 0

    def send(self, frame: wire.SupervisorFrame) -> None:
        """See WorkerPort."""
        self.sent.append(frame)

    def kill(self) -> None:
        """See WorkerPort."""
        self.kills += 1

    def usage(self) -> tuple[float, int]:
        """See WorkerPort."""
        return self.cpu_seconds, self.peak_bytes

    def answers(self) -> list[wire.Answer]:
        """All answers in the order in which the script would see them."""
        return [answer for frame in self.sent for answer in frame.answers.answers]


def new_run(
    worker: RecordingWorker,
    tools: tuple[str | Tool, ...] = ("read", "write"),
    policy: Policy | None = None,
    **limits: Any,
) -> Run:
    """A run that has given its script to `worker`."""
    run = Run(new_request(tools, policy, **limits), worker, CEILINGS, START, queued=0.5)
    run.start()
    return run


def new_request(
    tools: tuple[str | Tool, ...] = ("read", "write"), policy: Policy | None = None, **limits: Any
) -> RunRequest:
    """A request as it comes out of the checks."""
    standard = DIALECTS["standard"]
    listed = tuple(tool if isinstance(tool, Tool) else Tool(tool, "", None, 0.0) for tool in tools)
    return RunRequest(
        run_id="run",
        source="return 1",
        dialect=standard,
        limits=replace(Limits(), **limits),
        policy=policy or standard.policy,
        tools=ToolSet(listed),
        input_json="",
    )


def drain(run: Run) -> list[pb.RunResponse]:
    """Everything that the run has to say."""
    said: list[pb.RunResponse] = []
    while run.outbox:
        said.append(run.outbox.take())
    return said


def turn(*calls: wire.Call, waiting: bool = True, taken: int = 0) -> wire.WorkerFrame:
    """A turn of the script's job queue."""
    return wire.WorkerFrame(turn=wire.Turn(calls=calls, waiting=waiting, answers_taken=taken))


def call_frame(sequence: int, tool: int = 0, arguments: str = "{}") -> wire.Call:
    """One call of it."""
    return wire.Call(sequence=sequence, tool=tool, arguments_json=arguments, line=3, column=7)


def completed(value: str | None = "1") -> wire.WorkerFrame:
    """The script returned."""
    return wire.WorkerFrame(finished=wire.Finished(code="completed", value_json=value))


def failed(code: str, message: str = "", call: int = 0) -> wire.WorkerFrame:
    """The script did not."""
    error = wire.Error(name="Error", message=message, call=call)
    return wire.WorkerFrame(finished=wire.Finished(code=code, error=error))


def output(text: str, kind: int = 0) -> wire.WorkerFrame:
    """A piece of output: kind 0 is `text()`, 1 to 5 are console levels."""
    return wire.WorkerFrame(output=wire.Output(kind=kind, text=text))

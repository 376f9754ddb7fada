"""Runs a script in a dialect and keeps all that a host sees of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.caller import RunStream, success, tool

from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

__all__ = [
    "DIALECTS",
    "IMAGE",
    "Answer",
    "Bench",
    "Seen",
    "body",
    "calling",
    "parts",
    "returning",
    "schema_tool",
    "text",
]

DIALECTS = ("standard", "goose", "sero", "devoxxgenie")

Answer = Callable[[pb.ToolCall], pb.ToolResult | None]
"""How the host answers a call; None leaves it open."""

IMAGE = pb.ContentPart(image=pb.Image(data=b"\x89PNG", mime_type="image/png"))


def text(content: str, *audience: pb.Audience.ValueType) -> pb.ContentPart:
    """A text part."""
    return pb.ContentPart(text=content, audience=audience)


def parts(*content: pb.ContentPart, structured: str | None = None) -> Answer:
    """An answer of these parts, and perhaps a structured value."""
    return lambda call: pb.ToolResult(
        call_id=call.call_id, success=pb.ToolSuccess(parts=content, structured_json=structured)
    )


def returning(value: str) -> Answer:
    """A structured answer, as the JSON text that it is."""
    return parts(structured=value)


def echo(call: pb.ToolCall) -> pb.ToolResult:
    """The arguments, structured."""
    return success(call, json.loads(call.arguments_json))


def schema_tool(schema: object, name: str = "t") -> pb.Tool:
    """A tool with a schema of its arguments."""
    return tool(name, schema)


def body(dialect: str, source: str) -> str:
    """The body of an async function as a script of the dialect."""
    return f"async function run() {{ {source} }}" if dialect == "goose" else source


def calling(dialect: str, name: str = "t", arguments: str = "{}") -> str:
    """A call of a tool in the dialect's own form."""
    return f"tools.call('{name}', {arguments})" if dialect == "goose" else f"tools['{name}']({arguments})"


@dataclass
class Seen:
    """A run as its host saw it."""

    finished: pb.Finished
    started: pb.Started
    calls: list[pb.ToolCall]
    output: list[pb.OutputItem]
    cancelled: list[str]

    @property
    def code(self) -> str:
        """How it ended."""
        return self.finished.code

    @property
    def json(self) -> str | None:
        """The value as it was sent; None for undefined."""
        return self.finished.value_json if self.finished.HasField("value_json") else None

    @property
    def value(self) -> Any:
        """The value of a run that completed."""
        assert self.code == "completed", self.finished
        return json.loads(self.finished.value_json)

    @property
    def error(self) -> pb.ScriptError:
        """What went wrong."""
        assert self.code != "completed", self.finished
        return self.finished.error

    @property
    def place(self) -> tuple[int, int]:
        """Line and column of what went wrong."""
        return self.error.position.line, self.error.position.column

    @property
    def rendered(self) -> str:
        """What the model reads."""
        return self.finished.rendered

    @property
    def warnings(self) -> dict[str, str]:
        """Each kind of warning with the message of its last."""
        return {warning.code: warning.message for warning in self.finished.warnings}

    @property
    def arguments(self) -> list[Any]:
        """Of each call."""
        return [json.loads(call.arguments_json) for call in self.calls]

    @property
    def console(self) -> list[str]:
        """Its lines."""
        return [item.console.text for item in self.output if item.HasField("console")]


@dataclass
class Bench:
    """A channel to a service, and a host that answers."""

    stub: rpc.CodeModeServiceAsyncStub
    tools: Sequence[pb.Tool] = field(default_factory=lambda: [tool("t"), tool("other-tool")])

    async def run(self, source: str, dialect: str = "standard", answer: Answer = echo, **start: Any) -> Seen:
        """Runs a script and answers its calls. `start` holds fields of the first message; `tools` is a plain list."""
        stream = RunStream(self.stub)
        listed: Sequence[pb.Tool] = start.pop("tools", self.tools)
        await stream.send(start=pb.Start(source=source, dialect=dialect, tools=pb.ToolList(tools=listed), **start))
        calls: list[pb.ToolCall] = []
        output: list[pb.OutputItem] = []
        cancelled: list[str] = []
        while True:
            response = await stream.read()
            assert response is not None, "the stream ended without its last message"
            if response.HasField("finished"):
                assert stream.started is not None
                return Seen(response.finished, stream.started, calls, output, cancelled)
            output += response.output.items
            cancelled += response.tool_calls_cancelled.call_ids
            calls += response.tool_calls.calls
            results = [result for call in response.tool_calls.calls if (result := answer(call)) is not None]
            if results:
                await stream.answer(*results)

    async def value(self, source: str, **options: Any) -> Any:
        """The value of a script that completes."""
        return (await self.run(source, **options)).value

    async def check(self, source: str, dialect: str = "standard", **request: Any) -> pb.CheckResponse:
        """What compiling tells."""
        listed: Sequence[pb.Tool] = request.pop("tools", self.tools)
        message = pb.CheckRequest(source=source, dialect=dialect, tools=pb.ToolList(tools=listed), **request)
        response: pb.CheckResponse = await self.stub.Check(message)
        return response

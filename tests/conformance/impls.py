"""What the tools of dialects.json do, one function a kind; see data/README.md."""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from tests.conformance.host import Answer, Behaviour

from codecage.v1 import codecage_pb2 as pb

__all__ = ["behaviour_of"]

Json = dict[str, Any]


def behaviour_of(impl: Json) -> Behaviour:
    """The behaviour of a tool, as new: what it counts starts at its beginning."""
    return _KINDS[impl["kind"]](impl)


def _plain(make: Callable[[Json, Json], Answer]) -> Callable[[Json], Behaviour]:
    """A kind that answers at once from its description and the arguments."""

    def kind(impl: Json) -> Behaviour:
        async def behave(arguments: str) -> Answer:
            return make(impl, json.loads(arguments))

        return behave

    return kind


def _echo(impl: Json) -> Behaviour:
    async def behave(arguments: str) -> Answer:
        return pb.ToolSuccess(parts=[pb.ContentPart(text=arguments)], structured_json=arguments)

    return behave


def _counter(impl: Json) -> Behaviour:
    numbers = itertools.count(1)

    async def behave(arguments: str) -> Answer:
        return _text(str(next(numbers)))

    return behave


def _hang(impl: Json) -> Behaviour:
    async def behave(arguments: str) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    return behave


def _sleep(impl: Json) -> Behaviour:
    """Sleeps `ms`, or the argument `ms`, then answers with a text or a template."""

    async def behave(arguments: str) -> Answer:
        values = json.loads(arguments)
        await asyncio.sleep(impl.get("ms", values.get("ms", 0)) / 1000)
        return _text(_filled(impl["template"], values) if "template" in impl else impl["text"])

    return behave


def _barrier(impl: Json) -> Behaviour:
    """Answers once so many calls are open at the same time."""
    barrier = asyncio.Barrier(impl["n"])

    async def behave(arguments: str) -> Answer:
        await barrier.wait()
        return _text(impl.get("text", "ok"))

    return behave


def _files(impl: Json, values: Json) -> Answer:
    path = values.get("path")
    if path in impl["files"]:
        return _text(impl["files"][path])
    return pb.ToolFailure(message=f"no such file: {path}")


def _fail(impl: Json, values: Json) -> Answer:
    return pb.ToolFailure(message=impl["message"], code=impl.get("code", ""), denied=impl["kind"] == "deny")


def _mcp(impl: Json, values: Json) -> Answer:
    result = impl["result"]
    success = pb.ToolSuccess(parts=[_part(content) for content in result["content"]])
    structured = result.get("structuredContent", result.get("details"))
    if structured is not None:
        success.structured_json = json.dumps(structured)
    return success


def _part(content: Json) -> pb.ContentPart:
    names = {"user": pb.AUDIENCE_USER, "assistant": pb.AUDIENCE_ASSISTANT}
    audience = [names[name] for name in content.get("annotations", {}).get("audience", ())]
    if content["type"] == "text":
        return pb.ContentPart(text=content["text"], audience=audience)
    data = base64.b64decode(str(content.get("data", content.get("blob", ""))))
    if content["type"] == "image":
        return pb.ContentPart(image=pb.Image(data=data, mime_type=content["mimeType"]), audience=audience)
    other = pb.OtherContent(data=data, mime_type=content.get("mimeType", ""), uri=content.get("uri", ""))
    return pb.ContentPart(other=other, audience=audience)


def _text(text: str) -> pb.ToolSuccess:
    return pb.ToolSuccess(parts=[pb.ContentPart(text=text)])


def _structured(value: Any) -> pb.ToolSuccess:
    return pb.ToolSuccess(structured_json=json.dumps(value))


def _filled(template: str, values: Json) -> str:
    """A template with each {name} replaced by that argument, text as it is."""

    def value(found: re.Match[str]) -> str:
        argument = values.get(found[1])
        return argument if isinstance(argument, str) else json.dumps(argument)

    return re.sub(r"\{(\w+)\}", value, template)


_KINDS: Mapping[str, Callable[[Json], Behaviour]] = {
    "echo": _echo,
    "json": _plain(lambda impl, _values: _structured(impl["value"])),
    "json_text": _plain(lambda impl, _values: pb.ToolSuccess(structured_json=impl["text"])),
    "text": _plain(lambda impl, _values: _text(impl["text"])),
    "text_repeat": _plain(lambda impl, _values: _text(impl["ch"] * impl["n"])),
    "template": _plain(lambda impl, values: _text(_filled(impl["template"], values))),
    "files": _plain(_files),
    "counter": _counter,
    "add": _plain(lambda _impl, values: _structured(values["a"] + values["b"])),
    "fail": _plain(_fail),
    "deny": _plain(_fail),
    "sleep": _sleep,
    "sleep_arg": _sleep,
    "sleep_template": _sleep,
    "hang": _hang,
    "barrier": _barrier,
    "mcp": _plain(_mcp),
    "freeform_upper": _plain(lambda _impl, values: _text(str(values.get("input", "")).upper())),
}

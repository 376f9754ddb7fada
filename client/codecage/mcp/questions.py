"""Asking the person in front whether a tool may be called: MCP elicitation, in both eras of the protocol.

Until 2025-11-25 the server sends a request of its own and waits. From 2026-07-28 on it may not: it ends the client's
request with the questions, the client asks the person and sends the same request again, with the answers and with the
state that we gave it. The run waits meanwhile: it is one and the same run.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from codecage.client import Denial, ToolCall
from mcp import MCPError, ServerSession
from mcp.types import ElicitRequest, ElicitRequestedSchema, ElicitRequestFormParams, ElicitResult, RequestId

__all__ = ["Channel", "DirectChannel", "NoChannel", "Question", "RoundsChannel", "can_be_asked"]

_ARGUMENTS_SHOWN = 2_000  # characters
_SHORTER = ((_ARGUMENTS_SHOWN, 200), (500, 50), (120, 10), (40, 3))
"""Characters of one string and items of one list that are shown, less and less until all arguments have a place."""
_SCHEMA: ElicitRequestedSchema = {
    "type": "object",
    "properties": {
        "remember": {
            "type": "boolean",
            "title": "Do not ask again",
            "description": "Allow this tool, with any arguments, until the script ends",
            "default": False,
        }
    },
}


@dataclass(frozen=True, slots=True)
class Question:
    """One call that a person has to decide on."""

    call: ToolCall
    reason: str

    def params(self) -> ElicitRequestFormParams:
        """The question, in the form in which clients show it."""
        where = f" (line {self.call.position.line})" if self.call.position else ""
        why = f"\n{_plain(self.reason)}" if self.reason else ""
        message = f"A script wants to call {self.call.tool_name}{where}:\n{_plain(_shown(self.call.arguments))}{why}"
        return ElicitRequestFormParams(message=message, requested_schema=_SCHEMA)


class Channel(Protocol):
    """A way to a person."""

    async def ask(self, question: Question) -> ElicitResult | Denial:
        """What the person says; a Denial where nobody could be asked."""
        ...


class NoChannel:
    """The client has no way to ask a person."""

    async def ask(self, question: Question) -> ElicitResult | Denial:
        """Refuse."""
        return Denial("the call needs a person's approval, and this client cannot ask for it (no elicitation)")


class DirectChannel:
    """Sends the question as a request of our own, within the client's request."""

    def __init__(self, front: ServerSession, request_id: RequestId | None) -> None:
        self._front = front
        self._request_id = request_id

    async def ask(self, question: Question) -> ElicitResult | Denial:
        """Ask and wait."""
        params = question.params()
        try:
            return await self._front.elicit_form(params.message, params.requested_schema, self._request_id)
        except MCPError as error:
            return Denial(f"the call needs a person's approval, and the client did not ask: {error.message}")


class RoundsChannel:
    """Collects questions until the client's request is ended with them, and hands out the answers of the next one."""

    def __init__(self) -> None:
        self.has_new = asyncio.Event()
        """Set while there are questions that were not handed out."""
        self._open: dict[str, tuple[Question, asyncio.Future[ElicitResult]]] = {}
        self._handed_out: set[str] = set()

    async def ask(self, question: Question) -> ElicitResult | Denial:
        """Wait for a round that brings the answer."""
        answer: asyncio.Future[ElicitResult] = asyncio.get_running_loop().create_future()
        key = question.call.call_id
        self._open[key] = (question, answer)
        self.has_new.set()
        try:
            return await answer
        finally:
            del self._open[key]
            self._handed_out.discard(key)

    def requests(self) -> dict[str, ElicitRequest]:
        """All open questions, to be put to the person."""
        self.has_new.clear()
        self._handed_out.update(self._open)
        return {key: ElicitRequest(params=question.params()) for key, (question, _) in self._open.items()}

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Take a round's answers. A question that was handed out and has none was not answered: it is declined."""
        for key in list(self._handed_out & self._open.keys()):
            response = responses.get(key)
            result = response if isinstance(response, ElicitResult) else ElicitResult(action="cancel")
            answer = self._open[key][1]
            if not answer.done():
                answer.set_result(result)


def can_be_asked(front: ServerSession) -> bool:
    """Whether the client has said that it can put forms to a person."""
    capabilities = front.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    # Before there were two modes, an empty capability meant forms.
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _shown(arguments: Mapping[str, Any]) -> str:
    """Arguments as a person reads them. A long one is shortened, and says so, rather than that it hides another."""
    text = ""
    for characters, items in _SHORTER:
        text = json.dumps(_shortened(dict(arguments), characters, items), ensure_ascii=False, indent=2)
        if len(text) <= _ARGUMENTS_SHOWN:
            return text
    return f"{text[:_ARGUMENTS_SHOWN]}… ({len(text) - _ARGUMENTS_SHOWN} characters more)"


def _shortened(value: Any, characters: int, items: int) -> Any:
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}… ({len(value) - characters} characters more)"
    if isinstance(value, list):
        listed = cast("Sequence[Any]", value)
        more = [f"… ({len(listed) - items} items more)"] if len(listed) > items else []
        return [*(_shortened(item, characters, items) for item in listed[:items]), *more]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value).items()
        return {_shortened(name, characters, items): _shortened(each, characters, items) for name, each in members}
    return value


def _plain(text: str) -> str:
    """Without control characters: what a script passes must not draw on a person's screen."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)

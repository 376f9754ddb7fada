"""Answers the calls of a run with the caller's tools."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from types import TracebackType
from typing import Self

from codecage.client._events import CallsCancelled, Event, ToolCall, ToolCallsRequested
from codecage.client._options import Authorize
from codecage.client._run import Run
from codecage.client._tools import Ask, Denial, Tool, ToolError, ToolFailure, ToolOutput, call_tool, run_anywhere, told

_log = logging.getLogger("codecage.client")


class Dispatcher:
    """Owns one task for each open call. Leaving its context cancels those that are left and waits for them.

    A function that runs in a thread cannot be stopped: its call is given up, the thread goes on to its end.
    """

    def __init__(self, run: Run, tools: Mapping[str, Tool], authorize: Authorize | None, *, is_approval: bool) -> None:
        self._run = run
        self._tools = tools
        self._authorize = authorize
        self._is_approval = is_approval
        self._person = asyncio.Lock()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def handle(self, event: Event) -> None:
        """Begin with the calls that an event asks for, end those that it cancels."""
        match event:
            case ToolCallsRequested(calls):
                for call in calls:
                    task = asyncio.create_task(self._serve(call), name=f"codecage call {call.call_id}")
                    self._tasks[call.call_id] = task
                    task.add_done_callback(partial(self._forget, call.call_id))
            case CallsCancelled(call_ids):
                for call_id in call_ids:
                    if call_id in self._tasks:
                        self._tasks[call_id].cancel()
            case _:
                pass

    def _forget(self, call_id: str, _: asyncio.Task[None]) -> None:
        del self._tasks[call_id]

    async def _serve(self, call: ToolCall) -> None:
        outcome = await self._outcome(call)
        try:
            self._run.send_outcome(call.call_id, outcome)
        except (TypeError, ValueError) as error:
            failure = ToolFailure(message=f"the answer is no JSON: {error}", code="unserializable_answer")
            self._run.send_outcome(call.call_id, failure)

    async def _outcome(self, call: ToolCall) -> ToolOutput | ToolFailure:
        try:
            denial = await self._denial(call)
            if denial is not None:
                return ToolFailure(message=denial.message, code=denial.code, denied=True)
            tool = self._tools.get(call.tool_name)
            if tool is None:
                return ToolFailure(message=f"there is no tool {call.tool_name!r} here", code="unknown_tool")
            return await call_tool(tool, call)
        except ToolError as error:
            return error.failure
        except asyncio.CancelledError:
            if _is_being_cancelled():
                raise
            return ToolFailure(message="the tool was cancelled", code="cancelled")
        except (KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001  # whatever a tool raises is for the script
            return ToolFailure(message=told(error))

    async def _denial(self, call: ToolCall) -> Denial | None:
        if self._authorize is None:
            return None
        try:
            verdict = await self._verdict(self._authorize, call)
        except (KeyboardInterrupt, GeneratorExit, asyncio.CancelledError):
            raise
        except BaseException:  # noqa: BLE001  # a hook that fails has not allowed anything
            # Why it failed is for the host alone.
            _log.exception("the authorize hook failed on a call of %r", call.tool_name)
            return Denial("the call was refused: the host could not decide")
        if isinstance(verdict, Denial):
            return verdict
        return None if verdict is True else Denial()

    async def _verdict(self, authorize: Authorize, call: ToolCall) -> object:
        if self._is_approval:
            async with self._waiting(call), self._person:
                return await run_anywhere(authorize, call)
        verdict = await run_anywhere(authorize, call)
        if not isinstance(verdict, Ask):
            return verdict
        async with self._waiting(call):
            return await run_anywhere(verdict.person, call)

    @contextlib.asynccontextmanager
    async def _waiting(self, call: ToolCall) -> AsyncGenerator[None]:
        """While a person is asked the run's clocks stand still."""
        await self._run.pending(call.call_id, reason="approval")
        yield
        await self._run.pending(call.call_id, resolved=True)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0

"""One run of the command line: events as they come, Ctrl-C, and the end."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

from codecage.client import Client, Outcome, Run, RunResult, StartOptions, Tool, current_call
from codecage.client._dispatch import Dispatcher
from codecage.client._tools import as_tools, run_anywhere, told
from codecage.client.cli import _present
from codecage.client.cli._server import ExitCode


def run_script(client: Client, source: str, options: StartOptions, *, as_json: bool) -> ExitCode:
    """Run a script and print what comes of it.

    Raises CodecageError, and KeyboardInterrupt before the run began.
    """
    live = _present.Live(shows_output=not as_json, shows_calls=sys.stderr.isatty())
    with kept_clean(is_wanted=as_json), asyncio.Runner() as runner:
        interrupt = _Interrupt(runner.get_loop())
        try:
            result = runner.run(_run(client, source, options, interrupt, live))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    if as_json:
        print(_present.as_json(result))
    else:
        _present.print_result(result)
    if interrupt.has_come:
        return ExitCode.INTERRUPTED
    return ExitCode.COMPLETED if result.outcome is Outcome.COMPLETED else ExitCode.NOT_COMPLETED


def kept_clean(*, is_wanted: bool) -> contextlib.AbstractContextManager[object]:
    """Meanwhile, what tools print goes to standard error, if it is wanted: standard output is for one object."""
    return contextlib.redirect_stdout(sys.stderr) if is_wanted else contextlib.nullcontext()


class _Interrupt:
    """Ctrl-C: the first one cancels the run, whose end is then still told; the second one ends everything."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.has_come = False
        self._loop = loop
        self._cancelling: asyncio.Task[None] | None = None

    def watch(self, run: Run) -> None:
        """Cancel this run from now on."""
        main = asyncio.current_task()
        assert main is not None

        def interrupted() -> None:
            if self.has_come:
                main.cancel()
            self.has_come = True
            self._cancelling = self._loop.create_task(run.cancel("interrupted"))

        self._loop.add_signal_handler(signal.SIGINT, interrupted)


async def _run(
    client: Client, source: str, options: StartOptions, interrupt: _Interrupt, live: _present.Live
) -> RunResult:
    tools = {name: _observed(tool, live) for name, tool in as_tools(options.get("tools", ())).items()}
    async with (
        client,
        await client.start(source, **options) as run,
        Dispatcher(run, tools, None, is_approval=False) as dispatcher,
    ):
        interrupt.watch(run)
        async for event in run:
            live.show(event)
            dispatcher.handle(event)
        return await run.result()


def _observed(tool: Tool, live: _present.Live) -> Tool:
    """The same tool, with its answers shown as they come."""

    async def handle(arguments: Mapping[str, Any]) -> Any:
        assert tool.handler is not None
        began = monotonic()
        try:
            value = await run_anywhere(tool.handler, arguments)
        except Exception as error:
            live.answered(current_call(), monotonic() - began, failure=told(error))
            raise
        live.answered(current_call(), monotonic() - began)
        return value

    return replace(tool, handler=handle)

"""`codecage mcp` as a process, with a client of the official SDK in front of it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import psutil
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, ElicitRequestParams, ElicitResult, TextContent

SECONDS = 60.0
"""The end of every wait. Nothing takes this long; a loaded machine must not make a test fail."""
WICKED = Path(__file__).with_name("wicked_server.py")


def wicked(**settings: Any) -> dict[str, Any]:
    """The entry of the wicked server in a configuration."""
    return {"command": sys.executable, "args": [str(WICKED)], **settings}


def module(name: str, *arguments: str, **settings: Any) -> dict[str, Any]:
    """The entry of a server that is a Python module."""
    return {"command": sys.executable, "args": ["-m", name, *arguments], **settings}


@dataclass
class Person:
    """Answers questions, and keeps them. Each answer is used once; after the last one, nobody is there."""

    answers: list[ElicitResult] = field(default_factory=list[ElicitResult])
    questions: list[str] = field(default_factory=list[str])

    @classmethod
    def who(cls, *words: str) -> Person:
        """A person who accepts, declines, cancels or accepts for good ("remember")."""
        return cls([_ANSWERS[word] for word in words])

    async def ask(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        """The callback for the SDK."""
        self.questions.append(params.message)
        if not self.answers:
            await asyncio.Event().wait()
        return self.answers.pop(0)


_ANSWERS = {
    "accept": ElicitResult(action="accept", content={}),
    "remember": ElicitResult(action="accept", content={"remember": True}),
    "decline": ElicitResult(action="decline"),
    "cancel": ElicitResult(action="cancel"),
}


@dataclass
class Front:
    """A client in front of the gateway."""

    client: Client
    progress: list[str]
    log: Path
    process: psutil.Process

    async def run(self, tool: str, code: str, **more: Any) -> CallToolResult:
        """What comes of a script."""
        async with asyncio.timeout(SECONDS):
            return await self.client.call_tool(tool, {"code": code, **more}, progress_callback=self._note)

    async def text(self, code: str, tool: str = "run_script") -> str:
        """What a model reads of a script."""
        return text_of(await self.run(tool, code))

    def servers(self) -> list[psutil.Process]:
        """The wicked servers behind the gateway."""
        return [each for each in self.process.children() if WICKED.name in " ".join(each.cmdline())]

    async def logged(self, pattern: str, *, times: int = 1) -> None:
        """Wait until a pattern is in the log so many times."""
        await until(lambda: len(re.findall(pattern, self.log.read_text())) >= times)

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(f"{progress:g} {message}")


def text_of(result: CallToolResult) -> str:
    """The text of a result, which is its first piece."""
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@asynccontextmanager
async def over_stdio(
    servers: Mapping[str, Any],
    *arguments: str,
    person: Person | None = None,
    mode: str = "auto",
    **settings: Any,
) -> AsyncGenerator[Front]:
    """A gateway that the client starts as its child, as clients do."""
    with _files(servers, settings) as (config, errlog):
        command = ["-m", "codecage.client", "mcp", "--config", str(config), *arguments]
        parameters = StdioServerParameters(command=sys.executable, args=command)
        before = set(psutil.Process().children())
        asked = None if person is None else person.ask
        async with Client(
            stdio_client(parameters, errlog), mode=mode, elicitation_callback=asked, cache=None
        ) as client:
            (process,) = set(psutil.Process().children()) - before
            yield Front(client, [], Path(errlog.name), process)
            doomed = [process]
            with suppress(psutil.NoSuchProcess):  # a test may have killed it
                doomed += process.children(recursive=True)
        assert psutil.wait_procs(doomed, SECONDS)[1] == []


@asynccontextmanager
async def over_http(
    servers: Mapping[str, Any], *arguments: str, listen: str = "127.0.0.1:0", env: Mapping[str, str] | None = None
) -> AsyncGenerator[tuple[str, psutil.Popen]]:
    """A gateway that serves Streamable HTTP: its address and its process. It is told to end, and must end well."""
    with _files(servers, {}) as (config, errlog):
        command = [sys.executable, "-m", "codecage.client", "mcp", "--config", str(config), "--http", listen]
        process = psutil.Popen([*command, *arguments], stderr=errlog, env={**os.environ, **(env or {})})
        told = Told(Path(errlog.name))
        try:
            await until(lambda: told.address or not process.is_running())
            yield told.address, process
        finally:
            await asyncio.to_thread(_end, process)


def _end(process: psutil.Popen) -> None:
    """End a gateway, unless the test has done so, and see that nothing of it is left."""
    if process.poll() is None:
        doomed = process.children(recursive=True)
        process.terminate()
        assert process.wait(SECONDS) == 0
        assert psutil.wait_procs(doomed, SECONDS)[1] == []


@dataclass
class Told:
    """What a gateway has logged."""

    log: Path

    @property
    def address(self) -> str:
        """Where it serves; "" before it does."""
        found = re.search(r"serving at (\S+)", self.log.read_text())
        return found[1] if found else ""


@contextmanager
def _files(servers: Mapping[str, Any], settings: Mapping[str, Any]) -> Generator[tuple[Path, TextIO]]:
    """The configuration, and a file for what the gateway logs."""
    with tempfile.TemporaryDirectory(prefix="codecage-mcp-") as folder:
        config = Path(folder, "config.json")
        config.write_text(json.dumps({"mcpServers": servers, "codecage": settings}))
        with Path(folder, "log").open("w") as errlog:
            yield config, errlog


async def until(condition: Callable[[], object]) -> None:
    """Wait until something that other processes do has happened."""

    def poll() -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end, "it did not happen in time"
            time.sleep(0.02)

    await asyncio.to_thread(poll)

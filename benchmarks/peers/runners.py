"""Each peer as something that runs one script and gives its value."""

import asyncio
import importlib
import importlib.util
import itertools
import json
import shutil
import subprocess
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks import floors, scripts
from benchmarks.caller import Caller
from benchmarks.server import SERVICE, started
from codecage.v1 import codecage_pb2 as pb

HERE = Path(__file__).parent
NO_ISOLATES = "node ended: isolated-vm is not installed"
Run = Callable[[str], Awaitable[Any]]
"""Takes a source in the language of the peer."""


@asynccontextmanager
async def codecage() -> AsyncGenerator[Run]:
    """This service, over gRPC, every layer on."""
    limits = pb.Limits(calls=scripts.CALLS, calls_in_flight=scripts.BURST)
    with started(SERVICE) as served:
        async with floors.connect(served.address) as channel:
            caller = Caller(channel)

            async def run(source: str) -> Any:
                start = pb.Start(source=source, tools=pb.ToolList(tools=[scripts.NOOP]), limits=limits)
                return json.loads((await caller.run(start)).value_json)

            yield run


def processes(command: Sequence[str]) -> Run:
    """A new process for each script."""

    async def run(source: str) -> Any:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"source": source}).encode() + b"\n")
        while line := await process.stdout.readline():
            message = json.loads(line)
            if "call" not in message:
                await process.wait()
                return message["value"]
            process.stdin.write(json.dumps({"answer": message["call"]}).encode() + b"\n")
        raise RuntimeError(f"{command[0]} ended without a value")

    return run


def node() -> Run | None:
    """Plain node: a process, and no more protection than that."""
    return processes(["node", str(HERE / "guest.mjs")]) if shutil.which("node") else None


def node_in_bubblewrap() -> Run | None:
    """node in namespaces of its own, with a read-only view of the system and no network."""
    if not (shutil.which("node") and shutil.which("bwrap")):
        return None
    present = [path for path in ("/usr", "/lib", "/lib64", "/bin") if Path(path).exists()]
    binds = [part for path in present for part in ("--ro-bind", path, path)]
    shut = ["bwrap", "--unshare-all", "--die-with-parent", "--proc", "/proc", "--dev", "/dev"]
    guest = ["--ro-bind", str(HERE / "guest.mjs"), "/guest.mjs"]
    return processes([*shut, *binds, *guest, "node", "/guest.mjs"])


def deno() -> Run | None:
    """deno without any permission."""
    found = shutil.which("deno")
    return processes([found, "run", "--no-prompt", "--quiet", str(HERE / "guest.mjs")]) if found else None


def fastmcp() -> Run | None:
    """The provider behind FastMCP's code mode: a subset of Python in a process of its own."""
    if importlib.util.find_spec("fastmcp") is None:
        return None
    module: Any = importlib.import_module("fastmcp.experimental.transforms.code_mode")
    provider = module.MontySandboxProvider()

    async def noop() -> None:
        """Answers at once."""

    async def run(source: str) -> Any:
        return await provider.run(source, external_functions={"noop": noop})

    return run


@asynccontextmanager
async def isolates() -> AsyncGenerator[Run | None]:
    """isolated-vm in one node: a fresh heap for each script, in the process of its host."""
    process = await asyncio.create_subprocess_exec(
        "node", str(HERE / "isolates.cjs"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    open_runs: dict[int, asyncio.Future[Any]] = {}
    numbers = itertools.count()

    async def hear() -> None:
        while line := await stdout.readline():
            message = json.loads(line)
            open_runs.pop(message["id"]).set_result(message.get("value"))
        for future in open_runs.values():
            future.set_exception(RuntimeError(NO_ISOLATES))

    async def run(source: str) -> Any:
        if hearing.done():
            raise RuntimeError(NO_ISOLATES)
        number = next(numbers)
        future = open_runs[number] = asyncio.get_running_loop().create_future()
        stdin.write(json.dumps({"id": number, "source": source}).encode() + b"\n")
        return await future

    hearing = asyncio.create_task(hear())
    try:
        yield run
    finally:
        hearing.cancel()
        if process.returncode is None:
            process.kill()
        await process.wait()

"""The command `codecage`, as a process."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


async def begin(*arguments: str, env: dict[str, str] | None = None, stderr: int = PIPE) -> Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "codecage.client", *arguments),
        stdin=PIPE,
        stdout=PIPE,
        stderr=stderr,
        env=os.environ | {"COLUMNS": "200"} | (env or {}),
    )


async def codecage(*arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> Ended:
    process = await begin(*arguments, env=env)
    out, err = await process.communicate(stdin.encode())
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())

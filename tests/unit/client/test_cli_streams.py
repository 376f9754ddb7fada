"""What the command `codecage` refuses, and when and where it writes: as a process against the fake service."""

import asyncio
import json
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest
from tests.support.command import Ended, begin, codecage

from codecage.client.testing import FakeRun, FakeService


@pytest.fixture
def script_file(tmp_path: Path) -> str:
    file = tmp_path / "script.js"
    file.write_text("return 1")
    return str(file)


async def test_what_tools_print_does_not_come_between_the_json(
    service: FakeService, script_file: str, tmp_path: Path
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        return await run.call("chat", {})

    file = tmp_path / "tools.py"
    file.write_text("print('loaded')\ndef chat() -> int:\n    print('called')\n    return 1\n")
    ended = await codecage("run", "--json", "--server", service.address, "--tools", str(file), script_file)
    assert (ended.code, json.loads(ended.out)["value"], ended.err) == (0, 1, "loaded\ncalled\n")


async def test_a_reader_of_a_pipe_sees_lines_as_they_happen(service: FakeService, script_file: str) -> None:
    seen = asyncio.Event()

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.text("first")
        await seen.wait()

    process = await begin("run", "--server", service.address, script_file)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"first\n"
    seen.set()
    await process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["missing.js"], "cannot read missing.js: No such file or directory"),
        (["-", "--input", "{"], "--input is not JSON: Expecting property name enclosed in double quotes"),
        (["-", "--input", "[NaN]"], "--input is not JSON: there is no NaN in JSON"),
        (["-", "--timeout", "0"], "--timeout must be more than 0"),
        (["-", "--timeout", "-1"], "--timeout must be more than 0"),
        (["-", "--server", "foo"], "no server can be at 'foo': it is neither unix:PATH nor HOST:PORT"),
        (["-", "--server", "/tmp/x.sock"], "no server can be at '/tmp/x.sock': it is neither unix:PATH nor"),
        (["-", "--server", "http://a:80"], "no server can be at 'http://a:80': it is neither unix:PATH nor"),
        (["-", "--server", "a:65536"], "no server can be at 'a:65536': it is neither unix:PATH nor HOST:PORT"),
        (["-", "--limit", "mem=1"], "there is no limit 'mem'; there are: answer, argument, calls"),
        (["-", "--tools", "missing.py"], "there is no Python file missing.py"),
    ],
)
async def test_wrong_usage_exits_with_2_before_any_server_is_asked(arguments: list[str], told: str) -> None:
    ended = await codecage("run", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"codecage: {told}")


async def test_a_script_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "script.js"
    file.write_bytes(b"return '\xff'")
    ended = await codecage("run", str(file))
    assert ended == Ended(2, "", f"codecage: {file} is not UTF-8: invalid start byte at byte 8\n")


async def test_nobody_at_the_address_exits_with_3(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/nobody.sock"
    told = f"no server at {target}: there is no such socket; start one with `codecage serve --listen {target}`"
    assert await codecage("run", "--server", target, "-") == Ended(3, "", f"codecage: {told}\n")
    with socket.socket(socket.AF_UNIX) as left_over:
        left_over.bind(target.removeprefix("unix:"))
    assert await codecage("run", "--server", target, "-") == Ended(
        3, "", f"codecage: not run: no server answered at {target} within 3 s\n"
    )


@pytest.mark.parametrize(
    ("entry", "interrupted"),
    [
        ("codecage.command", "codecage.client"),
        ("codecage.command", "codecage.client.cli"),
        ("codecage.client.cli", "codecage.client.cli._app"),
    ],
)
async def test_ctrl_c_while_the_command_is_loaded_says_nothing(entry: str, interrupted: str) -> None:
    program = f"""
import sys
from {entry} import main
class Interrupted:
    def find_spec(self, name, *_):
        if name == {interrupted!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
main()
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stderr=PIPE)
    _, err = await process.communicate()
    assert (process.returncode, err) == (130, b"")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("sys.platform = 'darwin'", "codecage: codecage runs on Linux only, not on darwin\n"),
        (
            "find = importlib.util.find_spec; importlib.util.find_spec = lambda n: n != 'rich' and find(n) or None",
            "codecage: the command line needs rich: pip install 'codecage[cli]'\n",
        ),
    ],
)
async def test_where_the_command_cannot_work_it_says_why(change: str, told: str) -> None:
    program = f"import importlib.util, sys; from codecage.client.cli import main; {change}; main()"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stderr=PIPE)
    _, err = await process.communicate()
    assert (process.returncode, err.decode()) == (2, told)

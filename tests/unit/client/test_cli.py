"""The command `codecage`, as a process against the fake service."""

import asyncio
import json
import os
import pty
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.support.command import Ended, begin, codecage

from codecage.client import (
    UNDEFINED,
    EndedBy,
    FieldViolation,
    Image,
    InvalidRequest,
    Limits,
    Outcome,
    Overloaded,
    Position,
    PreconditionFailed,
    Refusal,
    ScriptFailure,
    ToolError,
)
from codecage.client.testing import Breaks, CancelSeen, Ends, FakeRun, FakeService

TOOLS = '''
def add(a: int, b: int) -> int:
    """Add."""
    return a + b
def fail(a: int) -> int:
    raise ValueError("it broke")
async def wait() -> None:
    import asyncio
    await asyncio.Event().wait()
'''


@pytest.fixture
def script_file(tmp_path: Path) -> str:
    file = tmp_path / "script.js"
    file.write_text("return 'ü'")
    return str(file)


@pytest.fixture
def tools_file(tmp_path: Path) -> str:
    file = tmp_path / "tools.py"
    file.write_text(TOOLS)
    return str(file)


async def test_output_and_value_go_to_standard_output_and_the_summary_to_standard_error(
    service: FakeService, script_file: str, tools_file: str
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        await run.text("written")
        await run.console("careful", "warn")
        await run.image(Image(b"12345", "image/png"))
        return {"sum": await run.call("add", {"a": 2**70, "b": 1})}

    ended = await codecage("run", "--server", service.address, "--tools", tools_file, script_file)
    assert (ended.code, ended.out) == (
        0,
        f'written\n[warn] careful\n[image image/png, 5 B]\n{{\n  "sum": {2**70 + 1}\n}}\n',
    )
    assert "add   completed" in ended.err
    assert "calls 1" in ended.err
    start = service.runs[0].start
    assert (start.source, start.dialect, [tool.name for tool in start.tools]) == (
        "return 'ü'",
        "standard",
        ["add", "fail", "wait"],
    )


async def test_json_gives_one_object_with_exact_numbers(
    service: FakeService, script_file: str, tools_file: str
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> Any:
        await run.text("written")
        await run.image(Image(b"12345", "image/png"))
        await run.console("careful", "warn")
        return [await run.call("add", {"a": 2**70, "b": 1}), 0.1]

    ended = await codecage("run", "--json", "--server", service.address, "--tools", tools_file, script_file)
    assert ended.code == 0
    told = json.loads(ended.out)
    assert ended.out.count("\n") == 1
    usage, ledger = told.pop("usage"), told.pop("ledger")
    assert told == {
        "outcome": "completed",
        "value": [2**70 + 1, 0.1],
        "rendered": f"[{2**70 + 1},0.1]",
        "error": None,
        "warnings": [],
        "console": [{"level": "warn", "text": "careful"}],
        "output": [{"text": "written"}, {"image": {"mime_type": "image/png", "data": "MTIzNDU="}}],
    }
    assert (usage["calls"], ledger[0]["tool_name"], ledger[0]["status"]) == (1, "add", "completed")


async def test_undefined_is_no_value(service: FakeService, script_file: str) -> None:
    service.expect_value(UNDEFINED)
    service.expect_value(None)
    service.expect_value(UNDEFINED)
    target = ("--server", service.address, script_file)
    assert "value" not in json.loads((await codecage("run", "--json", *target)).out)
    assert json.loads((await codecage("run", "--json", *target)).out)["value"] is None
    assert (await codecage("run", *target)).out == ""


async def test_options_reach_the_server(service: FakeService) -> None:
    service.expect_value("done")
    ended = await codecage(
        *("run", "-", "--dialect", "goose", "--language", "typescript", "--input", '{"n": 12345678901234567890}'),
        *("--limit", "memory=64MiB", "--limit", "script_time=500ms", "--limit", "calls=10"),
        stdin="return 1",
        env={"CODECAGE_SERVER": service.address},
    )
    assert (ended.code, ended.out) == (0, "done\n")
    start = service.runs[0].start
    assert (start.source, start.dialect, start.language, start.input, start.limits) == (
        "return 1",
        "goose",
        "typescript",
        {"n": 12345678901234567890},
        Limits(memory_bytes=64 * 2**20, script_time=0.5, calls=10),
    )


async def test_a_script_that_does_not_complete_exits_with_1_and_tells_how_to_mend_it(
    service: FakeService, script_file: str
) -> None:
    error = ScriptFailure(
        name="TypeError",
        message="x [is] not a function",
        position=Position(3, 7),
        excerpt="3 | x()\n  | ^",
        hint="did you mean y?",
    )
    for _ in range(2):

        @service.expect_run
        async def script(run: FakeRun) -> None:
            raise Ends(Outcome.SCRIPT_ERROR, ended_by=EndedBy.SCRIPT, error=error)

    ended = await codecage("run", "--server", service.address, script_file)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[:4] == [
        "script_error (line 3, column 7) TypeError: x [is] not a function",
        "3 | x()",
        "  | ^",
        "hint did you mean y?",
    ]
    ended = await codecage("run", "--json", "--server", service.address, script_file)
    told = json.loads(ended.out)
    assert (ended.code, ended.err, told["outcome"], told["error"]) == (1, "", "script_error", asdict(error))


async def test_a_failing_tool_of_the_file_fails_its_call(
    service: FakeService, script_file: str, tools_file: str
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> str:
        try:
            return str(await run.call("fail", {"a": 1}))
        except ToolError as error:
            return str(error)

    ended = await codecage("run", "--server", service.address, "--tools", tools_file, script_file)
    assert (ended.code, ended.out) == (0, "it broke\n")


async def test_many_calls_are_summed_up(service: FakeService, script_file: str, tools_file: str) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        for call_id in await run.begin(*[("add", {"a": 1, "b": 2})] * 50):
            await run.outcome(call_id)

    ended = await codecage("run", "--server", service.address, "--tools", tools_file, script_file)
    table = [line.split()[:3] for line in ended.err.splitlines()]
    assert table[:2] == [["calls", "tool", "status"], ["50", "add", "completed"]]


async def test_refused_fields_are_told_with_their_paths_and_exit_2(service: FakeService, script_file: str) -> None:
    violations = (FieldViolation("start.limits.calls", "above 256"), FieldViolation("start.source", "too long"))
    service.expect_refusal(InvalidRequest(Refusal("malformed", violations=violations)))
    assert await codecage("run", "--server", service.address, script_file) == Ended(
        2,
        "",
        "codecage: the request was refused:\n  start.limits.calls: above 256\n  start.source: too long\n",
    )


async def test_each_way_of_not_being_served_has_its_exit_code(service: FakeService, script_file: str) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        raise Breaks

    service.expect_refusal(Overloaded(Refusal("the queue is full", retry_after=1.5)))
    service.expect_refusal(PreconditionFailed(Refusal("no such feature")))
    target = ("run", "--server", service.address, script_file)
    assert await codecage(*target) == Ended(
        3,
        "",
        "codecage: the server was lost: internal: broken; calls that were made may have had effects\n",
    )
    assert await codecage(*target) == Ended(3, "", "codecage: not run: the queue is full; try again in 1.5 s\n")
    assert await codecage(*target) == Ended(2, "", "codecage: not run: no such feature\n")


async def test_ctrl_c_cancels_the_run_and_still_tells_what_happened(
    service: FakeService, script_file: str, tools_file: str
) -> None:
    called = asyncio.Event()

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.text("so far")
        await run.call("add", {"a": 1, "b": 2})  # answered: the command is listening
        await run.begin(("wait", {}))
        called.set()
        await run.closed.wait()

    process = await begin("run", "--json", "--server", service.address, "--tools", tools_file, script_file)
    await called.wait()
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    told = json.loads(out)
    assert (process.returncode, err, told["outcome"], told["output"]) == (130, b"", "cancelled", [{"text": "so far"}])
    assert [entry["status"] for entry in told["ledger"]] == ["completed", "unanswered"]
    assert service.runs[0].messages[1:] == [CancelSeen("interrupted")]


async def test_a_second_ctrl_c_ends_at_once(
    service: FakeService, script_file: str, tools_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called, cancelled = asyncio.Event(), asyncio.Event()

    def hear_and_go_on(_: FakeRun, __: Ends) -> None:
        cancelled.set()

    monkeypatch.setattr(FakeRun, "_end", hear_and_go_on)

    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.call("add", {"a": 1, "b": 2})  # answered: the command is listening
        called.set()
        await run.closed.wait()

    process = await begin("run", "--json", "--server", service.address, "--tools", tools_file, script_file)
    await called.wait()
    process.send_signal(signal.SIGINT)
    await cancelled.wait()
    process.send_signal(signal.SIGINT)
    out, err = await process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")
    await service.runs[0].closed.wait()


async def test_a_terminal_sees_calls_as_they_go_and_no_escape_of_the_script(
    service: FakeService, script_file: str, tools_file: str
) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.call("add", {"a": 1, "b": 2})
        raise Ends(Outcome.SCRIPT_ERROR, error=ScriptFailure(name="Error", message="\x1b[2Jgone"))

    terminal, child = pty.openpty()
    target = ("run", "--server", service.address, "--tools", tools_file, script_file)
    process = await begin(*target, stderr=child, env={"TERM": "dumb"})
    os.close(child)
    await process.communicate()
    seen = await asyncio.to_thread(read_terminal, terminal)
    lines = seen.splitlines()
    assert lines[0] == '→ 1 add {"a":1,"b":2}'
    assert lines[1].startswith("✓ 1 add ")
    assert lines[2] == "script_error Error: \\x1b[2Jgone"


def read_terminal(terminal: int) -> str:
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        chunks.append(chunk)
    os.close(terminal)
    return b"".join(chunks).decode()


async def test_info_is_told_as_tables_and_as_json(service: FakeService) -> None:
    ended = await codecage("info", "--server", service.address)
    assert ended.code == 0
    assert ["memory_bytes", "64", "MiB", "64", "MiB"] in [line.split() for line in ended.out.splitlines()]
    ended = await codecage("info", "--json", "--server", service.address)
    assert json.loads(ended.out) == json.loads(json.dumps(asdict(service.server_info)))


async def test_serve_becomes_the_server_with_all_its_arguments(tmp_path: Path) -> None:
    package = tmp_path / "codecage" / "server"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text("import os, sys; print(os.getpid(), sys.argv[1:]); sys.exit(5)")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    process = await begin("serve", "--help", "--listen", "unix:a b", "x", env={"PYTHONPATH": path})
    out, _ = await process.communicate()
    assert (process.returncode, out.decode()) == (5, f"{process.pid} ['--help', '--listen', 'unix:a b', 'x']\n")


async def test_help_names_the_commands() -> None:
    ended = await codecage("--help")
    assert ended.code == 0
    for command in ("run", "serve", "info"):
        assert f" {command} " in ended.out

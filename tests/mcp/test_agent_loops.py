"""The agent loops of the examples, as programs: over functions, and over two real MCP servers through the gateway."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

AGENTS = Path(__file__).resolve().parents[2] / "examples" / "agents"
SECONDS = 150.0

pytestmark = pytest.mark.timeout(200)


async def output_of(program: str, *arguments: str) -> str:
    """What a program prints; it must end well."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(AGENTS / program), *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(SECONDS):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return out.decode()


async def test_a_loop_over_functions_gains_code_mode() -> None:
    assert (await output_of("toolkit_loop.py")).splitlines() == [
        "Which customer has spent the most?",
        '{"0":2730,"1":2870,"2":2600}',
        "Customer 1 has spent the most.",
    ]


def test_that_loop_gains_code_mode_by_five_lines() -> None:
    lines = (AGENTS / "toolkit_loop.py").read_text().splitlines()
    assert sum(line.endswith("# code mode") for line in lines) == 5


@pytest.mark.parametrize("transport", [(), ("--http",)], ids=["stdio", "http"])
@pytest.mark.usefixtures("repository")  # which sees that git is there
async def test_a_loop_over_mcp_works_with_two_real_servers(transport: tuple[str, ...]) -> None:
    *asked, question, answer, said = (await output_of("mcp_loop.py", *transport)).splitlines()
    assert asked == [
        "[asked] A script wants to call git__git_create_branch (line 5):",
        "{",
        '  "repo_path": ".",',
        '  "branch_name": "report-2"',
        "}",
    ]
    assert question == "What was committed lately? Make a branch for the report."
    assert answer.endswith('day","commits":["Go on","Begin"]}')
    assert said == "Done: a branch for the report is there."

"""An agent loop over MCP that has gained code mode by naming another server: `codecage mcp`.

    python examples/agents/mcp_loop.py          # the gateway as a child, over standard input and output
    python examples/agents/mcp_loop.py --http   # over Streamable HTTP

The loop is an ordinary client of the official SDK and knows nothing of Codecage. Behind the gateway stand two servers
of the protocol's own makers: `pip install 'codecage[server,mcp]' mcp-server-git mcp-server-time`.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.types import ElicitRequestParams, ElicitResult, TextContent
from scripted_model import ScriptedModel, ToolUse

SCRIPT = """
const now = await tools.time__get_current_time({ timezone: "UTC" });
const log = await tools.git__git_log({ repo_path: ".", max_count: 10 });
const commits = log.split("Commit: ").slice(1);
await tools.git__git_create_branch({ repo_path: ".", branch_name: `report-${commits.length}` });
return { day: now.day_of_week, commits: commits.map((commit) => commit.split("Message: ")[1].trim()) };
"""
MODEL = ScriptedModel([ToolUse("run_script", {"code": SCRIPT}), "Done: a branch for the report is there."])


def config(repository: Path) -> dict[str, Any]:
    """The file that a person writes. The servers' own tools that only look are allowed, others are asked about."""
    rules = [{"action": "deny", "tool": "git_reset", "reason": "nothing may be thrown away"}]
    git = {"command": sys.executable, "args": ["-m", "mcp_server_git"], "cwd": str(repository), "rules": rules}
    time = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}
    return {"mcpServers": {"git": git, "time": time}}


async def ask_person(context: Any, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG001  # the SDK asks so
    """Where a person would be asked."""
    print(f"[asked] {params.message}")
    return ElicitResult(action="accept", content={})


async def loop(client: Client) -> None:
    """Ask the model, do what it wants, until it answers in words."""
    tools = [tool.model_dump() for tool in (await client.list_tools()).tools]
    messages = ["What was committed lately? Make a branch for the report."]
    while True:
        reply = MODEL.reply(messages, tools)
        if isinstance(reply, str):
            break
        result = await client.call_tool(reply.name, dict(reply.arguments))
        messages.append("\n".join(part.text for part in result.content if isinstance(part, TextContent)))
    print("\n".join([*messages, reply]))


@contextlib.asynccontextmanager
async def gateway(config_file: Path, *, is_http: bool) -> AsyncGenerator[StdioServerParameters | str]:
    """What the SDK's client is to connect to."""
    arguments = ["-m", "codecage.client", "mcp", "--config", str(config_file)]
    if not is_http:
        yield StdioServerParameters(command=sys.executable, args=arguments)
        return
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, "--http", "127.0.0.1:0", stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        line = ""
        while "serving at " not in line:
            line = (await process.stderr.readline()).decode()
        yield line.split("serving at ")[1].strip()
    finally:
        process.terminate()
        await process.communicate()


def new_repository(folder: Path) -> Path:
    """A repository with two commits."""
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    for message in ("Begin", "Go on"):
        command = ["git", "-C", str(folder), *person, "commit", "-q", "--allow-empty", "-m", message]
        subprocess.run(command, check=True)
    return folder


async def run(config_file: Path, *, is_http: bool) -> None:
    """Run the loop against a gateway of its own."""
    async with (
        gateway(config_file, is_http=is_http) as server,
        Client(server, elicitation_callback=ask_person) as client,
    ):
        await loop(client)


def main() -> None:
    """Make a repository to work on, and run the loop."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "mcp.json")
        file.write_text(json.dumps(config(new_repository(Path(folder, "repository")))))
        asyncio.run(run(file, is_http="--http" in sys.argv))


if __name__ == "__main__":
    main()

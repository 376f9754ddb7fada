"""`codecage mcp` before two servers of the protocol's own makers, as they are on the package index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.mcp.front import Person, module, over_stdio, text_of
from tests.support.service import ServiceProcess

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])

pytestmark = pytest.mark.timeout(200)


@pytest.fixture
def sidecar(shared_service: ServiceProcess) -> tuple[str, str]:
    return "--server", shared_service.address


@ERAS
async def test_a_script_joins_the_answers_of_both_and_a_person_is_asked_before_a_change(
    sidecar: tuple[str, str], repository: Path, mode: str
) -> None:
    servers = {
        "time": module("mcp_server_time", "--local-timezone", "UTC"),
        "git": module("mcp_server_git", "--repository", str(repository), firstClass=True),
    }
    script = f"""
    const at = {json.dumps(str(repository))};
    const [now, log] = await Promise.all([
      tools.time__convert_time({{ source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" }}),
      tools.git_log({{ repo_path: at }}),
    ]);
    const made = await tools.git_create_branch({{ repo_path: at, branch_name: "later" }});
    return [now.time_difference, log.includes("first commit"), made.includes("later")];
    """
    person = Person.who("accept")
    async with over_stdio(servers, *sidecar, mode=mode, person=person) as front:
        assert text_of(await front.run("run_script", script)) == '["+9.0h",true,true]'
        assert [question.splitlines()[0] for question in person.questions] == [
            "A script wants to call git_create_branch (line 7):"
        ]
        refused = await front.text("return await tools.time__get_current_time({ timezone: 'Mars/Olympus' })")
        assert "Mars/Olympus" in refused


async def test_goose_calls_them_by_their_listed_names(sidecar: tuple[str, str], repository: Path) -> None:
    servers = {"git": module("mcp_server_git", "--repository", str(repository))}
    script = f"""
    async function run() {{
      const status = await tools.call("git__git_status", {{ repo_path: {json.dumps(str(repository))} }});
      return status.includes("working tree clean");
    }}
    """
    async with over_stdio(servers, *sidecar, "--dialect", "goose") as front:
        details = await front.client.call_tool("get_function_details", {"functions": ["git__git_status"]})
        assert json.loads(text_of(details))["functions"][0]["name"] == "git__git_status"
        assert await front.text(script, "execute_javascript") == "true"

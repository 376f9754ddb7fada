"""Rules, and the questions to a person that they lead to, in both eras of the protocol."""

from __future__ import annotations

from typing import Any

import pytest
from mcp import MCPError
from mcp.types import ElicitRequest, InputRequiredResult
from tests.mcp.front import Front, Person, over_stdio, text_of, wicked
from tests.support.service import ServiceProcess

ERAS = pytest.mark.parametrize("mode", ["legacy", "auto"])
CHANGE = "const made = await tools.w__change({ word: 'it' }); return made.changed;"
CAUGHT = "return await tools.w__change({ word: 'it' }).catch((error) => [error.code, error.message]);"


pytestmark = pytest.mark.timeout(200)  # two processes a test, and as many servers behind them


@pytest.fixture
def sidecar(shared_service: ServiceProcess) -> tuple[str, str]:
    return "--server", shared_service.address


def approval_time(result: Any) -> float:
    return float((result.meta or {})["codecage/run"]["approval_time"])


@ERAS
async def test_a_person_is_asked_with_tool_and_arguments_and_the_clocks_stand(
    sidecar: tuple[str, str], mode: str
) -> None:
    person = Person.who("accept")
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode, person=person) as front:
        result = await front.run("run_script", CHANGE)
        assert text_of(result) == "it"
        assert person.questions == ['A script wants to call w__change (line 1):\n{\n  "word": "it"\n}']
        assert approval_time(result) > 0


async def test_no_argument_hides_behind_a_long_one(sidecar: tuple[str, str]) -> None:
    person = Person.who("decline")
    rules = [{"action": "ask"}]
    async with over_stdio({"w": wicked(rules=rules)}, *sidecar, person=person) as front:
        lines = "[...Array(300).fill('x'.repeat(3000)), 'last']"
        await front.text(f"return await tools.w__command({{ command: {lines}, end: 'rm -rf /' }}).catch(String)")
        (question,) = person.questions
        assert len(question) < 2_200
        assert "characters more)" in question
        assert "items more)" in question
        assert '"end": "rm -rf /"' in question


@ERAS
@pytest.mark.parametrize("answer", ["decline", "cancel"])
async def test_a_refusal_is_an_error_that_the_script_can_catch(
    sidecar: tuple[str, str], mode: str, answer: str
) -> None:
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode, person=Person.who(answer)) as front:
        assert await front.text(CAUGHT) == '["denied","the person did not allow the call"]'


@ERAS
async def test_calls_of_one_turn_are_asked_about_together_and_an_answer_can_hold_for_the_rest(
    sidecar: tuple[str, str], mode: str
) -> None:
    script = """
    const words = ["a", "b"];
    const first = await Promise.all(words.map((word) => tools.w__change({ word })));
    const then = [];
    for (const word of ["c", "d", "e"]) then.push(await tools.w__change({ word }));
    return [...first, ...then].map((made) => made.changed).join("");
    """
    person = Person.who("accept", "remember")
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode, person=person) as front:
        assert await front.text(script) == "abcde"
        assert len(person.questions) == 2


@ERAS
async def test_read_only_tools_are_allowed_by_themselves_unless_that_is_switched_off(
    sidecar: tuple[str, str], mode: str
) -> None:
    servers = {"w": wicked(), "strict": wicked(approveReadOnly=False)}
    script = "return [await tools.w__look({ word: 'x' }), await tools.strict__look({ word: 'y' })].join('')"
    person = Person.who("accept")
    async with over_stdio(servers, *sidecar, mode=mode, person=person) as front:
        assert await front.text(script) == "xy"
        assert [question.split("(")[0].strip() for question in person.questions] == [
            "A script wants to call strict__look"
        ]


async def test_rules_of_the_file_and_of_a_server_match_arguments(sidecar: tuple[str, str]) -> None:
    rules = [{"action": "deny", "tool": "command", "arguments": {"command": {"regex": r"\b(rm|sudo)\b"}}}]
    everywhere = [{"action": "deny", "arguments": {"*": {"regex": "secret"}}, "reason": "no secrets"}]
    script = """
    const results = [];
    for (const command of ["ls", "sudo ls", ["rm", "-rf", "/"], "cat secret"]) {
      results.push(await tools.w__command({ command }).catch((error) => `${error.code}: ${error.message}`));
    }
    return results;
    """
    servers = {"w": wicked(default="allow", rules=rules)}
    async with over_stdio(servers, *sidecar, rules=everywhere) as front:
        refused = "denied_by_rule: a rule does not allow the call"
        result = await front.run("run_script", script)
        assert result.structured_content == {"value": ["ran ls", refused, refused, f"{refused}: no secrets"]}


async def test_a_client_that_cannot_ask_is_told_so_and_no_call_is_made(sidecar: tuple[str, str]) -> None:
    async with over_stdio({"w": wicked()}, *sidecar) as front:
        assert "this client cannot ask for it (no elicitation)" in await front.text(CAUGHT)


@ERAS
async def test_nobody_who_answers_in_time_is_a_refusal(sidecar: tuple[str, str], mode: str) -> None:
    async with over_stdio({"w": wicked()}, *sidecar, mode=mode, person=Person(), approvalTimeout=0.5) as front:
        if mode == "legacy":
            assert "nobody answered in time" in await front.text(CAUGHT)
            return
        asked = await ask_by_hand(front, CAUGHT)
        await front.logged("nobody came back")
        with pytest.raises(MCPError, match="no such run waits"):
            await come_back(front, CAUGHT, asked)
        assert await front.text("return 1") == "1"


async def ask_by_hand(front: Front, code: str) -> InputRequiredResult:
    """The first round of a call whose rounds the test makes itself."""
    result = await front.client.session.call_tool("run_script", {"code": code}, allow_input_required=True)
    assert isinstance(result, InputRequiredResult)
    return result


async def come_back(front: Front, code: str, asked: InputRequiredResult, **answers: Any) -> Any:
    """A later round."""
    return await front.client.session.call_tool(
        "run_script",
        {"code": code},
        input_responses=answers,
        request_state=asked.request_state,
        allow_input_required=True,
    )


async def test_a_run_is_one_call_however_often_its_client_comes_back(sidecar: tuple[str, str]) -> None:
    person = Person.who("accept", "accept")
    script = """
    const first = await tools.w__change({ word: "a" });
    const second = await tools.w__change({ word: "b" });
    return first.changed + second.changed;
    """
    async with over_stdio({"w": wicked()}, *sidecar, person=person) as front:
        first = await ask_by_hand(front, script)
        (key,) = first.input_requests or {}
        assert isinstance((first.input_requests or {})[key], ElicitRequest)
        with pytest.raises(MCPError, match="no such run waits"):
            await come_back(front, "return 'another script'", first)
        second = await come_back(front, script, first, **{key: Person.who("accept").answers[0]})
        assert isinstance(second, InputRequiredResult)
        with pytest.raises(MCPError, match="it is not run again"):
            await come_back(front, script, first, **{key: Person.who("accept").answers[0]})
        (key,) = second.input_requests or {}
        done = await come_back(front, script, second, **{key: Person.who("accept").answers[0]})
        assert text_of(done) == "ab"
        assert (done.meta or {})["codecage/run"]["calls"] == 2


async def test_a_round_without_an_answer_is_a_refusal(sidecar: tuple[str, str]) -> None:
    async with over_stdio({"w": wicked()}, *sidecar, person=Person()) as front:
        asked = await ask_by_hand(front, CAUGHT)
        done = await come_back(front, CAUGHT, asked)
        assert text_of(done) == '["denied","the person did not allow the call"]'

"""The fake service holds the test to what it expects."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from codecage.client import UNDEFINED, Client, FateUnknown, Tool
from codecage.client.testing import FakeRun, FakeService, FakeTools

Test = Callable[[FakeService, Client], Awaitable[None]]


async def verdict(test: Test) -> str:
    """What the fake service says at the end of a test; empty if it has no complaint."""
    try:
        async with FakeService() as service, Client.connect(service.address) as client:
            await test(service, client)
    except AssertionError as error:
        return str(error)
    return ""


async def test_a_test_that_goes_as_expected_has_no_complaint() -> None:
    async def test(service: FakeService, client: Client) -> None:
        service.expect_value(1, source="1")
        assert (await client.run("1")).value == 1

    assert await verdict(test) == ""


async def test_an_expected_run_that_was_not_made_fails_the_test() -> None:
    async def test(service: FakeService, client: Client) -> None:
        service.expect_value(1, source="1")
        service.expect_value(2)

    assert await verdict(test) == "expected, but not made: a run of '1'; expected, but not made: a run"


async def test_one_more_run_fails_the_test() -> None:
    async def test(service: FakeService, client: Client) -> None:
        with pytest.raises(FateUnknown, match="one more run was made"):
            await client.run("return 1")

    assert await verdict(test) == "one more run was made, of 'return 1'"


async def test_a_run_of_another_source_fails_the_test() -> None:
    async def test(service: FakeService, client: Client) -> None:
        service.expect_value(1, source="1")
        with pytest.raises(FateUnknown):
            await client.run("2")

    assert await verdict(test) == "expected a run of '1', not of '2'"


async def test_a_script_that_raises_fails_the_test() -> None:
    async def test(service: FakeService, client: Client) -> None:
        @service.expect_run
        async def script(run: FakeRun) -> None:
            raise ZeroDivisionError("oh")

        with pytest.raises(FateUnknown):
            await client.run("")

    assert await verdict(test) == "the script raised ZeroDivisionError('oh')"


async def test_the_error_of_the_test_itself_is_not_hidden() -> None:
    async def test(service: FakeService, client: Client) -> None:
        service.expect_value(1)
        raise KeyError

    with pytest.raises(KeyError):
        await verdict(test)


async def test_its_socket_is_gone_afterwards() -> None:
    async with FakeService() as service:
        directory = Path(service.address.removeprefix("unix:")).parent
        assert mode_of(directory) == 0o700
    assert mode_of(directory) is None


def mode_of(directory: Path) -> int | None:
    return directory.stat().st_mode & 0o777 if directory.exists() else None


async def test_fake_tools_answer_and_remember(service: FakeService, client: Client) -> None:
    tools = FakeTools({"find": ["a"], "fail": ValueError("no"), "none": UNDEFINED})

    @service.expect_run
    async def script(run: FakeRun) -> Any:
        value = await run.call("find", {"text": "x"})
        await run.begin(("none", {}))
        await run.call("fail")
        return value

    result = await client.run("", tools=tools.as_list())
    assert [type(tool) for tool in tools] == [Tool] * 3
    assert result.error is not None
    assert (result.error.message, sorted(tools.calls)) == ("no", [("fail", {}), ("find", {"text": "x"}), ("none", {})])

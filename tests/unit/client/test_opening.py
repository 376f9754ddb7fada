"""Opening a run: what a server may refuse, what is tried again, and who is there at all."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from codecage.client import (
    Client,
    FateUnknown,
    FieldViolation,
    InvalidRequest,
    NotRun,
    Overloaded,
    PreconditionFailed,
    Refusal,
    Retry,
    Unauthenticated,
    Unavailable,
    Unimplemented,
)
from codecage.client.testing import Breaks, FakeRun, FakeService

REFUSALS = [
    InvalidRequest(
        Refusal(
            "the request is malformed",
            reason="INVALID_REQUEST",
            violations=(
                FieldViolation("start.limits.calls", "above the ceiling"),
                FieldViolation("start.source", "empty"),
            ),
        )
    ),
    PreconditionFailed(Refusal("no such feature", reason="FEATURE_MISSING", metadata={"feature": "dry_run"})),
    Unauthenticated(Refusal("who are you", reason="NO_IDENTITY")),
    Overloaded(Refusal("the queue is full", reason="BUSY", retry_after=1.5)),
    Unavailable(Refusal("draining", reason="DRAINING", retry_after=0.25)),
    Unimplemented(Refusal("not served", reason="NOT_SERVED")),
]


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The times that are waited between attempts; none of them passes."""
    seen: list[float] = []

    async def sleep(seconds: float) -> None:
        seen.append(seconds)

    monkeypatch.setattr("codecage.client._client.asyncio.sleep", sleep)
    return seen


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda error: type(error).__name__)
async def test_each_refusal_is_its_own_exception_with_all_that_the_server_said(
    service: FakeService, client: Client, refusal: NotRun
) -> None:
    service.expect_refusal(refusal)
    with pytest.raises(NotRun) as told:
        await client.run("", run_id="mine")
    assert type(told.value) is type(refusal)
    assert (told.value.run_id, told.value.reason) == ("mine", refusal.reason)
    expected = refusal.refusal
    assert told.value.refusal == Refusal(
        expected.message,
        reason=expected.reason,
        metadata=expected.metadata or {},
        retry_after=expected.retry_after,
        violations=expected.violations,
    )


def test_a_violation_that_the_server_tells_in_its_message_is_not_told_twice() -> None:
    violation = FieldViolation("start.dialect", "there is no dialect 'x'")
    refusal = Refusal("start.dialect: there is no dialect 'x'", violations=(violation,))
    assert str(InvalidRequest(refusal)) == "start.dialect: there is no dialect 'x'"


async def test_the_violations_are_part_of_the_message(service: FakeService, client: Client) -> None:
    service.expect_refusal(REFUSALS[0])
    with pytest.raises(InvalidRequest) as told:
        await client.run("")
    assert str(told.value) == ("the request is malformed (start.limits.calls: above the ceiling; start.source: empty)")


@pytest.mark.parametrize(
    ("refusals", "retry", "waited", "runs"),
    [
        ([Overloaded(Refusal("full", retry_after=1.5))], Retry(attempts=3), [1.5], True),
        (
            [Overloaded(Refusal("full", retry_after=1.5)), Unavailable(Refusal("draining", retry_after=2.0))],
            Retry(attempts=3),
            [1.5, 2.0],
            True,
        ),
        ([Overloaded(Refusal("full", retry_after=1.0))] * 2, Retry(attempts=2), [1.0], False),
        ([Overloaded(Refusal("full", retry_after=1.0))], None, [], False),
        ([Overloaded(Refusal("full"))], Retry(attempts=3), [], False),
        ([Overloaded(Refusal("full", retry_after=31.0))], Retry(attempts=3), [], False),
        ([InvalidRequest(Refusal("malformed"))], Retry(attempts=3), [], False),
    ],
    ids=[
        "once",
        "twice",
        "too-often",
        "not-asked-for",
        "without-advice",
        "too-long-a-wait",
        "what-no-waiting-mends",
    ],
)
async def test_opening_is_tried_again_only_on_request_and_as_advised(
    service: FakeService,
    client: Client,
    waits: list[float],
    *,
    refusals: list[NotRun],
    retry: Retry | None,
    waited: list[float],
    runs: bool,
) -> None:
    for refusal in refusals:
        service.expect_refusal(refusal)
    if runs:
        service.expect_value("done")
        assert (await client.run("", retry=retry)).value == "done"
    else:
        with pytest.raises(type(refusals[-1])):
            await client.run("", retry=retry)
    assert waits == waited


async def test_a_started_run_is_never_opened_again(service: FakeService, client: Client, waits: list[float]) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        raise Breaks

    with pytest.raises(FateUnknown):
        await client.run("", retry=Retry(attempts=5))
    assert (len(service.runs), waits) == (1, [])


def test_a_retry_has_at_least_one_attempt() -> None:
    with pytest.raises(ValueError, match="attempts must be at least 1"):
        Retry(attempts=0)


async def test_nobody_at_the_address_is_not_run(tmp_path: Path) -> None:
    target = f"unix:{tmp_path}/nobody.sock"
    with pytest.raises(Unavailable) as told:
        async with Client.connect(target, connect_timeout=0.2):
            pass
    assert str(told.value) == f"no server answered at {target} within 0.2 s"
    assert (told.value.reason, told.value.retry_after) == ("UNREACHABLE", None)


async def test_a_server_that_has_gone_is_not_run(service: FakeService) -> None:
    async with Client.connect(service.address, connect_timeout=0.2) as client:
        service.expect_value(1)
        assert (await client.run("")).value == 1
        await service.stop()

        # The channel learns of it in its own time; until then a run fails in flight and its fate is unknown.
        async def run_until_it_is_noticed() -> None:
            while True:
                with suppress(FateUnknown):
                    await client.run("")

        with pytest.raises(Unavailable) as told:
            await run_until_it_is_noticed()
        assert told.value.reason == "UNREACHABLE"


async def test_a_client_may_be_there_before_its_server() -> None:
    late = FakeService()
    socket = Path()

    async def use() -> Any:
        async with Client.connect(f"unix:{socket}") as client:
            return await client.run("")

    async with late:
        socket = Path(late.address.removeprefix("unix:"))
        hidden = socket.with_name("hidden.sock")
        socket.rename(hidden)
        using = asyncio.create_task(use())
        await asyncio.sleep(0)
        late.expect_value("here")
        hidden.rename(socket)
        assert (await using).value == "here"


async def test_metadata_goes_with_every_call(service: FakeService) -> None:
    service.expect_value(1)
    async with Client.connect(service.address, metadata={"authorization": "Bearer tea"}) as client:
        await client.run("")
        await client.server_info()
    assert [each["authorization"] for each in service.metadata] == ["Bearer tea", "Bearer tea"]


async def test_leaving_the_client_kills_its_runs(service: FakeService) -> None:
    @service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    async with Client.connect(service.address) as client:
        run = await client.start("")
    await service.runs[0].closed.wait()
    with pytest.raises(FateUnknown):
        await run.result()
    await run.aclose()


async def test_no_descriptor_is_left_open_by_clients_and_runs(service: FakeService) -> None:
    async def use() -> None:
        service.expect_value(1)
        async with Client.connect(service.address) as client:
            await client.run("")

    await use()
    before = open_descriptors()
    for _ in range(5):
        await use()
    assert open_descriptors() <= before

"""SyncClient: the same without an event loop."""

import asyncio
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from codecage.client import (
    Outcome,
    OutputText,
    RunFinished,
    Started,
    SyncClient,
    ToolCallsRequested,
    Unavailable,
    Unimplemented,
)
from codecage.client.testing import FakeRun, FakeService


class ServiceThread:
    """A fake service in a thread of its own, since the test's thread waits in the client."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.service: FakeService

    def call(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(10)

    async def make(self) -> FakeService:
        return await FakeService().__aenter__()


@pytest.fixture
def thread() -> Iterator[ServiceThread]:
    thread = ServiceThread()
    thread.thread.start()
    thread.service = thread.call(thread.make())
    try:
        yield thread
        thread.call(thread.service.__aexit__(None, None, None))
    finally:
        thread.loop.call_soon_threadsafe(thread.loop.stop)
        thread.thread.join()
        thread.loop.close()


def test_a_script_runs_with_functions_of_both_kinds(thread: ServiceThread) -> None:
    @thread.service.expect_run
    async def script(run: FakeRun) -> Any:
        return [await run.call("add", {"a": 1}), await run.call("later", {"a": 2})]

    def add(a: int) -> int:
        return a + 1

    async def later(a: int) -> int:
        await asyncio.sleep(0)
        return a + 1

    with SyncClient.connect(thread.service.address) as client:
        assert client.run("", tools=[add, later]).value == [2, 3]


def test_a_run_is_answered_by_hand(thread: ServiceThread) -> None:
    @thread.service.expect_run
    async def script(run: FakeRun) -> Any:
        await run.text("hi")
        return await run.call("t")

    with SyncClient.connect(thread.service.address) as client, client.start("", run_id="mine") as run:
        kinds: list[type] = []
        for event in run:
            kinds.append(type(event))
            if isinstance(event, ToolCallsRequested):
                run.answer(event.calls[0].call_id, "yes")
        assert kinds == [Started, OutputText, ToolCallsRequested, RunFinished]
        assert (run.run_id, run.result().value, run.started.dialect) == ("mine", "yes", "standard")


def test_a_run_is_cancelled_by_hand(thread: ServiceThread) -> None:
    @thread.service.expect_run
    async def script(run: FakeRun) -> None:
        await run.closed.wait()

    with SyncClient.connect(thread.service.address) as client, client.start("") as run:
        run.cancel("enough")
        assert run.result().outcome is Outcome.CANCELLED


def test_ctrl_c_kills_the_run_and_the_client_still_works(thread: ServiceThread) -> None:
    @thread.service.expect_run
    async def script(run: FakeRun) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        await run.closed.wait()

    with SyncClient.connect(thread.service.address) as client:
        with pytest.raises(KeyboardInterrupt):
            client.run("for (;;);")
        thread.call(thread.service.runs[0].closed.wait())
        thread.service.expect_value("still served")
        assert client.run("").value == "still served"


def test_several_threads_may_use_one_client(thread: ServiceThread) -> None:
    meeting = asyncio.Barrier(4)

    async def script(run: FakeRun) -> Any:
        await meeting.wait()
        return run.start.input

    for _ in range(4):
        thread.service.expect_run(script)
    values: list[Any] = []
    with SyncClient.connect(thread.service.address) as client:

        def use(number: int) -> None:
            values.append(client.run("", input=number).value)

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert sorted(values) == [0, 1, 2, 3]


def test_what_a_server_says_and_does_not_serve_arrives_here_too(thread: ServiceThread) -> None:
    with SyncClient.connect(thread.service.address) as client:
        assert client.server_info() == thread.service.server_info
        for ask in (lambda: client.check(""), client.describe, lambda: client.register_catalog([])):
            with pytest.raises(Unimplemented):
                ask()


def test_a_client_that_cannot_connect_leaves_no_thread(thread: ServiceThread) -> None:
    before = threading.active_count()
    with (
        pytest.raises(Unavailable),
        SyncClient.connect("unix:nobody-is-here.sock", connect_timeout=0.1),
    ):
        pass
    assert threading.active_count() == before


def test_a_client_that_was_not_entered_says_so() -> None:
    with pytest.raises(RuntimeError, match="use it as `with SyncClient"):
        SyncClient.connect("unix:nowhere").run("")

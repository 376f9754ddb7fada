"""The clients of client/examples, built from the contract alone and run against a service."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.languages.toolchain import LANGUAGES, Language, build
from tests.support.caller import RunStream, connect, success, tool
from tests.support.host import assert_serves
from tests.support.service import ServiceProcess

from codecage.client.testing import Breaks, FakeRun, FakeService
from codecage.v1 import codecage_pb2_grpc as rpc

pytestmark = [pytest.mark.languages, pytest.mark.timeout(900)]  # the first test of a language waits for its compiler

RUN_SECONDS = 90.0  # each run of a client ends within its own deadline of a minute
EXPECTED = """\
completed {"total":6.5,"paid":false,"because":"the customer said no"}
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_DENIED
cancelled the customer left
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_CANCELLED
"""


class Client:
    """A built client."""

    def __init__(self, language: Language, folder: Path) -> None:
        self._language = language
        self._folder = folder

    def addresses(self, service: ServiceProcess) -> list[str]:
        """Those of a service that it can reach."""
        tcp = service.more_addresses
        return [service.address, *tcp] if self._language.takes_unix_sockets else tcp

    async def run(self, address: str) -> tuple[int | None, str, str]:
        """Run it to its end: exit code, standard output, standard error."""
        process = await asyncio.create_subprocess_exec(
            *self._language.command,
            address,
            cwd=self._folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            async with asyncio.timeout(RUN_SECONDS):
                output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        return process.returncode, output.decode(), errors.decode()


@pytest.fixture(scope="session", params=LANGUAGES)
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """The client in one language."""
    name: str = request.param
    return Client(LANGUAGES[name], build(name, tmp_path_factory.mktemp(name)))


@pytest.fixture
def service_arguments() -> list[str]:
    return ["--listen", "127.0.0.1:0"]


@pytest.fixture
async def stub(service: ServiceProcess) -> AsyncIterator[rpc.CodeModeServiceAsyncStub]:
    async with connect(service.address) as stub:
        yield stub


@pytest.fixture
def free_address() -> Iterator[str]:
    """An address that nobody listens on but who asks for it by name: the port is held, and gRPC shares ports."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{holder.getsockname()[1]}"


async def test_a_script_gets_its_answers_and_a_refusal_and_is_cancelled_in_its_middle(
    client: Client, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    for address in client.addresses(service):
        assert await client.run(address) == (0, EXPECTED, "")
        await assert_serves(stub)


# Not --queue 0: a place is free again a moment after the end of its run is told, and a client runs twice in a row.
@pytest.mark.parametrize(
    "service_arguments", [["--listen", "127.0.0.1:0", "--capacity", "1", "--queue-wait", "5"]], ids=["one place"]
)
async def test_a_run_that_is_refused_is_told_as_not_run_and_a_later_one_is_served(
    client: Client, service: ServiceProcess, stub: rpc.CodeModeServiceAsyncStub
) -> None:
    holder = RunStream(stub)  # takes the only place
    await holder.start("return await tools.ask({})", [tool("ask")])
    call = await holder.call()
    address = client.addresses(service)[-1]
    code, output, errors = await client.run(address)
    assert (code, output, errors.partition(":")[0]) == (1, "", "not run"), errors
    await holder.answer(success(call, 1))
    assert (await holder.finished()).value_json == "1"
    assert await client.run(address) == (0, EXPECTED, "")


async def test_a_stream_that_breaks_is_told_as_of_unknown_fate(client: Client, free_address: str) -> None:
    async with FakeService(address=free_address) as service:

        @service.expect_run
        async def script(run: FakeRun) -> None:
            assert await run.call("price", {"fruit": "pear"}) == 2.5
            raise Breaks

        code, output, errors = await client.run(free_address)
    assert (code, output, errors.partition(":")[0]) == (1, "", "fate unknown"), errors


async def test_an_ending_that_was_not_expected_is_told_and_is_no_success(client: Client, free_address: str) -> None:
    async with FakeService(address=free_address) as service:

        @service.expect_run
        async def script(run: FakeRun) -> float:
            price: float = await run.call("price", {"fruit": "fig"})
            return price

        code, output, errors = await client.run(free_address)
    told = "completed 4\n  1 price CALL_STATUS_COMPLETED\n"
    assert (code, output.replace("4.0", "4"), errors.partition("\n")[0]) == (1, told, "expected:"), errors

"""Every attack of the catalogue against the real service: it ends as the table says, and the next run is served."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration
from tests.security.expectations import EXPECTED, Covered, Native, Script
from tests.security.hostile import still_serves
from tests.support.caller import RunStream, connect, success, tool
from tests.support.service import ServiceProcess

from codecage.server.canary import run_probe
from codecage.server.pool import Pool
from codecage.server.probes import Probe
from codecage.v1 import codecage_pb2 as pb
from codecage.v1 import codecage_pb2_grpc as rpc

pytestmark = pytest.mark.asyncio(loop_scope="module")
ATTACKS: dict[str, dict[str, Any]] = {
    attack["id"]: attack for attack in json.loads((Path(__file__).parent / "data" / "attacks.json").read_text())
}
SCRIPTS = [name for name, attack in EXPECTED.items() if isinstance(attack, Script)]
NATIVES = [name for name, attack in EXPECTED.items() if isinstance(attack, Native)]
COVERED = [name for name, attack in EXPECTED.items() if isinstance(attack, Covered)]
# The catalogue calls a tool with any value, and its first trials took the value of the last expression.
CALL_TOOL = "const callTool = (name, value) => tools.call(name, { value }).then((answer) => answer.value); "
EXPRESSIONS = ("memtab-", "br-exc-path", "br-pyobj-", "br-full-", "mem-rope-raw")
FIT_MIB = "55"
"""What the catalogue leaves open: 0.86 of the memory of a script."""
SECONDS = 2
PATIENCE = 20
"""Seconds for a script that is to end otherwise than by its time, however busy the machine is."""


@pytest.fixture(scope="module")
def attacked() -> Iterator[ServiceProcess]:
    """One server for all attacks: each must find it as the first did."""
    service = ServiceProcess()
    try:
        yield service
    finally:
        service.stop()


def source_of(name: str) -> str:
    """The script as the service is to run it."""
    expected = EXPECTED[name]
    assert isinstance(expected, Script)
    if expected.source:
        return expected.source
    text = str(ATTACKS[name]["script"]).replace("<0.86*budget MiB>", FIT_MIB)
    return f"return eval({json.dumps(text)})" if name.startswith(EXPRESSIONS) else CALL_TOOL + text


async def run(stub: rpc.CodeModeServiceAsyncStub, source: str, seconds: int = SECONDS) -> pb.Finished:
    """A run whose calls are answered with their own arguments."""
    stream = RunStream(stub)
    await stream.start(source, [tool(name) for name in "abetx"], pb.Limits(script_time=Duration(seconds=seconds)))
    while (response := await stream.read()) is not None:
        for call in response.tool_calls.calls:
            await stream.answer(success(call, json.loads(call.arguments_json)))
        if response.HasField("finished"):
            return response.finished
    raise AssertionError("the stream ended without its last message")


@pytest.mark.parametrize("name", SCRIPTS)
async def test_a_script_ends_as_the_table_says_and_the_next_one_is_served(attacked: ServiceProcess, name: str) -> None:
    expected = EXPECTED[name]
    assert isinstance(expected, Script)
    async with connect(attacked.address) as stub:
        finished = await run(stub, source_of(name), SECONDS if "script_time" in expected.outcomes else PATIENCE)
        assert finished.code in expected.outcomes, finished.error.message
        assert expected.message in finished.error.message
        if expected.value is not None:
            assert json.loads(finished.value_json) == json.loads(expected.value)
        following = await run(stub, "return 6 * 7")
    assert (following.code, following.value_json) == ("completed", "42")


@pytest.mark.parametrize("name", NATIVES)
async def test_native_code_is_stopped_as_the_table_says(pool: Pool, name: str) -> None:
    expected = EXPECTED[name]
    assert isinstance(expected, Native)
    assert await run_probe(pool, Probe(name, expected.code)) in expected.ways
    await still_serves(pool)


@pytest.mark.parametrize("name", COVERED)
async def test_another_test_does_it(name: str) -> None:
    expected = EXPECTED[name]
    assert isinstance(expected, Covered)
    module = importlib.import_module(
        f"tests.{'soak' if expected.module == 'test_overload' else 'security'}.{expected.module}"
    )
    assert callable(getattr(module, expected.test))
    assert not expected.case or expected.case in module.BREACHES


async def test_the_table_names_every_attack_and_no_other() -> None:
    assert set(EXPECTED) == set(ATTACKS)


async def test_no_attack_was_taken_for_a_worker_that_was_lost(attacked: ServiceProcess) -> None:
    lost = [event for event in attacked.log() if event.get("outcome") == "worker_lost"]
    assert lost == []

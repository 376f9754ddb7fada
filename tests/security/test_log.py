"""The log tells what happened to a run, and nothing of what it was about."""

from __future__ import annotations

from tests.support.caller import RunStream, connect, failure, success, tool
from tests.support.service import ServiceProcess

SECRET = "marmalade-4711"


async def test_no_line_holds_a_source_an_argument_an_answer_a_value_or_output(service: ServiceProcess) -> None:
    async with connect(service.address) as stub:
        for ending in (f"return '{SECRET}'", f"throw new Error('{SECRET}')", f"await tools.t({{}}) // {SECRET}"):
            stream = RunStream(stub)
            source = f"console.log('{SECRET}'); text('{SECRET}'); await tools.t({{ a: '{SECRET}' }}); {ending}"
            await stream.start(source, [tool("t", description=SECRET)])
            await stream.answer(success(await stream.call(), SECRET))
            if "await tools.t({})" in ending:
                await stream.answer(failure(await stream.call(), SECRET))
            await stream.finished()
    text = service.log_text()
    assert "run ended" in text
    assert SECRET not in text

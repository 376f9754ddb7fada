"""For tests of programs that run scripts: a server without sandbox or engine, and tools that remember.

async with FakeService() as service:
    @service.expect_run
    async def script(run: FakeRun) -> int:
        return await run.call("add", {"a": 1, "b": 2})

    async with Client.connect(service.address) as client:
        result = await client.run("anything", tools=[add])
"""

from codecage.client.testing._messages import (
    AdjustSeen,
    AnswerSeen,
    CancelSeen,
    Message,
    PendingSeen,
    StartSeen,
    SuspendSeen,
)
from codecage.client.testing._run import Ends, FakeRun
from codecage.client.testing._service import Breaks, FakeService, Script
from codecage.client.testing._tools import FakeTools

__all__ = [
    "AdjustSeen",
    "AnswerSeen",
    "Breaks",
    "CancelSeen",
    "Ends",
    "FakeRun",
    "FakeService",
    "FakeTools",
    "Message",
    "PendingSeen",
    "Script",
    "StartSeen",
    "SuspendSeen",
]

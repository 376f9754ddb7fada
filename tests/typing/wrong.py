"""Uses of the client that must not type-check: each marked line is refused with the named code, and no other line."""

from codecage.client import Client, Limits, Outcome, Policy, RunResult, SyncClient, Tool, ToolCall


def answers_text(call: ToolCall) -> str:
    return call.tool_name


async def run(client: Client, sync: SyncClient, result: RunResult) -> None:
    await client.run("1", limit=Limits())  # wrong: call-arg
    await client.run("1", limits={"calls": 1})  # wrong: arg-type
    await client.run("1", language="python")  # wrong: arg-type
    await client.run("1", tools=add)  # wrong: arg-type
    await client.run("1", authorize=answers_text)  # wrong: arg-type
    await client.run("1", deadline="10 s")  # wrong: arg-type
    await client.start("1", authorize=None)  # wrong: call-arg
    await client.run()  # wrong: call-arg
    sync.run("1", labels={"a": 1})  # wrong: dict-item
    async with client.start("1") as started:  # wrong: attr-defined
        print(started)
    result.outcome = Outcome.COMPLETED  # wrong: misc


def add(a: int) -> int:
    return a


Limits(calls="10")  # wrong: arg-type
Limits(1.5)  # wrong: call-arg
Limits(memory=1)  # wrong: call-arg
Policy(unawaited_action="ignore")  # wrong: arg-type
Tool("t", input_schema="{}")  # wrong: arg-type
Client.connect("unix:a", tls=True)  # wrong: arg-type

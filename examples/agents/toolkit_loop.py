"""An agent loop that has gained code mode: its functions are called by scripts, not one by one.

    python examples/agents/toolkit_loop.py

The lines that code mode adds are marked.
"""

import asyncio

from scripted_model import ScriptedModel, ToolUse

from codecage.client import Client

ORDERS = [{"id": n, "customer": n % 3, "amount": 10 * n} for n in range(1, 41)]


def list_orders(customer: int) -> list[dict[str, int]]:
    """All orders of one customer."""
    return [order for order in ORDERS if order["customer"] == customer]


def list_customers() -> list[int]:
    """The numbers of all customers."""
    return sorted({order["customer"] for order in ORDERS})


SCRIPT = """
const totals = {};
for (const customer of await tools.list_customers()) {
  const orders = await tools.list_orders({ customer });
  totals[customer] = orders.reduce((sum, order) => sum + order.amount, 0);
}
return totals;
"""
MODEL = ScriptedModel([ToolUse("run_script", {"code": SCRIPT}), "Customer 1 has spent the most."])


async def main() -> None:
    """Ask the model, do what it wants, until it answers in words."""
    async with Client.local() as client:  # code mode
        toolkit = await client.toolkit([list_customers, list_orders])  # code mode
        messages = ["Which customer has spent the most?"]
        while True:
            reply = MODEL.reply(messages, tools=toolkit.definitions("anthropic"))  # code mode
            if isinstance(reply, str):
                break
            answer = await toolkit.handle(reply.name, reply.arguments)  # code mode
            messages.append(answer.text)  # code mode
        print("\n".join([*messages, reply]))


if __name__ == "__main__":
    asyncio.run(main())

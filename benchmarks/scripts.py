"""The programs that the workloads run, and what they are given."""

import json

from codecage.v1 import codecage_pb2 as pb

MIB = 1 << 20
CALLS = 1000
BURST = 256

NOOP = pb.Tool(name="noop", description="Does nothing.", input_schema_json='{"type":"object"}')

ADDITION = pb.Start(source="return 1+1", language=pb.LANGUAGE_JAVASCRIPT)

SEQUENTIAL_CALLS = pb.Start(
    source=f"for (let i = 0; i < {CALLS}; i++) await tools.noop({{}}); return {CALLS}",
    language=pb.LANGUAGE_JAVASCRIPT,
    tools=pb.ToolList(tools=[NOOP]),
    limits=pb.Limits(calls=CALLS),
)

PARALLEL_CALLS = pb.Start(
    source=f"return (await Promise.all(Array.from({{length: {BURST}}}, () => tools.noop({{}})))).length",
    language=pb.LANGUAGE_JAVASCRIPT,
    tools=pb.ToolList(tools=[NOOP]),
    limits=pb.Limits(calls=BURST, calls_in_flight=BURST),
)

LOOP_SOURCE = "let sum = 0; for (let i = 0; i < 5_000_000; i++) sum += i; return sum"

ROWS_SOURCE = """
const rows = [];
for (let i = 0; i < 42_000; i++) {
  rows.push({id: i, customer: `customer ${i % 977}`, group: `group ${i % 13}`, amount: (i * 7919) % 10_007,
             note: 'what a row of an order says of itself'});
}
const text = JSON.stringify(rows);
const parsed = JSON.parse(text);
parsed.sort((a, b) => b.amount - a.amount || a.id - b.id);
const sums = {};
for (const row of parsed) sums[row.group] = (sums[row.group] ?? 0) + row.amount;
return Object.keys(sums).length + text.length
"""

SUM_ROWS = "let sum = 0; for (const row of rows) sum += row.amount; return rows.length"
ANSWER_ROWS_SOURCE = f"const rows = await tools.noop({{}}); {SUM_ROWS}"
PARSED_ROWS_SOURCE = f"const rows = JSON.parse(text); {SUM_ROWS}"

ANSWER_STRING = pb.Start(
    source="return (await tools.noop({})).length",
    language=pb.LANGUAGE_JAVASCRIPT,
    tools=pb.ToolList(tools=[NOOP]),
)
ANSWER_ROWS = pb.Start(source=ANSWER_ROWS_SOURCE, language=pb.LANGUAGE_JAVASCRIPT, tools=pb.ToolList(tools=[NOOP]))


def computing(source: str) -> pb.Start:
    """A script that only computes, with memory enough."""
    limits = pb.Limits(memory_bytes=256 * MIB)
    return pb.Start(source=source, language=pb.LANGUAGE_JAVASCRIPT, limits=limits)


def rows_of(size: int) -> tuple[str, int]:
    """So many bytes of JSON, or hardly less, and the number of rows in it."""
    row = {
        "id": 100_000,
        "customer": "customer 100",
        "group": "group 1",
        "amount": 7919,
        "note": "as ordered",
    }
    count = size // (len(json.dumps(row)) + 2)
    rows = [row | {"id": 100_000 + number, "amount": number * 7919 % 10_007} for number in range(count)]
    return json.dumps(rows), count

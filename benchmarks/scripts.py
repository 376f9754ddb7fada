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


_JAVASCRIPT_STEP = """
async function stepNUMBER(rows, limit = 10) {
  // What a model writes: filter, group, sort, tell.
  const open = rows.filter((row) => row.status === "open" && row.total >= limit);
  const groups = new Map();
  for (const { owner, total } of open) groups.set(owner, (groups.get(owner) ?? 0) + total);
  const sorted = [...groups].sort((a, b) => b[1] - a[1]).map(([owner, total]) => ({ owner, total }));
  console.log(`step NUMBER: ${sorted.length} of ${rows.length}`, sorted[0]?.owner);
  return { sorted, mean: open.length ? open.reduce((sum, row) => sum + row.total, 0) / open.length : 0 };
}
"""
_TYPESCRIPT_STEP = """
interface RowNUMBER { readonly owner: string; status?: "open" | "paid"; total: number }
type SumsNUMBER = Record<string, Pick<RowNUMBER, "owner" | "total">[]>;

async function stepNUMBER(rows: RowNUMBER[], limit: number = 10): Promise<{ sorted: SumsNUMBER; mean: number }> {
  // What a model writes: filter, group, sort, tell.
  const open = rows.filter((row): row is RowNUMBER => row.status === "open" && row.total >= limit);
  const sorted: SumsNUMBER = {};
  for (const { owner, total } of open as RowNUMBER[]) (sorted[owner] ??= []).push({ owner, total });
  console.log(`step NUMBER: ${Object.keys(sorted).length} of ${rows!.length}`);
  return { sorted, mean: open.length ? open.reduce<number>((sum, row) => sum + row.total, 0) / open.length : 0 };
}
"""


def fast_javascript(size: int) -> str:
    """So many bytes that need no parser, or hardly less: the last statement returns."""
    return _steps(_JAVASCRIPT_STEP, "return 1;", size)


def parsed_javascript(size: int) -> str:
    """The same that ends in an expression, which only the parser finds."""
    return _steps(_JAVASCRIPT_STEP, "[1, 2];", size)


def typescript(size: int) -> str:
    """So many bytes with types to take out, or hardly less."""
    return _steps(_TYPESCRIPT_STEP, "const last: number = 1;\nreturn last;", size)


def _steps(step: str, end: str, size: int) -> str:
    """At least one step; the rest is filled with a comment, so that sizes can be compared."""
    text, number = "", 0
    while len(text) + len(step) + len(end) + 10 < size or not text:
        number += 1
        text += step.replace("NUMBER", str(number))
    filling = "-" * (size - len(text) - len(end) - 4)
    return f"{text}// {filling}\n{end}"

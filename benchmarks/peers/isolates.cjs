// isolated-vm: a fresh isolate for each line {"id", "source"} on standard input. Nothing of it leaves this process.
const { createInterface } = require("node:readline");
const ivm = require("isolated-vm");

async function run(source) {
  const isolate = new ivm.Isolate({ memoryLimit: 64 });
  try {
    const context = await isolate.createContext();
    await context.global.set("noop", new ivm.Reference(async () => null));
    const tools = "const tools = { noop: () => noop.apply(undefined, [], { result: { promise: true } }) };";
    return await context.eval(`${tools} (async () => { ${source}\n })()`, { promise: true, timeout: 30_000 });
  } finally {
    isolate.dispose();
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, source } = JSON.parse(line);
  const value = await run(source);
  process.stdout.write(`${JSON.stringify({ id, value })}\n`);
});

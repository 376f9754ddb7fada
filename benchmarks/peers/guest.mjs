// One script in a process of its own, for node and deno: JSON lines in and out stand for the tools.
import process from "node:process";
import { createInterface } from "node:readline";

const waiting = new Map();
let made = 0;
const tools = {
  noop: () => new Promise((resolve) => {
    waiting.set(++made, resolve);
    process.stdout.write(`${JSON.stringify({ call: made })}\n`);
  }),
};

async function run(source) {
  const script = new Function("tools", `return (async () => { ${source}\n })()`);
  const value = await script(tools);
  process.stdout.write(`${JSON.stringify({ value })}\n`, () => process.exit(0));
}

let isStarted = false;
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (isStarted) return waiting.get(message.answer)?.(null);
  isStarted = true;
  run(message.source);
});

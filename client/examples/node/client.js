// Runs one script twice: once to its end with a payment refused, once cancelled when it wants to pay.
//   node client.js unix:/tmp/codecage.sock    or HOST:PORT
"use strict";

const path = require("node:path");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const SCRIPT = `
  const prices = await Promise.all(input.map((fruit) => tools.price({ fruit })));
  const total = prices.reduce((sum, price) => sum + price, 0);
  try {
    await tools.pay({ amount: total });
    return { total, paid: true };
  } catch (error) {
    return { total, paid: false, because: error.message };
  }
`;
const TOOLS = [
  {
    name: "price",
    description: "The price of one fruit.",
    inputSchemaJson: '{"type": "object", "properties": {"fruit": {"type": "string"}}, "required": ["fruit"]}',
  },
  { name: "pay", description: "Pays an amount. Asks the customer first." },
];
const PRICES = { pear: 2.5, fig: 4 };
const REFUSED = `completed {"total":6.5,"paid":false,"because":"the customer said no"}
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_DENIED`;
const CANCELLED = `cancelled the customer left
  1 price CALL_STATUS_COMPLETED
  2 price CALL_STATUS_COMPLETED
  3 pay CALL_STATUS_CANCELLED`;

function connect(address) {
  const options = { includeDirs: [path.join(__dirname, "../../../proto")], enums: String, arrays: true };
  const definition = loader.loadSync("codecage/v1/codecage.proto", options);
  const { CodeModeService } = grpc.loadPackageDefinition(definition).codecage.v1;
  const bytes = 16 * 1024 * 1024; // gRPC's default of 4 MiB is smaller than the largest answer
  return new CodeModeService(address, grpc.credentials.createInsecure(), {
    "grpc.max_send_message_length": bytes,
    "grpc.max_receive_message_length": bytes,
  });
}

/** One stream is one run: send `start`, reply to each message of calls, read until `finished`. */
async function run(service, customerLeaves) {
  const stream = service.Run({ deadline: Date.now() + 60_000 });
  stream.write({ start: { source: SCRIPT, tools: { tools: TOOLS }, inputJson: '["pear", "fig"]' } });
  let last;
  for await (const { toolCalls, finished } of stream) {
    if (toolCalls) stream.write(reply(toolCalls.calls, customerLeaves));
    if (finished) {
      last = finished;
      stream.end();
    }
  }
  if (!last) throw new Error("the stream ended without `finished`");
  return last;
}

function reply(calls, customerLeaves) {
  if (customerLeaves && calls.some((call) => call.toolName === "pay")) {
    return { cancel: { reason: "the customer left" } };
  }
  return { toolResults: { results: calls.map(answer) } };
}

/** Every call is answered: with a value, a failure or a refusal. */
function answer({ callId, toolName, argumentsJson }) {
  if (toolName === "pay") return { callId, failure: { denied: true, message: "the customer said no" } };
  const price = PRICES[JSON.parse(argumentsJson).fruit];
  if (price === undefined) return { callId, failure: { code: "not_found", message: "no such fruit" } };
  return { callId, success: { structuredJson: JSON.stringify(price) } };
}

/** How a run ended, then every call that it made. */
function report({ code, valueJson, error, ledger }) {
  const calls = ledger.map(({ sequence, toolName, status }) => `  ${sequence} ${toolName} ${status}`);
  return [`${code} ${valueJson ?? error?.message ?? ""}`, ...calls].join("\n");
}

/** Whether a bad status carries our ErrorInfo, packed into its details: then the script was not run. */
function isNotRun(error) {
  const details = error.metadata?.get("grpc-status-details-bin") ?? [];
  return details.some((bytes) => bytes.includes("codecage.v1"));
}

/** Whether a run came out as expected. */
async function check(service, customerLeaves, expected) {
  try {
    const reported = report(await run(service, customerLeaves));
    console.log(reported);
    if (reported !== expected) console.error(`expected:\n${expected}`);
    return reported === expected;
  } catch (error) {
    console.error(isNotRun(error) ? "not run:" : "fate unknown:", error.message);
    return false;
  }
}

async function main(address) {
  const service = connect(address);
  const isExpected = (await check(service, false, REFUSED)) && (await check(service, true, CANCELLED));
  service.close();
  process.exitCode = isExpected ? 0 : 1;
}

if (process.argv.length !== 3) {
  console.error("usage: node client.js unix:PATH|HOST:PORT");
  process.exit(2);
}
main(process.argv[2]);

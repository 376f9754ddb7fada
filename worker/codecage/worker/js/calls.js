// Tool calls: what the script passes, the promise that it gets, the answer that settles it.
(function (cage) {
  "use strict";
  const { list } = cage;
  const I = cage.intrinsics;
  const { exceedsBytes, wellFormedJson, brokenShape } = cage.text;
  const failures = new I.WeakMap(); // ToolError -> { sequence, tool }
  const records = new I.WeakMap(); // promise of a call, or one derived from it -> record
  const open = new I.Map(); // sequence -> record
  const waiting = list(); // records beyond the calls in flight, in order
  let waitingFrom = 0;
  let inFlight = 0;
  let made = 0;
  let racedUnknown = false; // a race was held over promises that cannot be traced to calls

  function define(object, key, value, enumerable) {
    I.defineProperty(object, key, { __proto__: null, value, writable: true, configurable: true, enumerable });
  }

  class ToolError extends I.Error {
    constructor(message, tool, fields) {
      super(message);
      define(this, "name", "ToolError", false);
      define(this, "tool", tool, true);
      const keys = I.ownKeys(fields);
      for (let i = 0; i < keys.length; i++) define(this, keys[i], fields[keys[i]], true);
    }
  }
  // Or a script could put a constructor of its own behind it, and have it run, or throw, where answers are taken in.
  I.freeze(ToolError);
  I.freeze(ToolError.prototype);

  function toolError(message, tool, fields, record) {
    const error = new ToolError(message, tool, fields);
    const frames = record === undefined ? cage.errors.ownFrames(I.stackOf(error)) : record.frames;
    I.defineProperty(error, "stack", { __proto__: null, value: frames, writable: true, configurable: true });
    I.weakSet(failures, error, { __proto__: null, sequence: record === undefined ? 0 : record.sequence, tool });
    return error;
  }

  const failureOf = (error) => (typeof error === "object" && error !== null ? I.weakGet(failures, error) : undefined);
  cage.isToolFailure = (error) => failureOf(error) !== undefined;
  cage.callOf = (error) => failureOf(error)?.sequence ?? 0;
  cage.toolOf = (error) => failureOf(error)?.tool ?? "";

  // The promise of a call and all that is derived from it. `await` goes through `then`, since its constructor is not
  // the built-in one; that is how a call nobody waits for is told from one that somebody does.
  class CallPromise extends I.Promise {
    then(onFulfilled, onRejected) {
      const record = I.weakGet(records, this);
      const derived = I.promiseThen(this, onFulfilled, onRejected);
      if (record !== undefined) {
        record.observed = true;
        I.weakSet(records, derived, record);
      }
      return derived;
    }

    static get [Symbol.species]() {
      return CallPromise;
    }
  }
  I.freeze(CallPromise);
  I.freeze(CallPromise.prototype);

  // Promise.race and Promise.any, taking a note of the calls that take part.
  function traced(native) {
    return (iterable) => {
      const items = I.arrayFrom(iterable);
      for (let i = 0; i < items.length; i++) {
        const item = items[i];
        const record = typeof item === "object" && item !== null ? I.weakGet(records, item) : undefined;
        if (record === undefined) racedUnknown = true;
        else {
          record.raced = true;
          items[i] = I.promiseThen(item, undefined, undefined);
        }
      }
      return native(items);
    };
  }
  const replaceStatic = (name, native) => {
    const replacement = { [name](iterable) { return traced(native)(iterable); } }[name];
    I.defineProperty(I.Promise, name, { __proto__: null, value: replacement, writable: true, configurable: true });
  };
  replaceStatic("race", I.promiseRace);
  replaceStatic("any", I.promiseAny);

  function kindOf(value) {
    if (value === null) return "null";
    return I.isArray(value) ? "an array" : `a ${typeof value}`;
  }

  function invalid(tool, message) {
    return toolError(`${tool}: ${message}`, tool, { __proto__: null, code: "invalid_arguments", retryable: false });
  }

  // The JSON text of the arguments; throws what the call is to be rejected with.
  function encode(tool, args, at) {
    if (args === undefined) return "{}";
    if (typeof args !== "object" || args === null || I.isArray(args)) {
      throw invalid(tool, `the arguments must be one object, like { name: value }, not ${kindOf(args)}`);
    }
    let json;
    try {
      json = cage.values.stringify(args);
    } catch (error) {
      throw invalid(tool, cage.values.explain(args, error));
    }
    cage.values.tellEmptied(`the argument object of ${tool}`, at);
    if (json === undefined || json[0] !== "{") throw invalid(tool, "the arguments must be one object");
    return wellFormedJson(json);
  }

  function checkSize(tool, json, at) {
    const rules = cage.rules;
    if (exceedsBytes(json, rules.argumentBytes)) {
      cage.stop("argument_size", `the arguments of ${tool} are larger than ${rules.argumentBytes} bytes`, at);
    }
    const broken = brokenShape(json, rules.jsonDepth, rules.jsonItems);
    if (broken === "depth") {
      cage.stop("argument_size", `the arguments of ${tool} are nested deeper than ${rules.jsonDepth} levels`, at);
    }
    if (broken === "items") cage.stop("argument_size", `the arguments of ${tool} hold more than ${rules.jsonItems} items`, at);
  }

  function send(record) {
    const at = record.at;
    cage.host(cage.TO_HOST.CALL, record.sequence, record.json, `${record.tool},${at.line},${at.column}`);
    inFlight++;
    record.json = "";
  }

  // Throws if the call may not be made; ends the run where the policy says so.
  function admit(tool, at) {
    const rules = cage.rules;
    if (made >= rules.calls) {
      const message = `the script may make ${rules.calls} tool calls, and this is one more`;
      if (rules.callLimitEndsRun) cage.stop("call_limit", message, at);
      throw toolError(message, tool, { __proto__: null, code: "call_limit", retryable: false });
    }
    if (inFlight >= rules.callsInFlight && rules.inFlightEndsRun) {
      cage.stop("in_flight_limit", `the script may have ${rules.callsInFlight} tool calls in flight, and this is one more`, at);
    }
  }

  function start(index, args) {
    const tool = cage.toolNames[index];
    const stack = I.stackOf(new I.Error());
    const at = cage.errors.place(stack);
    const json = encode(tool, args, at);
    checkSize(tool, json, at);
    admit(tool, at);
    const record = {
      __proto__: null, sequence: made + 1, tool: index, json, at, observed: false, raced: false,
      frames: cage.errors.ownFrames(stack), resolve: undefined, reject: undefined,
    };
    const promise = new CallPromise((resolve, reject) => {
      record.resolve = resolve;
      record.reject = reject;
    });
    I.weakSet(records, promise, record);
    I.mapSet(open, record.sequence, record);
    if (inFlight < cage.rules.callsInFlight) send(record);
    else waiting[waiting.length] = record;
    // Last: anything above may throw near the end of the stack, and a call that was not sent must leave no gap.
    made++;
    return promise;
  }

  const rejected = (error) => new CallPromise((_, reject) => reject(error));

  function callTool(index, args) {
    try {
      return start(index, args);
    } catch (error) {
      return rejected(error);
    }
  }

  // tools.call(name, args) and tools.call({ name, args }).
  function callByName(first, second) {
    const named = typeof first === "object" && first !== null;
    const name = named ? first.name : first;
    if (typeof name !== "string") {
      const message = "tools.call takes a name and arguments, or one object { name, args }";
      return rejected(toolError(message, "", { __proto__: null, code: "invalid_arguments", retryable: false }));
    }
    const index = cage.indexOfTool(name);
    if (index < 0) {
      const message = `there is no tool ${I.jsonStringify(cage.text.head(name, 200))}. ${cage.unknownTool(name)}`;
      return rejected(toolError(message, "", { __proto__: null, code: "unknown_tool", retryable: false }));
    }
    return callTool(index, named ? first.args : second);
  }

  function failed(record, fields) {
    I.setPrototypeOf(fields, null);
    const details = typeof fields.details === "string" ? I.jsonParse(fields.details) : undefined;
    return toolError(fields.message, cage.toolNames[record.tool], {
      __proto__: null, callId: fields.callId, code: fields.code, retryable: fields.retryable, details,
    }, record);
  }

  // Takes in one answer. `kind` is an ANSWER_KIND of the frames.
  function answer(kind, sequence, text) {
    const record = I.mapGet(open, sequence);
    if (record === undefined) return;
    I.mapDelete(open, sequence);
    inFlight--;
    if (waitingFrom < waiting.length) {
      const next = waiting[waitingFrom];
      waiting[waitingFrom++] = undefined;
      send(next);
    }
    if (kind === cage.ANSWER.ERROR) return record.reject(failed(record, I.jsonParse(text)));
    if (kind === cage.ANSWER.TEXT) return record.resolve(text);
    try {
      record.resolve(cage.text.parse(text, (path, source) => {
        const where = path === "" ? "" : ` at ${I.jsonStringify(path)}`;
        cage.notice("precision", `the answer of ${cage.toolNames[record.tool]} holds ${source}${where}, beyond the `
          + "precision of a JavaScript number; it was rounded", record.at);
      }));
    } catch {
      record.reject(failed(record, { __proto__: null, message: "the tool's answer is not valid JSON", code: "malformed_answer", retryable: false }));
    }
  }

  // What becomes of the calls that are open now that the script has settled: `visit(record, isAbandoned)` each.
  function forEachOpen(visit) {
    I.mapForEach(open, (record) => {
      if (record.sequence <= made) visit(record, record.raced || (record.observed && racedUnknown));
    });
  }

  cage.calls = { __proto__: null, callTool, callByName, answer, forEachOpen };
  cage.expose("ToolError", ToolError);
})

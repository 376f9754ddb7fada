// Tool calls: what the script passes, the promise that it gets, the answer that settles it.
(function (cage) {
  "use strict";
  const { list } = cage;
  const I = cage.intrinsics;
  const { iterator } = Symbol;
  const { exceedsBytes, wellFormedJson, brokenShape } = cage.text;
  const failures = new I.WeakMap(); // ToolError -> { sequence, tool }
  const records = new I.WeakMap(); // promise of a call, or one derived from it -> record
  const open = new I.Map(); // sequence -> record
  const waiting = list(); // records beyond the calls in flight, in order
  let waitingFrom = 0;
  let inFlight = 0;
  let made = 0;
  let lastAnswer; // { tool, kind, ref } of the answer that came last
  let racedUnknown = false; // a race was held over promises that cannot be traced to calls

  cage.onReset(() => {
    I.mapClear(open);
    waiting.length = 0;
    waitingFrom = inFlight = made = 0;
    lastAnswer = undefined;
    racedUnknown = false;
  });

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

  const recordOf = (item) => (typeof item === "object" && item !== null ? I.weakGet(records, item) : undefined);

  // An iterable of what `iterable` holds, with each item going through `note` when the engine asks for it. The engine
  // sees the failures of `iterable`, and closes it, as if there were nothing between.
  function noting(iterable, note) {
    const begin = () => {
      const method = iterable?.[iterator];
      if (typeof method !== "function") throw new I.TypeError(`${iterable == null ? iterable : kindOf(iterable)} is not iterable`);
      const inner = I.apply(method, iterable, list());
      const { next } = inner;
      return {
        __proto__: null,
        next: () => {
          const step = I.apply(next, inner, list());
          if ((typeof step !== "object" && typeof step !== "function") || step === null || step.done) return step;
          return { __proto__: null, done: false, value: note(step.value) };
        },
        get return() {
          const close = inner.return;
          return close == null ? undefined : () => I.apply(close, inner, list());
        },
      };
    };
    return { __proto__: null, [iterator]: begin };
  }

  function callStatic(native, receiver, iterable) {
    const args = list();
    args[0] = iterable;
    return I.apply(native, receiver, args);
  }

  function noteRaced(item) {
    const record = recordOf(item);
    if (record === undefined) {
      racedUnknown = true;
      return item;
    }
    record.raced = true;
    return I.promiseThen(item, undefined, undefined);
  }

  // Promise.all that fails leaves the calls beside the failed promise without anybody who waits.
  function tracedAll(receiver, iterable) {
    const taking = list();
    let holdsUnknown = false; // promises that cannot be traced to calls
    const whole = callStatic(I.promiseAll, receiver, noting(iterable, (item) => {
      const record = recordOf(item);
      if (record !== undefined) taking[taking.length] = record;
      else if (typeof item === "object" && item !== null) holdsUnknown = true;
      return item;
    }));
    // What a class of the script's own makes of it need not be a promise.
    if (receiver !== I.Promise || (taking.length === 0 && !holdsUnknown)) return whole;
    return I.promiseThen(whole, undefined, (error) => {
      for (let i = 0; i < taking.length; i++) taking[i].raced = true;
      racedUnknown ||= holdsUnknown;
      throw error;
    });
  }

  // The same three, taking a note of the calls that take part.
  const { all, any, race } = {
    all(iterable) { return tracedAll(this, iterable); },
    any(iterable) { return callStatic(I.promiseAny, this, noting(iterable, noteRaced)); },
    race(iterable) { return callStatic(I.promiseRace, this, noting(iterable, noteRaced)); },
  };
  define(I.Promise, "all", all, false);
  define(I.Promise, "any", any, false);
  define(I.Promise, "race", race, false);

  function kindOf(value) {
    if (value === null) return "null";
    if (I.isArray(value)) return "an array";
    return typeof value === "object" ? "an object" : `a ${typeof value}`;
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
      if (cage.rules.strictArguments) cage.values.refuseLossy(args, "args");
      json = cage.values.stringify(args);
    } catch (error) {
      throw invalid(tool, cage.values.explain(args, error, "args"));
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

  // What a call that is not made leads to: a rejection, or a text where the dialect tells failures as text.
  function refused(error) {
    const isText = cage.rules.failuresAreText && failureOf(error) !== undefined;
    return new CallPromise((resolve, reject) => (isText ? resolve(`Error: ${error.message}`) : reject(error)));
  }

  function callTool(index, args) {
    try {
      return start(index, args);
    } catch (error) {
      return refused(error);
    }
  }

  const CALL_FORMS = {
    __proto__: null,
    any: "tools.call takes a name and arguments, or one object { name, args }",
    name: "tools.call takes a name and an object of arguments: tools.call(name, { ... })",
    object: "tools.call takes one object with a name and arguments: tools.call({ name, args: { ... } })",
  };

  function isCallForm(first, second) {
    const form = cage.rules.callForm;
    if (typeof first === "string") return form !== "object";
    if (typeof first !== "object" || first === null || typeof first.name !== "string") return false;
    return form === "any" || (form === "object" && typeof first.args === "object" && second === undefined);
  }

  // tools.call(name, args) and tools.call({ name, args }).
  function callByName(first, second) {
    if (!isCallForm(first, second)) {
      const message = CALL_FORMS[cage.rules.callForm];
      return refused(toolError(message, "", { __proto__: null, code: "invalid_arguments", retryable: false }));
    }
    const named = typeof first === "object";
    const name = named ? first.name : first;
    const index = cage.indexOfTool(name);
    if (index < 0) {
      const message = `there is no tool ${I.jsonStringify(cage.text.head(name, 200))}. ${cage.unknownTool(name)}`;
      return refused(toolError(message, "", { __proto__: null, code: "unknown_tool", retryable: false }));
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

  // Gives a call its value, and remembers it as long as the script does: an error may be about what it holds.
  function settle(record, value) {
    lastAnswer = { __proto__: null, tool: cage.toolNames[record.tool], kind: kindOf(value), ref: undefined };
    if (typeof value === "object" && value !== null) lastAnswer.ref = new I.WeakRef(value);
    record.resolve(value);
  }

  // What the last answer was, in words; "" if there was none or it is gone.
  cage.describeLastAnswer = () => {
    if (lastAnswer === undefined) return "";
    const value = lastAnswer.ref === undefined ? undefined : I.deref(lastAnswer.ref);
    if (lastAnswer.ref !== undefined && value === undefined) return "";
    const told = value === undefined ? lastAnswer.kind : cage.describeShape(value);
    return `The last answer, of ${lastAnswer.tool}, is ${told}.`;
  };

  // The first call that nobody awaited; "" if there is none.
  cage.unawaitedTool = () => {
    let name = "";
    I.mapForEach(open, (record) => {
      if (name === "" && !record.observed && !record.raced) name = cage.toolNames[record.tool];
    });
    return name;
  };

  function noticeRounded(record, path, source) {
    cage.noticeRounded(`the answer of ${cage.toolNames[record.tool]}`, path, source, record.at);
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
    if (kind === cage.ANSWER.TEXT) return settle(record, cage.text.copy(text));
    try {
      settle(record, cage.text.parse(text, (path, source) => noticeRounded(record, path, source)));
    } catch {
      if (kind === cage.ANSWER.TEXT_OR_JSON) return record.resolve(cage.text.copy(text));
      record.reject(failed(record, {
        __proto__: null, callId: `call-${record.sequence}`, message: "the tool's answer is not valid JSON",
        code: "malformed_answer", retryable: false,
      }));
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

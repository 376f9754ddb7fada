// One script from its rules to its end. Returns the functions that the worker calls; the script reaches none of them.
(function (cage) {
  "use strict";
  const { list } = cage;
  const I = cage.intrinsics;
  const { exceedsBytes, wellFormedJson, brokenShape } = cage.text;
  let settled; // { value } once the script has returned

  const position = (at) => `${at?.line ?? 0},${at?.column ?? 0}`;

  // A number that a JavaScript number cannot hold came in.
  cage.noticeRounded = (what, path, source, at) => {
    const where = path === "" ? "" : ` at ${path}`;
    const message = `${what} holds ${source}${where}, beyond the precision of a JavaScript number; it was rounded`;
    cage.notice("precision", message, at);
  };

  // Ends the run for a limit. Does not return: the worker goes to sleep and is killed.
  cage.stop = (code, message, at) => {
    cage.host(cage.TO_HOST.LIMIT, 0, code, `${position(at)},${I.toWellFormed(message)}`);
  };

  cage.stopAtValue = () => {
    cage.stop("result_size", `the value of the script is larger than ${cage.rules.valueBytes} bytes: return less, or a summary`);
  };

  cage.notice = (code, message, at) => {
    cage.host(cage.TO_HOST.NOTICE, 0, code, `${position(at)},${I.toWellFormed(message)}`);
  };

  function failValue(message) {
    const fields = { __proto__: null, name: "SerializationError", message, stack: "", line: 0, column: 0, hint: "" };
    cage.tellState();
    cage.host(cage.TO_HOST.ERROR, 0, "serialization", I.jsonStringify(fields));
  }

  // The JSON text of the script's value, or undefined if the run has failed over it.
  function encode(value) {
    try {
      if (cage.rules.valueForm === "strict") cage.values.refuseLossy(value, "value");
      if (typeof value === "function" || typeof value === "symbol") {
        throw new I.TypeError(`it is a ${typeof value}, which JSON cannot hold`);
      }
      const json = wellFormedJson(cage.values.stringify(value) ?? "");
      cage.values.tellEmptied("the value of the script");
      return json;
    } catch (error) {
      const reason = cage.values.explain(value, error, "value");
      failValue(I.toWellFormed(`the value of the script cannot be written as JSON: ${reason}`));
      return undefined;
    }
  }

  // What stands in the place of a value that JSON cannot say, in a dialect that shows such values readably.
  function showReadably(value) {
    let shown;
    try {
      shown = cage.readable(value);
    } catch { /* a proxy or a getter threw, and will again where that is told */ }
    if (shown === undefined) return value;
    cage.notice("coerced", "the value holds what JSON cannot say; it is shown as text");
    return shown;
  }

  // The value as the model reads it, where that is not its JSON.
  function shownForm(value) {
    if (cage.rules.valueForm !== "text" || typeof value !== "object" || value === null) return "";
    try {
      const shown = wellFormedJson(cage.values.stringify(value, 2) ?? "");
      // An object that writes itself as a text, like a date, is text.
      return shown[0] === '"' || exceedsBytes(shown, 4 * cage.rules.valueBytes) ? "" : shown;
    } catch {
      return ""; // a getter that throws only the second time
    }
  }

  // Sends the value and what is left of the run.
  function finish(value) {
    const rules = cage.rules;
    // Before it is written: a long rope costs nothing until somebody reads it.
    if (typeof value === "string" && value.length > rules.valueBytes) cage.stopAtValue();
    if (rules.valueForm === "inspect") value = showReadably(value);
    const json = encode(value);
    if (json === undefined) return;
    if (exceedsBytes(json, rules.valueBytes)) cage.stopAtValue();
    const broken = brokenShape(json, rules.jsonDepth, rules.jsonItems);
    if (broken === "depth") return failValue(`the value of the script is nested deeper than ${rules.jsonDepth} levels`);
    if (broken === "items") return failValue(`the value of the script holds more than ${rules.jsonItems} items`);
    cage.host(cage.TO_HOST.RESULT, json === "" ? 0 : 1, json, shownForm(value));
  }

  // Calls that are open now are not waited for, whatever the policy; those of this turn are not even made.
  cage.endWith = (value) => {
    cage.calls.forEachOpen((record) => {
      cage.notice("missing_await", `the call of ${cage.toolNames[record.tool]} was open at exit(); it is cancelled`, record.at);
    });
    finish(value);
    cage.tellState();
    cage.host(cage.TO_HOST.END, 0, "", "");
  };

  // Applies the policy on calls that are still open. Returns whether the run goes on until they are answered.
  function settleOpenCalls() {
    let mustWait = false;
    cage.calls.forEachOpen((record, isAbandoned) => {
      const tool = cage.toolNames[record.tool];
      if (isAbandoned) {
        cage.notice("abandoned_call", `${tool} was still running when the race that awaited it was over; it is cancelled`, record.at);
        return;
      }
      if (cage.rules.unawaited === "fail") {
        cage.stop("unawaited_calls", `the call of ${tool} was not awaited: put await in front of it`, record.at);
      }
      const fate = cage.rules.unawaited === "wait" ? "waited for" : "cancelled";
      cage.notice("missing_await", `the call of ${tool} was not awaited; it is ${fate}: put await in front of it`, record.at);
      if (cage.rules.unawaited === "wait") mustWait = true;
    });
    return mustWait;
  }

  async function main(body) {
    let value;
    try {
      value = await body();
    } catch (error) {
      cage.errors.fail(error);
      return;
    }
    settled = { __proto__: null, value };
    cage.host(cage.TO_HOST.SETTLED, 0, "", "");
  }

  function configure(text) {
    const rules = I.jsonParse(text);
    I.setPrototypeOf(rules, null);
    cage.rules = rules;
    cage.budgets.console = rules.consoleBytes;
    cage.budgets.output = rules.outputBytes;
    cage.configureGlobals(rules);
    cage.startClock(rules.determinism);
  }

  function setInput(text) {
    if (!cage.isGlobal("input")) return;
    const tell = (path, source) => cage.noticeRounded("the input", path, source);
    cage.exposeForRun("input", text === "" ? undefined : cage.text.parse(text, tell));
  }

  // Whether `source` is the body of an async function and nothing more. Text that would close the wrapper is refused.
  function check(source) {
    try {
      new I.AsyncFunction(source);
      return 1;
    } catch (error) {
      cage.errors.failSyntax(error);
      return 0;
    }
  }

  // Takes in the rejections that nobody handled; their reasons are told by jobs of their own.
  function tellRejections(indexes) {
    const found = I.jsonParse(indexes);
    for (let i = 0; i < found.length; i++) {
      const promise = cage.rejections[found[i]];
      I.promiseThen(promise, undefined, (reason) => {
        const headline = cage.errors.headline(reason);
        const stack = typeof reason === "object" && reason !== null ? cage.errors.stackOf(reason) : "";
        cage.notice("unhandled_rejection", `a promise was rejected and nothing handled it: ${headline}`, cage.errors.place(stack));
      });
    }
  }

  function dispatch(op, n, text) {
    switch (op) {
      case cage.FROM_HOST.CONFIGURE:
        return configure(text);
      case cage.FROM_HOST.INPUT:
        return setInput(text);
      case cage.FROM_HOST.CHECK:
        return check(text);
      case cage.FROM_HOST.SETTLE:
        return settleOpenCalls() ? 1 : 0;
      case cage.FROM_HOST.REJECTIONS:
        return tellRejections(text);
      case cage.FROM_HOST.FINISH:
        finish(settled.value);
        return cage.tellState();
      case cage.FROM_HOST.TOOLS:
        return cage.takeTools(text);
      case cage.FROM_HOST.DESCRIPTIONS:
        return cage.takeDescriptions(text);
      case cage.FROM_HOST.RESET:
        settled = undefined;
        return cage.reset();
      default:
        cage.tick();
        return cage.calls.answer(op - cage.FROM_HOST.ANSWER, n, text);
    }
  }

  cage.rejections = list();
  return {
    dispatch: (op, n, text) => dispatch(op, n, text) ?? 0,
    start: (body) => {
      main(body);
    },
    rejections: cage.rejections,
  };
})

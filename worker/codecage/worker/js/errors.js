// What went wrong, told in the script's own lines: name, message, frames, causes, a hint where one helps.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const { head } = cage.text;
  const FILE = "script.js";
  const AT_FILE = "@" + FILE + ":";
  const MAX_TEXT = 8000;
  const MAX_CAUSES = 5;
  // Two that the AsyncFunction constructor puts in front of a text, and the header of the text.
  const LINES_AHEAD = 3;
  const MAX_LINE = 1e9;

  // A property of a value that may be a proxy, have getters or lie about its type.
  function read(value, key, type) {
    try {
      const found = value[key];
      return typeof found === type ? found : undefined;
    } catch {
      return undefined;
    }
  }

  const isObject = (value) => (typeof value === "object" && value !== null) || typeof value === "function";

  function nameOf(error) {
    return head(read(error, "name", "string") ?? "Error", 200);
  }

  function isError(value) {
    try {
      return I.objectToString(value) === "[object Error]";
    } catch {
      return false;
    }
  }

  function messageOf(error) {
    if (!isObject(error)) return cage.inspect(error, MAX_TEXT);
    const message = read(error, "message", "string");
    if (message !== undefined) return head(message, MAX_TEXT);
    return isError(error) ? "" : cage.inspect(error, MAX_TEXT);
  }

  function headline(error) {
    try {
      if (!isObject(error)) return cage.inspect(error, 1000);
      const message = read(error, "message", "string") ?? "";
      return message === "" ? nameOf(error) : `${nameOf(error)}: ${head(message, MAX_TEXT)}`;
    } catch {
      return "Error";
    }
  }

  // The frames of `stack` that lie in the script, one a line; frames of the prelude are left out.
  function ownFrames(stack) {
    let frames = "";
    let from = 0;
    while (from < stack.length && frames.length < MAX_TEXT) {
      let end = I.indexOf(stack, "\n", from);
      if (end < 0) end = stack.length;
      const line = I.slice(stack, from, end);
      if (I.indexOf(line, AT_FILE) >= 0) frames += line + "\n";
      from = end + 1;
    }
    return I.slice(frames, 0, -1);
  }

  const PLACE = /@script\.js:([0-9]{1,9}):([0-9]{1,9})/;

  // Line and column of the innermost frame that lies in the script; zeros if there is none.
  function place(stack) {
    const at = I.indexOf(stack, AT_FILE);
    const found = at < 0 ? null : I.exec(PLACE, I.slice(stack, at, at + 40));
    if (found === null) return { __proto__: null, line: 0, column: 0 };
    return { __proto__: null, line: I.Number(found[1]), column: I.Number(found[2]) };
  }

  function stackOf(error) {
    if (!isObject(error)) return "";
    return head(read(error, "stack", "string") ?? "", 64000);
  }

  function withStack(error) {
    const frames = ownFrames(stackOf(error));
    return frames === "" ? headline(error) : `${headline(error)}\n${frames}`;
  }

  // The causes and the collected errors behind `error`, as lines.
  function causes(error) {
    let text = "";
    const collected = isObject(error) ? read(error, "errors", "object") : undefined;
    if (collected !== undefined && collected !== null && I.isArray(collected)) {
      const count = I.min(collected.length, MAX_CAUSES);
      for (let i = 0; i < count; i++) text += `\n- ${headline(collected[i])}`;
    }
    let cause = error;
    for (let i = 0; i < MAX_CAUSES; i++) {
      try {
        if (!isObject(cause) || cause.cause === undefined) break;
        cause = cause.cause;
      } catch {
        break;
      }
      text += `\nCaused by: ${headline(cause)}`;
    }
    return text;
  }

  // Only the engine makes an InternalError: otherwise a script could claim to have come to a limit.
  const TooDeep = InternalError;
  const internal = InternalError.prototype;
  cage.tooDeep = () => new TooDeep("too much recursion");
  const { InternalError: unmade } = { InternalError: function () { throw new I.TypeError("Illegal constructor"); } };
  I.defineProperty(unmade, "prototype", { __proto__: null, value: internal });
  I.defineProperty(internal, "constructor", { __proto__: null, value: unmade, writable: true, configurable: true });
  cage.expose("InternalError", unmade);

  function isExhausted(error) {
    try {
      return I.getPrototypeOf(error) === internal && read(error, "message", "string") === "too much recursion";
    } catch {
      return false;
    }
  }

  function outcomeOf(error) {
    if (cage.isToolFailure(error)) return "tool_error";
    return isExhausted(error) ? "stack" : "script_error";
  }

  // The report of a thrown value as the arguments of host(ERROR, ...): call, outcome, JSON text.
  function report(error) {
    const call = cage.callOf(error);
    const code = isObject(error) ? outcomeOf(error) : "script_error";
    const stack = stackOf(error);
    const at = place(stack);
    if (at.line === 0 && isObject(error)) {
      at.line = cage.wrappedLine(read(error, "fileName", "string") ?? "", read(error, "lineNumber", "number"));
    }
    const message = messageOf(error) + causes(error);
    const fields = {
      __proto__: null,
      name: I.toWellFormed(isObject(error) ? nameOf(error) : "Error"),
      message: I.toWellFormed(head(message, MAX_TEXT)),
      stack: I.toWellFormed(ownFrames(stack)),
      line: at.line,
      column: at.column,
      hint: I.toWellFormed(head(cage.hint(error, message), 1000)),
    };
    return { __proto__: null, call, code, json: I.jsonStringify(fields) };
  }

  // Positions in the text that the AsyncFunction constructor builds are two lines further down.
  cage.wrappedLine = (file, line) => (I.indexOf(file, "AsyncFunction") >= 0 ? lineOf(line) : 0);

  // The script may have written the property itself.
  const lineOf = (line) => (I.isSafeInteger(line) && line > 2 && line < MAX_LINE ? line - 2 : 0);

  const UNREADABLE = { __proto__: null, call: 0, code: "script_error", json: '{"name":"Error","message":"[unreadable]"}' };

  function fail(error) {
    let told = UNREADABLE;
    try {
      told = report(error);
    } catch { /* a proxy or a getter threw: that it failed is known all the same */ }
    cage.tellState();
    cage.host(cage.TO_HOST.ERROR, told.call, told.code, told.json);
  }

  function failSyntax(error) {
    const fields = {
      __proto__: null,
      name: "SyntaxError",
      message: I.toWellFormed(messageOf(error)),
      stack: "",
      line: I.isInteger(error.lineNumber) && error.lineNumber > LINES_AHEAD ? error.lineNumber - LINES_AHEAD : 0,
      column: I.isInteger(error.columnNumber) ? error.columnNumber : 0,
      hint: "",
    };
    if (read(error, "name", "string") === "InternalError") fields.message = "the script is nested too deeply";
    fields.hint = cage.syntaxHint(fields.message);
    cage.host(cage.TO_HOST.ERROR, 0, "syntax_error", I.jsonStringify(fields));
  }

  // What a script reads as `stack` holds its own frames alone.
  const native = I.getOwnPropertyDescriptor(I.Error.prototype, "stack");
  const { get } = I.getOwnPropertyDescriptor({
    __proto__: null,
    get stack() {
      const stack = I.apply(native.get, this, []);
      return typeof stack === "string" ? ownFrames(stack) : stack;
    },
  }, "stack");
  I.defineProperty(I.Error.prototype, "stack", { __proto__: null, configurable: true, get, set: native.set });

  cage.errors = { __proto__: null, stackOf, headline, messageOf, ownFrames, place, withStack, fail, failSyntax };
})

// Advice for a model that has to repair its script, from the text of the engine's errors.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const NOT_DEFINED = /^([A-Za-z_$][\w$]*) is not defined/;
  const NOT_A_TOOL = /tools\.([\w$]+) is not a function/;
  const NOT_A_FUNCTION = /is not (?:a function|iterable)/;
  const NO_PROPERTY = /can't access property|(?:is|are) (?:undefined|null)/;
  const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
  const NO_IMPORT = "Nothing can be imported here: call a tool instead.";
  const OF_A_CALL = /tools[.[][^ ]*\(\.\.\.\)/;
  // Codes of calls that no tool has seen; their messages say what to mend.
  const NOT_MADE = { __proto__: null, invalid_arguments: 1, unknown_tool: 1, call_limit: 1 };
  const BASE64 = { __proto__: null, atob: "Uint8Array.fromBase64(text)", btoa: "bytes.toBase64(), of a Uint8Array" };
  // What is near to a name that is not there; the first ones only where the dialect has them.
  const GLOBALS = I.freeze([
    "ALL_TOOLS", "input", "text", "image", "store", "load", "exit",
    "tools", "console", "JSON", "Math", "Object", "Array", "String", "Number", "Promise", "RegExp", "structuredClone",
    "encodeURIComponent", "decodeURIComponent", "parseInt", "parseFloat",
  ]);
  const OPTIONAL = 7;
  const NOT_HERE = {
    __proto__: null,
    Buffer: 1, Deno: 1, URL: 1, WebSocket: 1, XMLHttpRequest: 1, clearTimeout: 1, document: 1, fetch: 1,
    fs: 1, module: 1, os: 1, path: 1, process: 1, require: 1, setImmediate: 1, setInterval: 1, setTimeout: 1, window: 1,
  };

  // Edits between two short words, as far as they matter here.
  function distance(left, right) {
    let row = cage.list();
    for (let j = 0; j <= right.length; j++) row[j] = j;
    for (let i = 1; i <= left.length; i++) {
      const next = cage.list();
      next[0] = i;
      for (let j = 1; j <= right.length; j++) {
        const change = row[j - 1] + (left[i - 1] === right[j - 1] ? 0 : 1);
        next[j] = I.min(change, I.min(row[j], next[j - 1]) + 1);
      }
      row = next;
    }
    return row[right.length];
  }

  const reach = (name) => I.floor(name.length / 3) + 1;

  // The listed tool whose name is nearest to `name`, or "" if none is near.
  function nearest(name) {
    const wanted = I.toLowerCase(I.slice(name, 0, 64));
    let best = "";
    let bestDistance = reach(wanted);
    const count = I.min(cage.toolNames.length, 500);
    for (let i = 0; i < count; i++) {
      const candidate = I.toLowerCase(I.slice(cage.toolNames[i], 0, 64));
      const holds = candidate.length > 3 && wanted.length > 3
        && (I.indexOf(candidate, wanted) >= 0 || I.indexOf(wanted, candidate) >= 0);
      const edits = holds ? 1 : distance(wanted, candidate);
      if (edits < bestDistance) {
        best = cage.toolNames[i];
        bestDistance = edits;
      }
    }
    return best;
  }

  function knownTools() {
    const names = cage.list();
    const count = I.min(cage.toolNames.length, 20);
    for (let i = 0; i < count; i++) names[i] = cage.toolNames[i];
    const more = cage.toolNames.length > count ? `, and ${cage.toolNames.length - count} more` : "";
    return count === 0 ? "No tools were given to this script." : `The tools are: ${I.arrayJoin(names, ", ")}${more}.`;
  }

  function unknownTool(name) {
    const near = nearest(name);
    return near === "" ? knownTools() : `Did you mean ${I.jsonStringify(near)}?`;
  }

  // The name that a script of this dialect finds and that is nearest to `name`; "" if none is near.
  function nearestGlobal(name) {
    let best = "";
    let bestDistance = reach(name);
    for (let i = 0; i < GLOBALS.length && name.length <= 64; i++) {
      const isThere = i >= OPTIONAL || cage.isGlobal(GLOBALS[i]);
      const edits = isThere ? distance(name, GLOBALS[i]) : bestDistance;
      if (edits >= bestDistance) continue;
      best = GLOBALS[i];
      bestDistance = edits;
    }
    return best;
  }

  // How the tool of that name is called in this dialect.
  function calling(name) {
    if (cage.rules.callForm === "name") return `tools.call(${I.jsonStringify(name)}, {...})`;
    return I.exec(IDENTIFIER, name) === null ? `tools[${I.jsonStringify(name)}]({...})` : `tools.${name}({...})`;
  }

  function missingGlobal(name) {
    if (cage.indexOfTool(name) >= 0) return `Tools are called as ${calling(name)}.`;
    if (name in BASE64) return `${name} is not available here: use ${BASE64[name]}.`;
    if (name in NOT_HERE) return `${name} is not available here: call a tool instead. ${knownTools()}`;
    const global = nearestGlobal(name);
    if (global !== "") return `Did you mean ${global}?`;
    const tool = nearest(name);
    if (tool !== "") return `Did you mean ${calling(tool)}?`;
    const example = cage.rules.callForm === "name" ? "tools.call(name, {...})" : "tools.name({...})";
    return `Only the built-ins of JavaScript, the console and tools are available here; tools are called as ${example}.`;
  }

  // `tools.name` was called and is no function.
  function missingTool(name) {
    if (cage.rules.callForm === "name") {
      const tool = nearest(name);
      return tool === "" ? `Tools are called as tools.call(name, {...}). ${knownTools()}` : `Tools are called as ${calling(tool)}.`;
    }
    return `There is no tool of that name. ${unknownTool(name)}`;
  }

  cage.unknownTool = unknownTool;

  function keysOf(value) {
    const names = cage.list();
    const keys = I.ownKeys(value);
    for (let i = 0; i < keys.length && names.length < 20; i++) {
      if (typeof keys[i] === "string") names[names.length] = cage.text.head(keys[i], 60);
    }
    const more = keys.length > names.length ? `, and ${keys.length - names.length} more` : "";
    return names.length === 0 ? "no keys" : `the keys ${I.arrayJoin(names, ", ")}${more}`;
  }

  // What a value of a tool is, in words: an object with which keys, a list of what.
  cage.describeShape = (value) => {
    if (!I.isArray(value)) return `an object with ${keysOf(value)}`;
    const first = value.length > 0 ? value[0] : undefined;
    if (typeof first !== "object" || first === null || I.isArray(first)) return `an array of length ${value.length}`;
    return `an array of length ${value.length} of objects with ${keysOf(first)}`;
  };

  // A property of nothing was read, or something was called that is no function.
  function missingProperty(message) {
    const isCall = I.exec(NOT_A_FUNCTION, message) !== null;
    if (!isCall && I.exec(NO_PROPERTY, message) === null) return "";
    if (I.exec(OF_A_CALL, message) !== null) return "await is missing: a tool call gives a promise. Write (await tools.name({...})).property.";
    const unawaited = cage.unawaitedTool();
    if (unawaited !== "") return `The call of ${unawaited} was not awaited: put await in front of it.`;
    return cage.describeLastAnswer();
  }

  cage.hint = (error, message) => {
    if (typeof error === "object" && error !== null && cage.isToolFailure(error) && NOT_MADE[error.code] === 1) return "";
    const tool = cage.toolOf(error);
    if (tool !== "") return `The tool ${I.jsonStringify(tool)} failed. Catch the error with try/catch if the script can go on without it.`;
    const global = I.exec(NOT_DEFINED, message);
    if (global !== null) return missingGlobal(global[1]);
    const missing = I.exec(NOT_A_TOOL, message);
    if (missing !== null) return missingTool(missing[1]);
    if (I.startsWith(message, "Dynamic module import")) return NO_IMPORT;
    return missingProperty(message);
  };

  cage.syntaxHint = (message) => {
    if (I.startsWith(message, "await is only valid")) return "Make the function that uses await async, and await what it returns.";
    if (I.startsWith(message, "import declarations")) return NO_IMPORT;
    if (I.startsWith(message, "export declarations")) return "Use return instead of export: the script is the body of an async function.";
    return "";
  };
})

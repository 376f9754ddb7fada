// Values that leave the script as JSON: arguments of calls and the script's own value.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const MAX_DEPTH = 64;
  const MAX_KEYS = 10000;
  const KINDS = { __proto__: null, function: "a function", symbol: "a symbol", bigint: "a BigInt" };
  let promiseSeen = false;
  let emptied = ""; // what lost its content: Map or Set

  // Makes `prototype` call `tell` when one of its kind is written. False if the script froze it.
  function watch(prototype, tell) {
    try {
      I.defineProperty(prototype, "toJSON", { __proto__: null, configurable: true, value: tell });
      return true;
    } catch {
      return false;
    }
  }

  // The same for what JSON writes as {}, unless the script has said how it is to be written.
  function watchEmptied(name, sizeOf) {
    const { prototype } = I[name];
    return I.getOwnPropertyDescriptor(prototype, "toJSON") === undefined && watch(prototype, function () {
      try {
        if (sizeOf(this) > 0) emptied = name;
      } catch { /* it only inherits from one */ }
      return this;
    });
  }

  // JSON.stringify, which writes promises, maps and sets as {} without a word: the first are refused, the others noted.
  function stringify(value, indent) {
    promiseSeen = false;
    emptied = "";
    const watchesPromise = watch(I.Promise.prototype, () => { promiseSeen = true; });
    const watchesMap = watchEmptied("Map", I.mapSize);
    const watchesSet = watchEmptied("Set", I.setSize);
    try {
      const json = I.jsonStringify(value, undefined, indent);
      if (promiseSeen) throw new I.TypeError("it holds a promise");
      return json;
    } finally {
      if (watchesPromise) delete I.Promise.prototype.toJSON;
      if (watchesMap) delete I.Map.prototype.toJSON;
      if (watchesSet) delete I.Set.prototype.toJSON;
    }
  }

  // Warns if what was written last lost something.
  function tellEmptied(what, at) {
    if (emptied === "") return;
    const advice = emptied === "Map" ? "Object.fromEntries(map)" : "[...set]";
    cage.notice("coerced", `${what} holds a ${emptied}, which JSON writes as {}: use ${advice} in its place`, at);
  }

  // JSON.rawJSON lets a script write any token: a number that no double holds, half a surrogate pair. The text must
  // stay JSON that every reader takes.
  const rawJson = I.JSON.rawJSON;
  function rawJSON(text) {
    const raw = rawJson(text);
    const value = I.jsonParse(raw.rawJSON);
    if (typeof value === "number" && value - value !== 0) throw new I.RangeError("JSON.rawJSON: the number is too large");
    return typeof value === "string" ? rawJson(I.jsonStringify(I.toWellFormed(value))) : raw;
  }
  if (rawJson !== undefined) {
    I.defineProperty(I.JSON, "rawJSON", { __proto__: null, value: rawJSON, writable: true, configurable: true });
  }

  const step = (path, key) => {
    if (I.exec(/^[0-9]+$/, key) !== null) return `${path}[${key}]`;
    return I.exec(/^[A-Za-z_$][\w$]*$/, key) === null ? `${path}[${I.jsonStringify(key)}]` : `${path}.${key}`;
  };

  // Visits `value` and what it holds, outermost first; `visit(item, path, ancestors)` ends the walk by returning a text.
  function walk(value, path, ancestors, visit) {
    const found = visit(value, path, ancestors);
    if (found !== "" || typeof value !== "object" || value === null || ancestors.length > MAX_DEPTH) return found;
    ancestors[ancestors.length] = value;
    const keys = I.ownKeys(value);
    for (let i = 0; i < keys.length && i < MAX_KEYS; i++) {
      const key = keys[i];
      const descriptor = typeof key === "string" ? I.getOwnPropertyDescriptor(value, key) : undefined;
      if (descriptor === undefined || !descriptor.enumerable) continue;
      const inner = walk(value[key], step(path, key), ancestors, visit);
      if (inner !== "") return inner;
    }
    ancestors.length--;
    return "";
  }

  function isAmong(ancestors, value) {
    for (let i = 0; i < ancestors.length; i++) if (ancestors[i] === value) return true;
    return false;
  }

  const isPromise = (value) => typeof value === "object" && value !== null && I.objectToString(value) === "[object Promise]";
  const promiseAt = (value, path) => (isPromise(value) ? path : "");
  const bigIntAt = (value, path) => (typeof value === "bigint" ? path : "");
  const cycleAt = (value, path, ancestors) => (isAmong(ancestors, value) ? path : "");

  // What in `value` JSON would leave out or cannot hold, told with its path; "" if there is nothing.
  const lossAt = (value, path, ancestors) => {
    if (typeof value in KINDS) return `${path} is ${KINDS[typeof value]}`;
    return isAmong(ancestors, value) ? `cyclic value: ${path} refers back to an object that holds it` : "";
  };

  function search(value, visit) {
    try {
      return walk(value, "value", cage.list(), visit);
    } catch {
      return "";
    }
  }

  // Throws at the first function, symbol, BigInt or cycle, wherever it is.
  function refuseLossy(value, name) {
    const loss = walk(value, name, cage.list(), lossAt);
    if (loss !== "") throw new I.TypeError(loss);
  }

  // Why `value` could not be written: what is in the way, and where.
  function explain(value, error) {
    if (promiseSeen) {
      const path = search(value, promiseAt);
      return `await is missing: ${path === "" ? "it" : path} is a promise`;
    }
    const bigint = search(value, bigIntAt);
    if (bigint !== "") return `${bigint} is a BigInt, which JSON cannot hold: convert it with String() or Number()`;
    const cycle = search(value, cycleAt);
    if (cycle !== "") return `cyclic value: ${cycle} refers back to an object that holds it`;
    const message = cage.errors.messageOf(error);
    return message === "too much recursion" ? "it is nested too deeply" : message;
  }

  cage.values = { __proto__: null, stringify, tellEmptied, explain, refuseLossy, walk };
})

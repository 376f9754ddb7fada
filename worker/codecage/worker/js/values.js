// Values that leave the script as JSON: arguments of calls and the script's own value.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  // How far a value is searched for an explanation. What must be found is searched for to its end.
  const NEAR = { __proto__: null, depth: 64, keys: 10000 };
  const ALL = { __proto__: null, depth: Infinity, keys: Infinity };
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

  const LONG_TEXT = 1 << 17;
  const MAX_LOOKS = 4000;
  let looks = 0;

  // Whether `value` holds a long text, as far as a short look tells.
  function holdsLongText(value) {
    if (typeof value === "string") return value.length > LONG_TEXT;
    if (typeof value !== "object" || value === null || looks > MAX_LOOKS) return false;
    const keys = I.isArray(value) ? undefined : I.ownKeys(value);
    const count = keys === undefined ? value.length : keys.length;
    for (let i = 0; i < count && looks < MAX_LOOKS; i++) {
      looks++;
      if (holdsLongText(I.getOwnPropertyDescriptor(value, keys === undefined ? i : keys[i])?.value)) return true;
    }
    return false;
  }

  // What writes long texts in pieces, where there are any.
  function replacerFor(value) {
    looks = 0;
    try {
      if (!holdsLongText(value)) return undefined;
    } catch {
      return undefined; // a trap threw, and will again where that is told
    }
    return (_, item) => (typeof item === "string" && item.length > LONG_TEXT ? rawJson(cage.text.quote(item)) : item);
  }

  // JSON.stringify, which writes promises, maps and sets as {} without a word: the first are refused, the others noted.
  function stringify(value, indent) {
    promiseSeen = false;
    emptied = "";
    const watchesPromise = watch(I.Promise.prototype, () => { promiseSeen = true; });
    const watchesMap = watchEmptied("Map", I.mapSize);
    const watchesSet = watchEmptied("Set", I.setSize);
    try {
      const json = I.jsonStringify(value, replacerFor(value), indent);
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
  const { rawJSON } = {
    rawJSON(text) {
      const raw = rawJson(text);
      const value = I.jsonParse(raw.rawJSON);
      if (typeof value === "number" && value - value !== 0) throw new I.RangeError("JSON.rawJSON: the number is too large");
      return typeof value === "string" ? rawJson(I.jsonStringify(I.toWellFormed(value))) : raw;
    },
  };
  if (rawJson !== undefined) {
    I.defineProperty(I.JSON, "rawJSON", { __proto__: null, value: rawJSON, writable: true, configurable: true });
  }

  // Visits `value` and what it holds, outermost first, until `visit(item, ancestors)` returns a text: what was found.
  // Returns { what, path } then, else undefined. `ancestors` ends with what holds the item.
  function walk(value, ancestors, visit, bounds) {
    const what = visit(value, ancestors);
    if (what !== "") return { __proto__: null, what, path: "" };
    if (typeof value !== "object" || value === null || ancestors.length > bounds.depth) return undefined;
    ancestors[ancestors.length] = value;
    const keys = I.ownKeys(value);
    for (let i = 0; i < keys.length && i < bounds.keys; i++) {
      const key = keys[i];
      const descriptor = typeof key === "string" ? I.getOwnPropertyDescriptor(value, key) : undefined;
      if (descriptor === undefined || !descriptor.enumerable) continue;
      const found = walk(value[key], ancestors, visit, bounds);
      if (found === undefined) continue;
      found.path = cage.text.step(value, key) + found.path;
      return found;
    }
    ancestors.length--;
    return undefined;
  }

  const walkAll = (value, visit) => walk(value, cage.list(), visit, ALL);

  function isAmong(ancestors, value) {
    for (let i = 0; i < ancestors.length; i++) if (ancestors[i] === value) return true;
    return false;
  }

  const isPromise = (value) => typeof value === "object" && value !== null && I.objectToString(value) === "[object Promise]";
  const promiseAt = (value) => (isPromise(value) ? "promise" : "");
  const bigIntAt = (value) => (typeof value === "bigint" ? "bigint" : "");
  const cycleAt = (value, ancestors) => (isAmong(ancestors, value) ? "cycle" : "");

  // What JSON would leave out or cannot hold; "" if it is nothing of the kind.
  const lossAt = (value, ancestors) => (typeof value in KINDS ? KINDS[typeof value] : cycleAt(value, ancestors));

  // The path of what `visit` finds in a value called `name`; "" if nothing is found.
  function search(value, visit, name) {
    try {
      const found = walk(value, cage.list(), visit, NEAR);
      return found === undefined ? "" : name + found.path;
    } catch {
      return "";
    }
  }

  const cyclic = (path) => `cyclic value: ${path} refers back to an object that holds it`;

  // Throws at the first function, symbol, BigInt or cycle, wherever it is.
  function refuseLossy(value, name) {
    promiseSeen = false;
    const loss = walkAll(value, lossAt);
    if (loss === undefined) return;
    const path = name + loss.path;
    throw new I.TypeError(loss.what === "cycle" ? cyclic(path) : `${path} is ${loss.what}`);
  }

  // Why a value called `name` could not be written: what is in the way, and where.
  function explain(value, error, name) {
    if (promiseSeen) {
      const path = search(value, promiseAt, name);
      return `await is missing: ${path === "" ? "it" : path} is a promise`;
    }
    const bigint = search(value, bigIntAt, name);
    if (bigint !== "") return `${bigint} is a BigInt, which JSON cannot hold: convert it with String() or Number()`;
    const cycle = search(value, cycleAt, name);
    if (cycle !== "") return cyclic(cycle);
    const message = cage.errors.messageOf(error);
    return message === "too much recursion" ? "it is nested too deeply" : message;
  }

  cage.values = { __proto__: null, stringify, tellEmptied, explain, refuseLossy, walkAll };
})

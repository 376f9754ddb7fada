// Values that leave the script as JSON: arguments of calls and the script's own value.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const MAX_DEPTH = 64;
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
  function stringify(value) {
    promiseSeen = false;
    emptied = "";
    watch(I.Promise.prototype, () => { promiseSeen = true; });
    const watchesMap = watchEmptied("Map", I.mapSize);
    const watchesSet = watchEmptied("Set", I.setSize);
    try {
      const json = I.jsonStringify(value);
      if (promiseSeen) throw new I.TypeError("it holds a promise");
      return json;
    } finally {
      delete I.Promise.prototype.toJSON;
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

  const step = (path, key) => (I.exec(/^[A-Za-z_$][\w$]*$/, key) === null ? `${path}[${I.jsonStringify(key)}]` : `${path}.${key}`);

  function culprit(value, isCulprit, path, depth) {
    if (isCulprit(value)) return path;
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return "";
    const keys = I.ownKeys(value);
    for (let i = 0; i < keys.length && i < 10000; i++) {
      if (typeof keys[i] !== "string") continue;
      const found = culprit(value[keys[i]], isCulprit, step(path, keys[i]), depth + 1);
      if (found !== "") return found;
    }
    return "";
  }

  const isBigInt = (value) => typeof value === "bigint";
  const isPromise = (value) => typeof value === "object" && value !== null && I.objectToString(value) === "[object Promise]";

  function cyclePath(value, path, ancestors) {
    if (typeof value !== "object" || value === null || ancestors.length > MAX_DEPTH) return "";
    for (let i = 0; i < ancestors.length; i++) if (ancestors[i] === value) return path;
    ancestors[ancestors.length] = value;
    const keys = I.ownKeys(value);
    for (let i = 0; i < keys.length && i < 10000; i++) {
      if (typeof keys[i] !== "string") continue;
      const found = cyclePath(value[keys[i]], step(path, keys[i]), ancestors);
      if (found !== "") return found;
    }
    ancestors.length--;
    return "";
  }

  function search(find) {
    try {
      return find();
    } catch {
      return "";
    }
  }

  // Why `value` could not be written: what is in the way, and where.
  function explain(value, error) {
    if (promiseSeen) {
      const path = search(() => culprit(value, isPromise, "value", 0));
      return `await is missing: ${path === "" ? "it" : path} is a promise`;
    }
    const bigint = search(() => culprit(value, isBigInt, "value", 0));
    if (bigint !== "") return `${bigint} is a BigInt, which JSON cannot hold: convert it with String() or Number()`;
    const cycle = search(() => cyclePath(value, "value", cage.list()));
    if (cycle !== "") return `cyclic value: ${cycle} refers back to an object that holds it`;
    const message = cage.errors.messageOf(error);
    return message === "too much recursion" ? "it is nested too deeply" : message;
  }

  cage.values = { __proto__: null, stringify, tellEmptied, explain };
})

// Values that leave the script as JSON: arguments of calls and the script's own value.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const MAX_DEPTH = 64;
  let promiseSeen = false;

  // JSON.stringify, which writes a promise as {} without a word; here it is refused.
  function stringify(value) {
    promiseSeen = false;
    try {
      I.defineProperty(I.Promise.prototype, "toJSON", {
        __proto__: null, configurable: true, value: () => { promiseSeen = true; },
      });
    } catch { /* the script froze the prototype: promises are written as {} */ }
    try {
      const json = I.jsonStringify(value);
      if (promiseSeen) throw new I.TypeError("it holds a promise");
      return json;
    } finally {
      delete I.Promise.prototype.toJSON;
    }
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

  cage.values = { __proto__: null, stringify, explain };
})

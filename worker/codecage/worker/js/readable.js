// A value shown for a reader in the manner of Node's util.inspect, where JSON cannot say it: Map, Set, Date, BigInt, NaN,
// cycles. Depth 10, 100 items of each collection.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const { list } = cage;
  const MAX_DEPTH = 10;
  const MAX_ITEMS = 100;
  const PER_ITEM = 2; // characters that separate it from the next
  const WIDTH = 72;

  // The tag of a typed array; undefined for anything else.
  const typedArrayTag = I.uncurryThis(
    I.getOwnPropertyDescriptor(I.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get,
  );

  const quote = (text) => {
    const json = cage.text.quote(text);
    if (I.indexOf(text, "'") >= 0) return json;
    let inner = "";
    let from = 1;
    for (let at = I.indexOf(json, "\\"); at >= 0; at = I.indexOf(json, "\\", at + 2)) {
      if (json[at + 1] !== '"') continue;
      inner += I.slice(json, from, at);
      from = at + 1;
    }
    return `'${inner}${I.slice(json, from, -1)}'`;
  };

  function attempt(probe, value) {
    try {
      return probe(value);
    } catch {
      return undefined;
    }
  }

  function primitive(value) {
    if (typeof value === "string") return quote(value);
    if (typeof value === "bigint") return `${I.String(value)}n`;
    if (typeof value === "symbol") return I.symbolToString(value);
    if (typeof value === "number" && value === 0 && 1 / value < 0) return "-0";
    return I.String(value);
  }

  function functionName(value) {
    const name = I.getOwnPropertyDescriptor(value, "name")?.value;
    return typeof name === "string" && name !== "" ? `[Function: ${name}]` : "[Function (anonymous)]";
  }

  // The parts between brackets, on one line if they fit.
  function bracket(open, parts, close, depth) {
    if (parts.length === 0) return `${open}${close}`;
    const line = I.arrayJoin(parts, ", ");
    if (line.length <= WIDTH && I.indexOf(line, "\n") < 0) return `${open} ${line} ${close}`;
    const indent = I.repeat("  ", depth + 1);
    return `${open}\n${indent}${I.arrayJoin(parts, `,\n${indent}`)}\n${I.repeat("  ", depth)}${close}`;
  }

  function more(parts, total) {
    if (total > MAX_ITEMS) parts[parts.length] = `... ${total - MAX_ITEMS} more item${total - MAX_ITEMS > 1 ? "s" : ""}`;
    return parts;
  }

  class Shower {
    // Fields are defined, not set: no setter of the script is reached.
    ancestors = list();
    references = new I.Map();
    left = cage.rules.valueBytes;

    show(value) {
      if (typeof value === "string") this.spend(value.length);
      const text = typeof value === "function" ? functionName(value)
        : typeof value === "object" && value !== null ? this.object(value) : primitive(value);
      this.spend(PER_ITEM);
      return text;
    }

    // Ends the run before more is put together than it may return.
    spend(characters) {
      this.left -= characters;
      if (this.left < 0) cage.stopAtValue();
    }

    object(value) {
      const depth = this.ancestors.length;
      for (let i = 0; i < depth; i++) if (this.ancestors[i] === value) return `[Circular *${this.refer(value)}]`;
      const tag = I.objectToString(value);
      if (tag === "[object Date]") return attempt(I.dateToISOString, value) ?? "Invalid Date";
      if (tag === "[object RegExp]") return attempt(I.regexpToString, value) ?? "[RegExp]";
      if (tag === "[object Error]") return `[${cage.errors.headline(value)}]`;
      if (tag === "[object Promise]") return "Promise { <pending> }";
      if (depth > MAX_DEPTH) return I.isArray(value) ? "[Array]" : "[Object]";
      this.ancestors[depth] = value;
      const text = this.collection(value, depth);
      this.ancestors.length = depth;
      const number = I.mapGet(this.references, value);
      return number === undefined ? text : `<ref *${number}> ${text}`;
    }

    // The number by which a circular reference names `value`.
    refer(value) {
      if (!I.mapHas(this.references, value)) I.mapSet(this.references, value, I.mapSize(this.references) + 1);
      return I.mapGet(this.references, value);
    }

    collection(value, depth) {
      const mapSize = attempt(I.mapSize, value);
      if (mapSize !== undefined) return bracket(`Map(${mapSize}) {`, this.entries(value, mapSize), "}", depth);
      const setSize = attempt(I.setSize, value);
      if (setSize !== undefined) return bracket(`Set(${setSize}) {`, this.members(value, setSize), "}", depth);
      if (I.isArray(value)) return bracket("[", this.items(value), "]", depth);
      const tag = typedArrayTag(value);
      if (tag !== undefined) return bracket(`${tag}(${value.length}) [`, this.items(value), "]", depth);
      return bracket("{", this.properties(value), "}", depth);
    }

    entries(value, size) {
      const parts = list();
      I.mapForEach(value, (item, key) => {
        if (parts.length < MAX_ITEMS) parts[parts.length] = `${this.show(key)} => ${this.show(item)}`;
      });
      return more(parts, size);
    }

    members(value, size) {
      const parts = list();
      I.setForEach(value, (item) => {
        if (parts.length < MAX_ITEMS) parts[parts.length] = this.show(item);
      });
      return more(parts, size);
    }

    items(value) {
      const parts = list();
      for (let i = 0; i < value.length && i < MAX_ITEMS; i++) parts[i] = this.show(value[i]);
      return more(parts, value.length);
    }

    properties(value) {
      const parts = list();
      const keys = I.ownKeys(value);
      for (let i = 0; i < keys.length && i < MAX_ITEMS; i++) {
        const key = keys[i];
        const descriptor = I.getOwnPropertyDescriptor(value, key);
        if (descriptor === undefined || !descriptor.enumerable) continue;
        const name = typeof key === "symbol" ? `[${I.symbolToString(key)}]`
          : I.exec(/^[A-Za-z_$][\w$]*$/, key) === null ? quote(key) : key;
        parts[parts.length] = `${name}: ${this.show(value[key])}`;
      }
      return more(parts, keys.length);
    }
  }

  I.setPrototypeOf(Shower.prototype, null);

  // Whether JSON would change or refuse something in `value`.
  const isBeyondJson = (value, ancestors) => {
    const type = typeof value;
    if (type === "bigint" || type === "symbol" || type === "function") return type;
    if (type === "number") return value - value === 0 ? "" : type;
    if (type !== "object" || value === null) return "";
    for (let i = 0; i < ancestors.length; i++) if (ancestors[i] === value) return "cycle";
    const tag = I.objectToString(value);
    // A promise is refused where the value is written: what it holds is not there yet.
    return tag === "[object Object]" || tag === "[object Array]" || tag === "[object Promise]" ? "" : tag;
  };

  // The readable form of `value` if JSON cannot say it, else undefined. Getters and traps of the script may run.
  cage.readable = (value) => {
    return cage.values.walkAll(value, isBeyondJson) === undefined ? undefined : new Shower().show(value);
  };
})

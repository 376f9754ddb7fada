// A readable form for any value, within a budget of characters: JSON where JSON can say it, more where it cannot.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const { head } = cage.text;
  const MAX_DEPTH = 16;

  function nameOf(fn) {
    const descriptor = I.getOwnPropertyDescriptor(fn, "name");
    const name = descriptor === undefined ? "" : descriptor.value;
    return typeof name === "string" && name !== "" ? `[Function: ${head(name, 200)}]` : "[Function]";
  }

  function primitive(value) {
    switch (typeof value) {
      case "string":
        return I.jsonStringify(value);
      case "bigint":
        return I.String(value) + "n";
      case "symbol":
        return I.symbolToString(value);
      case "number":
        return value === 0 && 1 / value < 0 ? "-0" : I.String(value);
      default:
        return I.String(value);
    }
  }

  // `probe(value)`, or undefined where the probe throws because the value is of another class.
  function attempt(probe, value) {
    try {
      return probe(value);
    } catch {
      return undefined;
    }
  }

  class Writer {
    // Fields are defined, not set: no setter of the script is reached.
    text = "";
    left = 0;
    ancestors = cage.list();

    constructor(budget) {
      this.left = budget;
    }

    write(piece) {
      if (this.left <= 0) return;
      this.text += piece;
      this.left -= piece.length;
    }

    value(value) {
      if (typeof value === "function") return this.write(nameOf(value));
      if (typeof value === "string") return this.write(I.jsonStringify(head(value, this.left + 1)));
      if (typeof value !== "object" || value === null) return this.write(primitive(value));
      for (let i = 0; i < this.ancestors.length; i++) {
        if (this.ancestors[i] === value) return this.write("[Circular]");
      }
      if (this.ancestors.length >= MAX_DEPTH) return this.write("[Object]");
      this.ancestors[this.ancestors.length] = value;
      this.object(value);
      this.ancestors.length--;
    }

    object(value) {
      const special = this.special(value);
      if (special !== undefined) return this.write(special);
      if (I.isArray(value)) return this.array(value);
      if (typeof value.toJSON === "function") return this.value(value.toJSON(""));
      this.record(value);
    }

    // Built-in classes that JSON cannot say; undefined for any other object.
    special(value) {
      const tag = I.objectToString(value);
      if (tag === "[object Error]") return `[${cage.errors.headline(value)}]`;
      if (tag === "[object Date]") return attempt((v) => I.jsonStringify(I.dateToISOString(v)), value) ?? "Invalid Date";
      if (tag === "[object RegExp]") return attempt(I.regexpToString, value);
      if (tag === "[object Promise]") return "[Promise]";
      if (attempt(I.mapSize, value) !== undefined) return this.map(value);
      if (attempt(I.setSize, value) !== undefined) return this.set(value);
      return undefined;
    }

    map(value) {
      this.write(`Map(${I.mapSize(value)}){`);
      let first = true;
      I.mapForEach(value, (item, key) => {
        if (this.left <= 0) return;
        if (!first) this.write(",");
        first = false;
        this.value(key);
        this.write("=>");
        this.value(item);
      });
      return "}";
    }

    set(value) {
      this.write(`Set(${I.setSize(value)}){`);
      let first = true;
      I.setForEach(value, (item) => {
        if (this.left <= 0) return;
        if (!first) this.write(",");
        first = false;
        this.value(item);
      });
      return "}";
    }

    array(value) {
      this.write("[");
      for (let i = 0; i < value.length && this.left > 0; i++) {
        if (i > 0) this.write(",");
        this.value(value[i]);
      }
      this.write("]");
    }

    record(value) {
      const keys = I.ownKeys(value);
      let first = true;
      this.write("{");
      for (let i = 0; i < keys.length && this.left > 0; i++) {
        const key = keys[i];
        const descriptor = I.getOwnPropertyDescriptor(value, key);
        if (descriptor === undefined || !descriptor.enumerable) continue;
        if (!first) this.write(",");
        first = false;
        this.write((typeof key === "symbol" ? `[${I.symbolToString(key)}]` : I.jsonStringify(key)) + ":");
        this.value(value[key]);
      }
      this.write("}");
    }
  }

  I.setPrototypeOf(Writer.prototype, null);

  // The readable form of `value`, at most about `budget` characters. Getters, traps and toJSON of the script may run.
  function inspect(value, budget) {
    if (typeof value === "string") return head(value, budget);
    const writer = new Writer(budget);
    try {
      if (I.objectToString(value) === "[object Error]") return head(cage.errors.withStack(value), budget);
      writer.value(value);
    } catch (error) {
      writer.write(`[threw ${cage.errors.headline(error)}]`);
    }
    return head(writer.text, budget);
  }

  cage.inspect = inspect;
})

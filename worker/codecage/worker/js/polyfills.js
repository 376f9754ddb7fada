// Small own versions of what models take for granted and an engine without a host lacks: structuredClone,
// queueMicrotask, TextEncoder, TextDecoder, AbortController, crypto.randomUUID, performance.now, Error.captureStackTrace.
(function (cage) {
  "use strict";
  const I = cage.intrinsics;
  const { list } = cage;
  const { Date, RangeError, RegExp, Set, Uint8Array } = globalThis;
  const fromCharCode = String.fromCharCode;
  const typedArrayTag = I.uncurryThis(
    I.getOwnPropertyDescriptor(I.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag).get,
  );
  const cloneBuffer = I.uncurryThis(ArrayBuffer.prototype.slice);
  const subarray = I.uncurryThis(Uint8Array.prototype.subarray);
  const setAdd = I.uncurryThis(Set.prototype.add);

  function attempt(probe, value) {
    try {
      return probe(value);
    } catch {
      return undefined;
    }
  }

  class DOMException extends I.Error {
    constructor(message, name) {
      super(message);
      I.defineProperty(this, "name", { __proto__: null, value: name ?? "Error", configurable: true });
    }
  }

  const ERRORS = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  class Cloner {
    seen = new I.Map();

    clone(value) {
      if (typeof value === "function" || typeof value === "symbol") {
        throw new DOMException(`a ${typeof value} could not be cloned`, "DataCloneError");
      }
      if (typeof value !== "object" || value === null) return value;
      if (I.mapHas(this.seen, value)) return I.mapGet(this.seen, value);
      return this.builtIn(value) ?? this.record(value, I.isArray(value) ? [] : {});
    }

    builtIn(value) {
      const time = attempt(I.dateValue, value);
      if (time !== undefined) return this.keep(value, new Date(time));
      if (I.objectToString(value) === "[object RegExp]") return this.keep(value, new RegExp(value.source, value.flags));
      const buffer = attempt((each) => cloneBuffer(each, 0), value);
      if (buffer !== undefined) return this.keep(value, buffer);
      if (typedArrayTag(value) !== undefined) return this.keep(value, value.slice());
      if (attempt(I.mapSize, value) !== undefined) return this.map(value);
      if (attempt(I.setSize, value) !== undefined) return this.set(value);
      if (I.objectToString(value) === "[object Error]") return this.error(value);
      if (I.objectToString(value) === "[object Promise]") throw new DOMException("a promise could not be cloned", "DataCloneError");
      return undefined;
    }

    keep(value, copy) {
      I.mapSet(this.seen, value, copy);
      return copy;
    }

    map(value) {
      const copy = this.keep(value, new I.Map());
      I.mapForEach(value, (item, key) => I.mapSet(copy, this.clone(key), this.clone(item)));
      return copy;
    }

    set(value) {
      const copy = this.keep(value, new Set());
      I.setForEach(value, (item) => setAdd(copy, this.clone(item)));
      return copy;
    }

    // As the web does: the class by its name where it is a built-in one, and the message; the cause is cloned too.
    error(value) {
      const Class = ERRORS[I.String(value.name)] ?? I.Error;
      const copy = this.keep(value, new Class(I.String(value.message)));
      const cause = I.getOwnPropertyDescriptor(value, "cause");
      if (cause !== undefined) {
        I.defineProperty(copy, "cause", { __proto__: null, value: this.clone(value.cause), writable: true, configurable: true });
      }
      return copy;
    }

    record(value, copy) {
      this.keep(value, copy);
      const keys = I.ownKeys(value);
      for (let i = 0; i < keys.length; i++) {
        const descriptor = I.getOwnPropertyDescriptor(value, keys[i]);
        if (typeof keys[i] !== "string" || descriptor === undefined || !descriptor.enumerable) continue;
        const item = this.clone(value[keys[i]]);
        I.defineProperty(copy, keys[i], { __proto__: null, value: item, writable: true, enumerable: true, configurable: true });
      }
      if (I.isArray(value)) copy.length = value.length;
      return copy;
    }
  }

  I.setPrototypeOf(Cloner.prototype, null);

  function queueMicrotask(callback) {
    if (typeof callback !== "function") throw new I.TypeError("queueMicrotask takes a function");
    I.promiseThen(new I.Promise((resolve) => resolve()), () => callback());
  }

  function encodeUtf8(text) {
    const bytes = new Uint8Array(cage.text.utf8Length(text));
    let at = 0;
    for (let i = 0; i < text.length; i++) {
      let code = I.charCodeAt(text, i);
      if (code >= 0xd800 && code <= 0xdbff) code = 0x10000 + ((code - 0xd800) << 10) + (I.charCodeAt(text, ++i) - 0xdc00);
      if (code < 0x80) bytes[at++] = code;
      else {
        const more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        bytes[at++] = (more === 1 ? 0xc0 : more === 2 ? 0xe0 : 0xf0) | (code >> (6 * more));
        for (let shift = more - 1; shift >= 0; shift--) bytes[at++] = 0x80 | ((code >> (6 * shift)) & 0x3f);
      }
    }
    return bytes;
  }

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }

    encode(text = "") {
      return encodeUtf8(I.toWellFormed(I.String(text)));
    }
  }

  // The code point at `at` and its length in bytes; where they are not UTF-8, code -1 and what U+FFFD stands for: the
  // longest beginning of a sequence that could have been one.
  function decodeAt(bytes, at) {
    const first = bytes[at];
    if (first < 0x80) return { __proto__: null, code: first, length: 1 };
    const more = first < 0xc2 || first > 0xf4 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
    // The second byte alone decides whether the code point would be too small, too large, or half a surrogate pair.
    let lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    let highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    let code = first & (0x3f >> more);
    let length = 1;
    while (length <= more && bytes[at + length] >= lowest && bytes[at + length] <= highest) {
      code = (code << 6) | (bytes[at + length++] & 0x3f);
      lowest = 0x80;
      highest = 0xbf;
    }
    return { __proto__: null, code: more > 0 && length > more ? code : -1, length };
  }

  function bytesOf(source) {
    if (source === undefined) return new Uint8Array(0);
    if (typedArrayTag(source) === "Uint8Array") return source;
    if (typedArrayTag(source) !== undefined) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
    return new Uint8Array(source);
  }

  class TextDecoder {
    constructor(label = "utf-8", options = undefined) {
      const name = I.toLowerCase(I.String(label));
      if (name !== "utf-8" && name !== "utf8") throw new RangeError(`TextDecoder: only utf-8 is available, not ${label}`);
      this.fatal = options?.fatal === true;
    }

    get encoding() {
      return "utf-8";
    }

    decode(source) {
      let bytes = bytesOf(source);
      if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes = subarray(bytes, 3);
      let text = "";
      for (let at = 0; at < bytes.length;) {
        let { code, length } = decodeAt(bytes, at);
        if (code < 0 && this.fatal) throw new I.TypeError("the bytes are not UTF-8");
        if (code < 0) code = 0xfffd;
        text += code < 0x10000 ? fromCharCode(code)
          : fromCharCode(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
        at += length;
      }
      return text;
    }
  }

  class AbortSignal {
    #listeners = list();
    aborted = false;
    reason = undefined;
    onabort = null;

    throwIfAborted() {
      if (this.aborted) throw this.reason;
    }

    addEventListener(type, listener) {
      if (type === "abort" && typeof listener === "function") this.#listeners[this.#listeners.length] = listener;
    }

    removeEventListener(type, listener) {
      for (let i = 0; i < this.#listeners.length; i++) if (this.#listeners[i] === listener) this.#listeners[i] = undefined;
    }

    static abort(reason) {
      const controller = new AbortController();
      controller.abort(reason);
      return controller.signal;
    }

    static signal(signal, reason) {
      if (signal.aborted) return;
      signal.aborted = true;
      signal.reason = reason ?? new DOMException("This operation was aborted", "AbortError");
      const event = { type: "abort", target: signal };
      if (typeof signal.onabort === "function") signal.onabort(event);
      for (let i = 0; i < signal.#listeners.length; i++) signal.#listeners[i]?.(event);
    }
  }
  const raise = AbortSignal.signal;
  delete AbortSignal.signal;

  class AbortController {
    signal = new AbortSignal();

    abort(reason) {
      raise(this.signal, reason);
    }
  }

  function randomUUID() {
    let id = "";
    for (let i = 0; i < 36; i++) {
      if (i === 8 || i === 13 || i === 18 || i === 23) id += "-";
      else if (i === 14) id += "4";
      else id += "0123456789abcdef"[i === 19 ? 8 + I.floor(cage.random() * 4) : I.floor(cage.random() * 16)];
    }
    return id;
  }

  cage.expose("structuredClone", function structuredClone(value) { return new Cloner().clone(value); });
  cage.expose("queueMicrotask", queueMicrotask);
  cage.expose("DOMException", DOMException);
  cage.expose("TextEncoder", TextEncoder);
  cage.expose("TextDecoder", TextDecoder);
  cage.expose("AbortSignal", AbortSignal);
  cage.expose("AbortController", AbortController);
  cage.expose("crypto", I.freeze({ randomUUID }));
  const performance = {
    now: () => cage.now() - cage.startOfScript(),
    get timeOrigin() {
      return cage.startOfScript();
    },
  };
  cage.expose("performance", I.freeze(performance));
  I.defineProperty(I.Error, "captureStackTrace", {
    __proto__: null, value: () => {}, writable: true, configurable: true, enumerable: false,
  });
})

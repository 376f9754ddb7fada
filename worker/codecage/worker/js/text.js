// Text that crosses the boundary: its size in UTF-8, its well-formedness, the shape of JSON.
(function (cage) {
  "use strict";
  const { arrayJoin, charCodeAt, exec, indexOf, isArray, isSafeInteger, jsonParse, jsonStringify, slice, String } = cage.intrinsics;
  const NOT_ASCII = /[^\x00-\x7f]/;
  const LONG_NUMBER = /[0-9]{16}/;
  const MAX_READ = 1 << 23;

  // Bytes of `text` in UTF-8, once it is well-formed.
  function utf8Length(text) {
    const length = text.length;
    let bytes = length;
    if (exec(NOT_ASCII, text) === null) return bytes;
    for (let i = 0; i < length; i++) {
      const unit = charCodeAt(text, i);
      if (unit < 0x80) continue;
      bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
    }
    return bytes;
  }

  // Whether `text` takes more than `limit` bytes of UTF-8; cheap for short ones.
  function exceedsBytes(text, limit) {
    if (text.length > limit) return true;
    return text.length * 3 > limit && utf8Length(text) > limit;
  }

  // The longest beginning of `text` that fits into `limit` UTF-16 units and splits no character.
  function head(text, limit) {
    if (text.length <= limit) return text;
    // A rope of a gigabyte costs nothing until somebody reads it; then it takes all of its memory.
    if (text.length > MAX_READ) return slice(`[string of ${text.length} characters]`, 0, limit);
    const unit = limit > 0 ? charCodeAt(text, limit - 1) : 0;
    return slice(text, 0, unit >= 0xd800 && unit <= 0xdbff ? limit - 1 : limit);
  }

  // JSON.stringify writes a lone surrogate as an escape; other languages cannot read it, so it becomes U+FFFD.
  function wellFormedJson(json) {
    let at = indexOf(json, "\\ud");
    if (at < 0) return json;
    let result = "";
    let from = 0;
    while (at >= 0) {
      let slashes = 0;
      while (json[at - 1 - slashes] === "\\") slashes++;
      if (slashes % 2 === 0) {
        result += slice(json, from, at) + "\\ufffd";
        from = at + 6;
      }
      at = indexOf(json, "\\ud", slashes % 2 === 0 ? from : at + 1);
    }
    return result + slice(json, from);
  }

  // The end of the string literal that begins at `at` in a valid JSON text: the index of its closing quote.
  function endOfString(json, at) {
    let end = indexOf(json, '"', at + 1);
    for (;;) {
      let slashes = 0;
      while (json[end - 1 - slashes] === "\\") slashes++;
      if (slashes % 2 === 0) return end;
      end = indexOf(json, '"', end + 1);
    }
  }

  // The same text in memory of the engine's own: one that came from outside slows down every collection while it lives.
  function copy(text) {
    const parts = cage.list();
    parts[0] = text;
    parts[1] = "";
    return arrayJoin(parts, "");
  }

  const PIECE = 1 << 16;

  // The JSON of a long text, made in pieces: for a whole one the engine takes more than sixty times its size.
  function quote(text) {
    const parts = cage.list();
    parts[0] = '"';
    for (let at = 0; at < text.length;) {
      const piece = head(slice(text, at, at + PIECE + 1), PIECE);
      parts[parts.length] = slice(jsonStringify(piece), 1, -1);
      at += piece.length;
    }
    parts[parts.length] = '"';
    return arrayJoin(parts, "");
  }

  // Which of the two limits a valid JSON text without white space breaks: "depth", "items", or "" for none.
  function brokenShape(json, maxDepth, maxItems) {
    const length = json.length;
    if (length <= maxDepth && length <= maxItems) return "";
    let depth = 0;
    let items = 1;
    for (let i = 0; i < length; i++) {
      const char = json[i];
      if (char === '"') i = endOfString(json, i);
      else if (char === "[" || char === "{") {
        if (++depth > maxDepth) return "depth";
        if (json[i + 1] !== "]" && json[i + 1] !== "}") items++;
      } else if (char === "]" || char === "}") depth--;
      else if (char === "," || char === ":") items++;
      if (items > maxItems) return "items";
    }
    return "";
  }

  // One step of a path, as a script would write it.
  function step(holder, key) {
    if (isArray(holder)) return `[${key}]`;
    return exec(/^[A-Za-z_$][\w$]*$/, key) === null ? `[${jsonStringify(key)}]` : `.${key}`;
  }

  function isInexact(item, source) {
    if (typeof item !== "number" || isSafeInteger(item)) return false;
    return exec(/^-?[0-9]+$/, source) !== null && String(item) !== source;
  }

  // Parses JSON of a host; `onInexact(path, source)` hears of the first integer that a JavaScript number cannot hold.
  function parse(json, onInexact) {
    if (exec(LONG_NUMBER, json) === null) return jsonParse(json);
    let path = "";
    let whole = ""; // the same, from the object that the parser puts around everything
    let text = "";
    let holder;
    const value = jsonParse(json, function (key, item, context) {
      // What holds a value is visited after it, so the path grows from its end.
      if (text === "" ? isInexact(item, context.source) : item === holder) {
        if (text === "") text = context.source;
        path = whole;
        whole = step(this, key) + whole;
        holder = this;
      }
      return item;
    });
    if (text === "") return value;
    onInexact(path[0] === "." ? slice(path, 1) : path, text);
    // Parsed anew: a reviver loses keys like "__proto__".
    return jsonParse(json);
  }

  cage.text = { __proto__: null, copy, exceedsBytes, utf8Length, head, wellFormedJson, brokenShape, parse, quote, step };
})

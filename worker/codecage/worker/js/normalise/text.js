// The text of a script and the changes to it. A change never moves a line; an insertion is remembered, so that
// positions can be told in the text as it was sent.
(function (norm) {
  "use strict";
  const NOT_BREAK = /[^\n\r\u2028\u2029]/g;
  const BREAK = /[\n\r\u2028\u2029]/;
  const LINE_END = /\r\n|[\n\r\u2028\u2029]/g;
  const WIDE_SPACE = /\s/;
  const NAME_PART = /[\w$#\u0080-\uffff]/;

  // What makes a script impossible to run, with its place: 1-based, columns in UTF-16 units.
  class Refusal {
    constructor(message, line, column, hint, kind) {
      this.message = message;
      this.line = line;
      this.column = column;
      this.hint = hint ?? "";
      this.kind = kind ?? "syntax";
      this.isUnread = false; // the parser could make nothing of the text
    }
  }

  norm.refuse = (node, message, hint) => {
    const { line, column } = node.loc.start;
    throw new Refusal(message, line, column + 1, hint);
  };

  function spaces(text) {
    return BREAK.test(text) ? text.replace(NOT_BREAK, " ") : " ".repeat(text.length);
  }

  const isSpace = (code) =>
    code === 32 || (code >= 9 && code <= 13) || (code >= 160 && WIDE_SPACE.test(String.fromCharCode(code)));

  function endOfLine(source, at) {
    for (let i = at; i < source.length; i++) {
      const code = source.charCodeAt(i);
      if (code === 10 || code === 13 || code === 0x2028 || code === 0x2029) return i;
    }
    return source.length;
  }

  // The first position from `at` that is neither white space nor in a comment.
  function skipTrivia(source, at) {
    for (;;) {
      const code = source.charCodeAt(at);
      if (isSpace(code)) at++;
      else if (code === 47 && source.charCodeAt(at + 1) === 47) at = endOfLine(source, at);
      else if (code === 47 && source.charCodeAt(at + 1) === 42) {
        const end = source.indexOf("*/", at + 2);
        at = end < 0 ? source.length : end + 2;
      } else return at;
    }
  }

  // Behind trivia and any of `passed`, from `at`: the position of the next other token.
  function skipPast(source, at, passed) {
    let next = skipTrivia(source, at);
    while (next < source.length && passed.includes(source[next])) next = skipTrivia(source, next + 1);
    return next;
  }

  // The end of the identifier that begins at `at`, escapes included.
  function endOfName(source, at) {
    let end = at;
    for (;;) {
      const code = source.charCodeAt(end);
      if (code === 92 && source[end + 2] === "{") end = source.indexOf("}", end) + 1;
      else if (code === 92) end += 6;
      else if (NAME_PART.test(source.charAt(end)) && !isSpace(code)) end++;
      else return end;
    }
  }

  // The order of changes that meet at one place: what ends there, what goes between statements, what begins there, and
  // what is written over the text behind it.
  const RANKS = { CLOSES: 0, BETWEEN: 1, OPENS: 2 };
  const OVERWRITES = 3;
  const RANK_COUNT = 4;

  function positionAt(starts, offset) {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - starts[low] + 1 };
  }

  function lineStarts(source) {
    const starts = [0];
    for (const found of source.matchAll(LINE_END)) starts.push(found.index + found[0].length);
    return starts;
  }

  class Editor {
    constructor(source) {
      this.source = source;
      this.edits = [];
    }

    // Blanks a stretch. `first` and `last`, where given, are characters that take its ends.
    blank(start, end, first = "", last = "") {
      if (end <= start) return;
      this.overwrite(start, first + spaces(this.source.slice(start + first.length, end - last.length)) + last);
    }

    // Puts `text` over as many characters.
    overwrite(start, text) {
      this.edits.push({ start, end: start + text.length, text, place: start * RANK_COUNT + OVERWRITES });
    }

    // Puts `text` in between; the rank is one of RANKS.
    insert(at, text, rank = RANKS.CLOSES) {
      this.edits.push({ start: at, end: at, text, place: at * RANK_COUNT + rank });
    }

    // The changed text, and [line, column, width] of every insertion.
    finish() {
      const { source } = this;
      const edits = this.edits.sort((a, b) => a.place - b.place);
      if (edits.length === 0) return { body: source, insertions: [] };
      const starts = edits.some((edit) => edit.start === edit.end) ? lineStarts(source) : [];
      const parts = [];
      const insertions = [];
      let at = 0;
      for (const { start, end, text } of edits) {
        if (start > at) parts.push(source.slice(at, start));
        if (start === end) {
          const { line, column } = positionAt(starts, start);
          insertions.push([line, column, text.length]);
        }
        parts.push(start < at ? text.slice(at - start) : text);
        at = Math.max(at, end);
      }
      parts.push(source.slice(at));
      return { body: parts.join(""), insertions };
    }
  }

  norm.text = { Refusal, Editor, spaces, skipTrivia, skipPast, endOfName, endOfLine, lineStarts, positionAt,
    BREAK, RANKS };
})

// The code in a Markdown answer: one scan by line, so a flood of fences stays linear.
(function (norm) {
  "use strict";
  const { spaces, lineStarts, positionAt } = norm.text;
  const OPENING = /^[ \t]*(`{3,}|~{3,})[ \t]*([^`\r\n\u2028\u2029]*)$/;
  const STARTS_WITH_FENCE = /^[\s\ufeff]*(?:`{3}|~{3,}[ \t]*[\w+-]*[ \t]*(?:[\r\n]|$))/;
  const LANGUAGE = /^[ \t]*(?:javascript|typescript|js|ts|mjs)(?=[ \t])/;
  const CODE = /^(?:javascript|typescript|jsx?|tsx?|[mc]js|[mc]ts|node)\b/i;

  // What a block is worth: one that says it is code before one that says nothing, before one that is something else.
  const worth = (info) => (CODE.test(info) ? 2 : info === "" ? 1 : 0);

  const isBetter = (block, best) =>
    best === undefined || block.worth > best.worth || (block.worth === best.worth && block.size > best.size);

  function isClosing(line, mark) {
    const text = line.trim();
    return text.length >= mark.length && text === mark[0].repeat(text.length);
  }

  // The best fenced block of `source` as { start, end, line }, or undefined.
  function findBlock(source) {
    const starts = lineStarts(source);
    let best;
    let open;
    const close = (end) => {
      open.end = end;
      open.size = end - open.start;
      if (isBetter(open, best)) best = open;
      open = undefined;
    };
    for (let i = 0; i < starts.length; i++) {
      const next = starts[i + 1] ?? source.length;
      // A fence line is short; a long line is not looked at twice.
      const line = source.slice(starts[i], Math.min(next, starts[i] + 300)).trimEnd();
      if (open !== undefined) {
        if (isClosing(line, open.mark)) close(starts[i]);
        continue;
      }
      const found = OPENING.exec(i === 0 ? line.replace("\ufeff", "") : line);
      if (found !== null) open = { start: next, line: i + 1, mark: found[1], worth: worth(found[2].trim()) };
    }
    if (open !== undefined) close(source.length);
    return best;
  }

  // A fence that is opened and closed on one line, and nothing else.
  function onOneLine(source) {
    const text = source.trim();
    if (!text.startsWith("```") || !text.endsWith("```") || /[\r\n]/.test(text)) return undefined;
    let ticks = 3;
    while (text[ticks] === "`") ticks++;
    if (text.length <= 2 * ticks || !text.endsWith(text.slice(0, ticks))) return undefined;
    const at = source.indexOf("`");
    const skipped = LANGUAGE.exec(text.slice(ticks, ticks + 20))?.[0].length ?? 0;
    const { line } = positionAt(lineStarts(source), at);
    return { start: at + ticks + skipped, end: at + text.length - ticks, line };
  }

  // `source` with all outside of its best block blanked, as { text, line }; undefined if there is no fence.
  norm.unfence = (source) => {
    const block = onOneLine(source) ?? findBlock(source);
    if (block === undefined) return undefined;
    const { start, end, line } = block;
    const text = spaces(source.slice(0, start)) + source.slice(start, end) + spaces(source.slice(end));
    return { text, line };
  };

  // Thrown where a text that parses turns out to be one around a fence.
  norm.FENCE = { __proto__: null };

  norm.startsWithFence = (source) => STARTS_WITH_FENCE.test(source.slice(0, 2000));

  // A hashbang line is for a shell; behind a header it would be an error.
  norm.withoutHashbang = (source) => {
    const start = /^[\s\ufeff]*/.exec(source)[0].length;
    if (!source.startsWith("#!", start)) return source;
    const end = norm.text.endOfLine(source, start);
    return source.slice(0, start) + " ".repeat(end - start) + source.slice(end);
  };
})

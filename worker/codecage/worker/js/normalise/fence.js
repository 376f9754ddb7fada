// The code in a Markdown answer: one scan by line, so a flood of fences stays linear.
(function (norm) {
  "use strict";
  const { spaces, lineStarts, positionAt } = norm.text;
  const OPENING = /^[ \t]*(`{3,}|~{3,})[ \t]*([^`\r\n\u2028\u2029]*)$/;
  const STARTS_WITH_FENCE = /^[\s\ufeff]*(?:`{3}|~{3,}[ \t]*[\w+-]*[ \t]*(?:[\r\n]|$))/;
  const ONE_LINE = /^([\s\ufeff]*)(`{3,})((?:[ \t]*(?:javascript|typescript|js|ts|mjs)(?=[ \t]))?)(.*?)\2\s*$/;
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

  function onOneLine(source) {
    const text = source.trimEnd();
    if (text.length > 10000 || /[\r\n]/.test(text.trim())) return undefined;
    const found = ONE_LINE.exec(text);
    if (found === null) return undefined;
    const start = found[1].length + found[2].length + found[3].length;
    const { line } = positionAt(lineStarts(source), found[1].length);
    return { start, end: start + found[4].length, line };
  }

  // `source` with all outside of its best block blanked, as { text, line }; undefined if there is no fence.
  norm.unfence = (source) => {
    const block = onOneLine(source) ?? findBlock(source);
    if (block === undefined) return undefined;
    const { start, end, line } = block;
    const text = spaces(source.slice(0, start)) + source.slice(start, end) + spaces(source.slice(end));
    return { text, line };
  };

  norm.startsWithFence = (source) => STARTS_WITH_FENCE.test(source.slice(0, 2000));

  // A hashbang line is for a shell; behind a header it would be an error.
  norm.withoutHashbang = (source) => {
    const start = /^[\s\ufeff]*/.exec(source)[0].length;
    if (!source.startsWith("#!", start)) return source;
    const end = norm.text.endOfLine(source, start);
    return source.slice(0, start) + " ".repeat(end - start) + source.slice(end);
  };
})

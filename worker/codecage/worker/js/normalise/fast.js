// Plain JavaScript that needs no parser of ours. Only what is certain is taken; all else goes the long way, which
// comes to the same script.
(function (norm) {
  "use strict";
  const AsyncFunction = (async () => {}).constructor;
  // `<` that TypeScript could read as the beginning of type arguments, or that stands close to a name.
  const BEHIND_NAME = /[\w$)\]\u0080-\uffff\\]<(?!=)/;
  const OPENS_TYPES = /<(?!=)/;
  const CLOSES_TYPES = /(?<!=)>[ \t]*(?:[(`\r\n]|\/[/*])/g;
  const COMMENT_ADDRESS = /source(?:Mapping)?URL/;
  const CALL = /(?<![.\w$])(?:text|image|exit)\s*\(/;
  const SHADOW = /\b(?:let|const|var|function|class)\b[^=;()]{0,200}\b(?:text|image|exit)\b/;
  const MAY_CLASH = /\b(?:let|const|var|function|class)\b/;
  const TOOLS = /\btools\b/g;
  const INDIRECT = /\b(?:eval|Function|globalThis)\b/;
  const NAMED = /\??\.\s*([A-Za-z_$][\w$]*)/y;
  const KEYED = /(?:\?\.)?\[\s*(?:"([^"\\\r\n]*)"|'([^'\\\r\n]*)')\s*\]/y;
  const CALLED = /\(\s*(?:\{\s*name\s*:\s*)?(?:"([^"\\\r\n]*)"|'([^'\\\r\n]*)')\s*[,)}]/y;
  const RUN = /^(?:export[ \t]+)?(?:async[ \t]+)?function[ \t]+run[ \t]*\([ \t]*\)/m;

  function compiles(text) {
    try {
      new AsyncFunction(text);
      return true;
    } catch {
      return false;
    }
  }

  function mayHoldTypeArguments(source) {
    if (BEHIND_NAME.test(source)) return true;
    for (const { index } of source.matchAll(CLOSES_TYPES)) {
      if (OPENS_TYPES.test(source.slice(Math.max(0, index - 200), index))) return true;
    }
    return false;
  }

  // What follows `pattern` at `at`, as { text, end }.
  function matchAt(pattern, source, at) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    return found === null ? undefined : { text: found[1] ?? found[2], end: pattern.lastIndex };
  }

  function toolAt(source, at) {
    const named = matchAt(NAMED, source, at);
    if (named?.text !== "call") return named ?? matchAt(KEYED, source, at);
    return matchAt(CALLED, source, named.end);
  }

  // The tools that the source names in the plain forms; undefined where only the parser can tell them from text.
  function namedTools(source) {
    const found = new Set();
    if (INDIRECT.test(source)) return undefined;
    for (const match of source.matchAll(TOOLS)) {
      const line = source.slice(Math.max(source.lastIndexOf("\n", match.index), match.index - 400) + 1, match.index);
      // Within a text, a comment or a pattern it could be no call at all.
      if (/["'`/]/.test(line) || line.length >= 399) return undefined;
      const tool = toolAt(source, match.index + 5);
      if (tool === undefined) return undefined;
      found.add(tool.text);
    }
    return found.size > 0 && mayHoldLongTexts(source) ? undefined : [...found];
  }

  // Comments and texts over several lines.
  function mayHoldLongTexts(source) {
    if (source.includes("/*") || /\\[\r\n]/.test(source)) return true;
    if (!source.includes("`")) return false;
    return source.split("\n").some((line) => line.split("`").length % 2 === 0);
  }

  // Whether a `return` stands at the top level: the text falls into two at it, and each part is whole.
  function returnsAtTop(source) {
    const at = source.startsWith("return") ? 0 : source.lastIndexOf("\nreturn") + 1;
    if (at === 0 && !source.startsWith("return")) return false;
    if (!/^return\b/.test(source.slice(at, at + 7))) return false;
    const tail = source.slice(at);
    const before = source.slice(0, at);
    if (!compiles(tail) || !compiles(before)) return false;
    // Two parts that are whole make a whole, unless one declares or forbids what the other uses.
    return !(MAY_CLASH.test(tail) || before.includes("use strict")) || compiles(source);
  }

  // Whether `run` is a function of the top level that takes nothing and that nothing else names.
  function definesRun(source) {
    const found = RUN.exec(source);
    if (found === null || found[0].startsWith("export") || source.match(/\brun\b/g).length !== 1) return false;
    return compiles(source.slice(0, found.index)) && compiles(source.slice(found.index)) && compiles(source);
  }

  function formOf(source, entry) {
    if (entry === "run_function") {
      return definesRun(source) ? { epilogue: "return run();", entry: "function:run" } : undefined;
    }
    return returnsAtTop(source) ? { epilogue: "", entry: "body" } : undefined;
  }

  // The finished script, or undefined.
  norm.takeFast = (source, language, entry) => {
    if (source.includes("```") || COMMENT_ADDRESS.test(source) || (CALL.test(source) && SHADOW.test(source))) return undefined;
    if (language !== "javascript" && mayHoldTypeArguments(source)) return undefined;
    const tools = namedTools(source);
    if (tools === undefined) return undefined;
    const form = formOf(source, entry);
    if (form === undefined) return undefined;
    const computed = false;
    return { header: "", body: source, insertions: [], language: "javascript", notices: [], tools, computed, ...form };
  };
})

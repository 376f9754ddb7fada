// From the text that a model wrote to the text that the engine runs.
//
// normalise(source, options) takes options as JSON text, { language: "auto" | "typescript" | "javascript",
// entry: "any" | "body" | "run_function" }, and returns JSON text:
//
// { ok: { header, body, epilogue, insertions, language, entry, notices, tools, computed } }
//   The script is the body of an async function: the header on its first line, then `body` on lines of its own, which
//   are those of the source, then the epilogue on one line. `insertions` lists [line, column, width], in order, of what
//   stands in the body and not in the source. `language` is "typescript" if types were erased. `entry`
//   is "body", "last_expression", "function:NAME" or "default_export". `notices` are { code, message, line, column }
//   with the codes "code_fence", "erased_types", "shadowed_name" and "no_value". `tools` are the tools that the script
//   names; `computed` says that it may reach others.
// { error: { message, line, column, hint, kind } }
//   `kind` is "syntax" or "entry_point_missing"; line and column are 1-based, zeros where no place can be told.
(function (norm) {
  "use strict";
  const { Refusal, Editor } = norm.text;
  const SOURCE_URL = /^(\/[/*])[#@](?=\s*source(?:Mapping)?URL)/;

  // A comment that would rename the frames of the script is broken in place.
  function breakAddresses(comments, context) {
    for (const { start } of comments) {
      if (SOURCE_URL.test(context.source.slice(start, start + 40))) context.editor.blank(start + 2, start + 3);
    }
  }

  function eachName(pattern, take) {
    if (pattern === null || pattern === undefined) return;
    if (pattern.type === "Identifier") take(pattern);
    for (const item of pattern.properties ?? pattern.elements ?? []) eachName(item?.value ?? item, take);
    eachName(pattern.left ?? pattern.argument, take);
  }

  // A name of the service that the script takes for itself, where that hides what it seems to want.
  function noteShadows(program, { facts, notices }) {
    const take = (id) => {
      const { name } = id;
      if (name !== "tools" && !facts.called.has(name)) return;
      if (name !== "tools" && !["text", "image", "exit"].includes(name)) return;
      const what = name === "tools" ? "the tools" : `the function ${name}()`;
      notices.push({ code: "shadowed_name", message: `the script declares ${name}, which hides ${what} of the service`, ...norm.placeOf(id) });
    };
    for (const statement of program.body) {
      const item = norm.entry.declared(statement);
      for (const { id } of item.declarations ?? []) eachName(id, take);
      if (item.type === "FunctionDeclaration" || item.type === "ClassDeclaration") eachName(item.id, take);
    }
  }

  function makeContext(source, entry) {
    return { source, entry, editor: new Editor(source), facts: new norm.Facts(), notices: [], erased: undefined };
  }

  function finish(context, form) {
    const { facts, notices, erased } = context;
    const isTypeScript = erased !== undefined;
    if (isTypeScript) {
      notices.unshift({ code: "erased_types", message: "types were erased; they are not checked", ...norm.placeOf(erased) });
    }
    const { body, insertions } = context.editor.finish();
    const language = isTypeScript ? "typescript" : "javascript";
    const { header, epilogue, entry } = form;
    return { header, body, epilogue, insertions, language, entry, notices, tools: [...facts.tools], computed: facts.computed };
  }

  function takeFile(file, source, entry) {
    const context = makeContext(source, entry);
    const { program } = file;
    breakAddresses(file.comments, context);
    norm.walk.visitAll(program.body, context);
    const form = norm.chooseForm(program, context);
    noteShadows(program, context);
    return finish(context, form);
  }

  // The whole source is one expression, and no statement.
  function takeExpression(expression, source) {
    const context = makeContext(source, "any");
    breakAddresses(expression.comments ?? [], context);
    norm.walk.visit(expression, context);
    const statement = { start: 0, end: expression.end, expression };
    const program = { directives: [], body: [statement] };
    return finish(context, norm.entry.returnExpression(program, statement, new Map(), context));
  }

  // Throws a Refusal.
  function takeParsed(source, { language, entry }) {
    const found = norm.read(source, language);
    if (found.file !== undefined) return takeFile(found.file, source, entry);
    const expression = entry === "any" ? norm.readExpression(source, language) : undefined;
    if (expression !== undefined) return takeExpression(expression, source);
    throw found.refusal;
  }

  function takeFence(source, options) {
    const block = norm.unfence(source);
    if (block === undefined) return undefined;
    const taken = takeParsed(norm.withoutHashbang(block.text), options);
    const message = "the script was taken out of its code fence; the text around it is ignored";
    taken.notices.unshift({ code: "code_fence", message, line: block.line, column: 1 });
    return taken;
  }

  function take(source, options) {
    const text = norm.withoutHashbang(source);
    const fenced = norm.startsWithFence(text) ? takeFence(text, options) : undefined;
    if (fenced !== undefined) return fenced;
    const fast = norm.takeFast(text, options.language, options.entry);
    if (fast !== undefined) return fast;
    try {
      return takeParsed(text, options);
    } catch (error) {
      if (!error.isUnread && error !== norm.FENCE) throw error;
      const block = takeFence(text, options);
      if (block !== undefined) return block;
      throw norm.foreign(text) ?? error;
    }
  }

  function tell(error, source) {
    const { message, line, column, hint, kind } = error instanceof Refusal ? error : norm.refusalOf(error, source);
    return { message, line, column, hint, kind };
  }

  return (source, optionsText) => {
    const options = JSON.parse(optionsText);
    let result;
    try {
      result = { ok: take(source, options) };
    } catch (error) {
      result = { error: tell(error, source) };
    }
    // The engine lets everybody read the last text that a pattern was tried on.
    /^/.test("");
    return JSON.stringify(result);
  };
})

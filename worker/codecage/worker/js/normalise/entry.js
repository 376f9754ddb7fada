// How a script is to be run: as the body it is, by the value of its last expression, or through a function of its own.
(function (norm) {
  "use strict";
  const { uncast, isFunction } = norm;
  const { BETWEEN } = norm.text.RANKS;
  const NAMES = [
    "main", "run", "handler", "execute", "start", "entry", "entrypoint", "script", "program", "task", "job", "solution",
    "solve", "handle", "invoke", "perform", "process",
  ];
  const INPUT = new Set(["input", "inputs", "args", "params", "parameters", "data", "payload", "props", "event", "options"]);
  const GLOBALS = ["tools", "input", "text", "image", "console", "exit", "store", "load", "ALL_TOOLS"];
  const CONTEXT = GLOBALS.slice(0, 5);
  const DECLARATIONS = new Set(["FunctionDeclaration", "ClassDeclaration", "VariableDeclaration", "TSEnumDeclaration"]);
  const INPUT_VALUE = "(globalThis.input===undefined?{}:globalThis.input)";

  const property = (name) => (name === "input" ? `input:${INPUT_VALUE}` : `${name}:globalThis.${name}`);

  // The argument for one parameter, by its name.
  function argumentFor(param) {
    let node = param.type === "AssignmentPattern" ? param.left : param;
    if (node.type === "TSParameterProperty") node = node.parameter;
    if (node.type === "Identifier") {
      if (INPUT.has(node.name)) return INPUT_VALUE;
      if (GLOBALS.includes(node.name)) return `globalThis.${node.name}`;
      return `{${CONTEXT.map(property).join()}}`;
    }
    if (node.type !== "ObjectPattern") return "undefined";
    const keys = node.properties.map((item) => item.key?.name ?? item.key?.value);
    const known = GLOBALS.filter((name) => keys.includes(name));
    if (known.length === 0) return INPUT_VALUE;
    return `{${known.map(property).join()}}`;
  }

  // What a function of the script is called with: the names that it finds outside as well.
  function argumentsFor(node) {
    return node.params.filter((param) => param.name !== "this" && param.type !== "RestElement").map(argumentFor).join();
  }

  // A declaration behind its `export`, where there is one.
  const declared = (item) => (item.type.startsWith("Export") && item.declaration ? item.declaration : item);

  // The functions that the top level declares: name -> node.
  function topFunctions(statements) {
    const found = new Map();
    for (const item of statements.map(declared)) {
      if (item.type === "FunctionDeclaration" && item.id) found.set(item.id.name, item);
      for (const { id, init } of item.declarations ?? []) {
        const value = init ? uncast(init) : undefined;
        if (value !== undefined && isFunction(value) && id.type === "Identifier") found.set(id.name, value);
      }
    }
    return found;
  }

  // The function that nothing calls and that seems to be there to be called: by its name, or as the only one.
  function uncalledFunction(statements, functions, facts) {
    const free = [...functions.keys()].filter((name) => !facts.references.has(name) && !functions.get(name).generator);
    const named = NAMES.find((name) => free.includes(name));
    if (named !== undefined) return named;
    const isOnly = free.length === 1 && statements.every((item) => DECLARATIONS.has(declared(item).type));
    return isOnly ? free[0] : undefined;
  }

  const isCallable = (node) => node !== undefined && (isFunction(node) || node.type === "FunctionDeclaration");

  const plain = { header: "", epilogue: "", entry: "body" };

  // The value, or what it gives when it is a function of the script.
  const valueOf = (name, node) => (isCallable(node) ? `return ${name}(${argumentsFor(node)});` : `return ${name};`);

  const calling = (name, node) => ({ header: "", epilogue: valueOf(name, node), entry: `function:${name}` });

  const exporting = (name, node) => ({ header: "", epilogue: valueOf(name, node), entry: "default_export" });

  // Turns the statement into the value, without moving it: `return (` goes behind the statement in front of it.
  function returnStatement(program, statement, target, context) {
    const { editor, source } = context;
    const end = source[statement.end - 1] === ";" ? statement.end - 1 : statement.end;
    const [opening, closing] = isCallable(target) ? ["return ((", `)(${argumentsFor(target)}))`] : ["return (", ")"];
    editor.insert(end, closing, BETWEEN);
    const behind = endBefore(program, statement);
    if (behind === undefined) return { header: opening, epilogue: "", entry: "last_expression" };
    editor.insert(behind, `;${opening}`, BETWEEN);
    return { header: "", epilogue: "", entry: "last_expression" };
  }

  // The end of what stands in front of `statement` at the top level.
  function endBefore(program, statement) {
    let end;
    for (const item of [...program.directives, ...program.body]) if (item.start < statement.start) end = item.end;
    return end;
  }

  function returnExpression(program, statement, functions, context) {
    const value = uncast(statement.expression);
    // `void main()` would leave the call to itself.
    if (value.type === "UnaryExpression" && value.operator === "void" && value.argument.type === "CallExpression") {
      context.editor.blank(value.start, value.start + 4);
    }
    const target = value.type === "Identifier" ? functions.get(value.name) : value;
    return returnStatement(program, statement, target, context);
  }

  // `module.exports = value` becomes a variable of as many characters.
  function commonExport(item, functions, context) {
    const { left, right } = item.expression;
    const name = norm.shortName(context.source);
    context.editor.blank(item.start, left.end, `var ${name}`);
    const value = uncast(right);
    return exporting(name, value.type === "Identifier" ? functions.get(value.name) : value);
  }

  function isCommonExport({ start, expression }) {
    if (expression?.type !== "AssignmentExpression" || expression.operator !== "=") return false;
    const { left } = expression;
    return left.type === "MemberExpression" && !left.computed && left.object.name === "module"
      && left.property.name === "exports" && start === left.object.start;
  }

  // `export { main as default }`
  function namedDefault(statements, functions) {
    for (const item of statements) {
      const named = item.specifiers?.find((part) => (part.exported?.name ?? part.exported?.value) === "default");
      if (named !== undefined) return exporting(named.local.name, functions.get(named.local.name));
    }
    return undefined;
  }

  function defaultExport(statements, functions, context) {
    const node = statements.findLast((item) => item.type === "ExportDefaultDeclaration" && !norm.isTypeOnly(item));
    if (node !== undefined) {
      const value = uncast(node.declaration);
      const name = context.defaultName ?? value.id.name;
      return exporting(name, value.type === "Identifier" ? functions.get(value.name) : value);
    }
    const common = statements.findLast(isCommonExport);
    return common === undefined ? namedDefault(statements, functions) : commonExport(common, functions, context);
  }

  // A text alone is a directive to the parser.
  function returnDirective(program, context) {
    const last = program.directives.at(-1);
    if (last === undefined || last.value.value === "use strict") return undefined;
    return returnStatement(program, last, undefined, context);
  }

  norm.entry = { plain, calling, topFunctions, uncalledFunction, returnExpression, returnStatement, returnDirective,
    defaultExport, declared };
})

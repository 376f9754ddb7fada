// How a script is to be run: as the body it is, by the value of its last expression, or through a function of its own.
(function (norm) {
  "use strict";
  const { Refusal, skipTrivia, endOfName } = norm.text;
  const { uncast, isFunction, isTypeOnly } = norm;
  const NAMES = [
    "main", "run", "handler", "execute", "start", "entry", "entrypoint", "script", "program", "task", "job", "solution",
    "solve", "handle", "invoke", "perform", "process", "default",
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

  const call = (name, node) => `return ${name}(${argumentsFor(node)});`;

  const plain = { header: "", epilogue: "", entry: "body" };

  const calling = (name, node) => ({ header: "", epilogue: call(name, node), entry: `function:${name}` });

  // Turns the statement into the value, without moving it: `return (` goes behind the statement in front of it.
  function returnStatement(statement, behind, isCalled, node, context) {
    const { editor, source } = context;
    const end = source[statement.end - 1] === ";" ? statement.end - 1 : statement.end;
    editor.insert(end, isCalled ? `)(${argumentsFor(node)})` : ")", 1);
    const opening = isCalled ? "return ((" : "return (";
    if (isCalled) editor.insert(end, ")", 2);
    if (behind === undefined) return { ...plain, header: opening, entry: "last_expression" };
    editor.insert(behind, `;${opening}`, -1);
    return { ...plain, entry: "last_expression" };
  }

  // The end of what stands in front of `statement` at the top level.
  function endBefore(program, statement) {
    let end;
    for (const item of [...program.directives, ...program.body]) if (item.start < statement.start) end = item.end;
    return end;
  }

  function returnExpression(program, statement, functions, context) {
    let value = uncast(statement.expression);
    // `void main()` would leave the call to itself.
    if (value.type === "UnaryExpression" && value.operator === "void" && value.argument.type === "CallExpression") {
      context.editor.blank(value.start, value.start + 4);
    }
    const target = value.type === "Identifier" ? functions.get(value.name) : value;
    const isCalled = target !== undefined && isFunction(target) || target?.type === "FunctionDeclaration";
    return returnStatement(statement, endBefore(program, statement), isCalled, target, context);
  }

  // The result of `export default` and of `module.exports =`.
  function returnDefault({ node, equals }, value, functions, context) {
    const { editor, source } = context;
    const name = twoCharacters(source);
    editor.edits = editor.edits.filter((edit) => edit.start !== node.start || edit.end === edit.start);
    editor.blank(node.start, endOfName(source, node.start), `var ${name}`);
    if (equals !== undefined) {
      editor.edits = editor.edits.filter((edit) => edit.start !== equals || edit.end === edit.start);
      editor.blank(equals, equals + 7, "=");
    }
    if (/Declaration$/.test(value.type)) editor.insert(node.end, ";");
    const target = value.type === "Identifier" ? functions.get(value.name) : value;
    const isCalled = target !== undefined && (isFunction(target) || target.type === "FunctionDeclaration");
    return { ...plain, epilogue: isCalled ? call(name, target) : `return ${name};`, entry: "default_export" };
  }

  function twoCharacters(source) {
    for (const sign of "defghijklmnopqrstuvwxyzabcDEFGHIJKLMNOPQRSTUVWXYZABC0123456789_$") {
      if (!source.includes(`$${sign}`)) return `$${sign}`;
    }
    return "_$";
  }

  // `module.exports = value` as { node, value }, or undefined.
  function commonExport(item) {
    const { expression } = item;
    if (expression?.type !== "AssignmentExpression" || expression.operator !== "=") return undefined;
    const { left, right } = expression;
    const isExports = left.type === "MemberExpression" && !left.computed && left.object.name === "module"
      && left.property.name === "exports" && item.start === left.object.start;
    return isExports ? { node: item, left, value: uncast(right) } : undefined;
  }

  function defaultExport(statements, functions, context) {
    const node = statements.findLast((item) => item.type === "ExportDefaultDeclaration");
    if (node !== undefined) {
      const { declaration } = node;
      const name = declaration.id?.name;
      if (context.defaultAt !== undefined) return returnDefault(context.defaultAt, uncast(declaration), functions, context);
      const epilogue = declaration.type === "FunctionDeclaration" ? call(name, declaration) : `return ${name};`;
      return { ...plain, epilogue, entry: "default_export" };
    }
    const common = statements.map(commonExport).findLast((item) => item !== undefined);
    if (common === undefined || context.facts.names.has("require")) return undefined;
    context.editor.blank(common.left.object.end, common.left.end);
    return returnDefault({ node: common.node }, common.value, functions, context);
  }

  // `export { main as default }`
  function namedDefault(program, functions) {
    for (const item of program.body) {
      if (item.type !== "ExportNamedDeclaration" || item.source || item.exportKind === "type") continue;
      const found = item.specifiers.find((part) => (part.exported.name ?? part.exported.value) === "default");
      if (found === undefined) continue;
      const target = functions.get(found.local.name);
      const epilogue = target === undefined ? `return ${found.local.name};` : call(found.local.name, target);
      return { ...plain, epilogue, entry: "default_export" };
    }
    return undefined;
  }

  // A text alone is a directive to the parser.
  function returnDirective(program, context) {
    const last = program.directives.at(-1);
    if (last === undefined || last.value.value === "use strict") return undefined;
    return returnStatement(last, program.directives.at(-2)?.end, false, last, context);
  }

  const isObjectLike = (item) => item.type === "BlockStatement" && item.body.length === 1 && item.directives.length === 0
    && item.body[0].type === "LabeledStatement" && item.body[0].body.type === "ExpressionStatement";

  norm.entry = {
    plain, calling, call, topFunctions, uncalledFunction, returnExpression, returnStatement, returnDirective, defaultExport,
    namedDefault, endBefore, isObjectLike, declared, Refusal, skipTrivia, isTypeOnly,
  };
})

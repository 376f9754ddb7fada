// The choice among the entry forms, for each of the three ways a dialect may ask for them.
(function (norm) {
  "use strict";
  const { Refusal } = norm.text;
  const { isTypeOnly } = norm;
  const { plain, calling, topFunctions, uncalledFunction, declared } = norm.entry;
  const { returnExpression, returnStatement, returnDirective, defaultExport } = norm.entry;
  const HAS_OUTPUT = ["text", "image", "exit", "console"];

  // `{ ok: true }` at the end: to the parser a block with a label, to whoever wrote it an object.
  function isObjectLike(item, source) {
    if (item.type !== "BlockStatement" || item.body.length !== 1) return false;
    const only = item.body[0];
    return only.type === "LabeledStatement" && only.body.type === "ExpressionStatement" && source[only.end - 1] !== ";";
  }

  // Empty, or left without code: `export { a }` and what is for types only.
  const isNothing = (item) => isTypeOnly(item) || item.type === "EmptyStatement";

  function noValue(program, context) {
    const last = program.body.at(-1);
    if (last === undefined || HAS_OUTPUT.some((name) => context.facts.names.has(name))) return;
    const message = "the script has no value: end it with return, or with the expression that is its value";
    context.notices.push({ code: "no_value", message, ...placeOf(last) });
  }

  function placeOf(node) {
    const { line, column } = node.loc.start;
    return { line, column: column + 1 };
  }

  // The last expression, in front of functions that are declared below their use.
  function expressionAboveFunctions(statements) {
    const last = statements.findLast((item) => declared(item).type !== "FunctionDeclaration");
    return last?.type === "ExpressionStatement" ? last : undefined;
  }

  function anyForm(program, context) {
    const { facts } = context;
    const statements = program.body.filter((item) => !isNothing(item));
    const functions = topFunctions(statements);
    const exported = defaultExport(program.body, functions, context);
    if (exported !== undefined) return exported;
    if (facts.hasReturn) return plain;
    const last = statements.at(-1);
    if (last === undefined) return returnDirective(program, context) ?? plain;
    if (last.type === "ExpressionStatement") return returnExpression(program, last, functions, context);
    if (isObjectLike(last, context.source)) return returnStatement(program, last, undefined, context);
    const name = uncalledFunction(statements, functions, facts);
    if (name !== undefined) return calling(name, functions.get(name));
    const above = expressionAboveFunctions(statements);
    if (above !== undefined) return returnExpression(program, above, functions, context);
    noValue(program, context);
    return plain;
  }

  function bodyForm(program, context) {
    if (!context.facts.hasReturn) noValue(program, context);
    return plain;
  }

  const isAssignedRun = ({ expression }) => expression?.type === "AssignmentExpression"
    && expression.left.name === "run" && norm.isFunction(norm.uncast(expression.right));

  // The source defines `run`, and it is called once: by us, unless it does that itself at its end.
  function runForm(program, context) {
    const { facts } = context;
    const statements = program.body.filter((item) => !isNothing(item));
    const functions = topFunctions(statements);
    const assigned = statements.find(isAssignedRun);
    const run = functions.get("run") ?? (assigned && norm.uncast(assigned.expression.right));
    if (run === undefined) {
      const hint = "Put the script into async function run() { ... } and return its value from there; run is called by the service.";
      throw new Refusal("the script must define its entry point, the function run", 0, 0, hint, "entry_point_missing");
    }
    const uses = (facts.references.get("run") ?? 0) - (assigned === undefined ? 0 : 1);
    const last = statements.at(-1);
    if (uses > 0 && facts.hasReturn) return plain;
    const callsItself = last.type === "ExpressionStatement" && last !== assigned
      && /\brun\b/.test(context.source.slice(last.start, last.end));
    if (uses > 0 && callsItself) return returnExpression(program, last, functions, context);
    return calling("run", run);
  }

  norm.chooseForm = (program, context) => {
    if (context.entry === "run_function") return runForm(program, context);
    return context.entry === "body" ? bodyForm(program, context) : anyForm(program, context);
  };
  norm.placeOf = placeOf;
})

// The choice among the entry forms, for each of the three ways a dialect may ask for them.
(function (norm) {
  "use strict";
  const { Refusal } = norm.text;
  const { isTypeOnly } = norm;
  const {
    plain, calling, topFunctions, uncalledFunction, returnExpression, returnStatement, returnDirective, defaultExport,
    namedDefault, endBefore, isObjectLike, declared,
  } = norm.entry;
  const HAS_OUTPUT = ["text", "image", "exit", "console"];

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
    const exported = defaultExport(statements, functions, context) ?? namedDefault(program, functions);
    if (exported !== undefined) return exported;
    if (facts.hasReturn) return plain;
    const last = statements.at(-1);
    if (last === undefined) return returnDirective(program, context) ?? plain;
    if (last.type === "ExpressionStatement") return returnExpression(program, last, functions, context);
    if (isObjectLike(last)) return returnStatement(last, endBefore(program, last), false, last, context);
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
    if (uses > 0 && last.type === "ExpressionStatement" && last !== assigned) return returnExpression(program, last, functions, context);
    return calling("run", run);
  }

  norm.chooseForm = (program, context) => {
    if (context.entry === "run_function") return runForm(program, context);
    return context.entry === "body" ? bodyForm(program, context) : anyForm(program, context);
  };
  norm.placeOf = placeOf;
})

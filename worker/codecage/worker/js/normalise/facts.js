// What a script says about itself: names, references, a return at the top, the tools it names.
(function (norm) {
  "use strict";
  const { visitors, visit, visitChildren, visitAll } = norm.walk;
  const FUNCTIONS = new Set(["text", "image", "exit"]);
  const INDIRECT = new Set(["eval", "Function", "globalThis"]);

  class Facts {
    constructor() {
      this.depth = 0; // of functions
      this.hasReturn = false; // at the top level
      this.owner = undefined; // name of the function at the top level that is being visited
      this.references = new Map(); // name -> references from outside the function of that name
      this.names = new Set();
      this.called = new Set(); // those of the FUNCTIONS that are called
      this.tools = new Set();
      this.computed = false;
    }

    refer(name) {
      this.names.add(name);
      if (name !== this.owner) this.references.set(name, (this.references.get(name) ?? 0) + 1);
      if (INDIRECT.has(name)) this.computed = true;
    }

    declare(node) {
      this.names.add(node.name);
    }
  }

  // The text of a node that can only be one text.
  function constantText(node) {
    if (node?.type === "StringLiteral") return node.value;
    if (node?.type === "TemplateLiteral" && node.expressions.length === 0) return node.quasis[0].value.cooked;
    return undefined;
  }

  const isTools = (node) => node?.type === "Identifier" && node.name === "tools";

  const keyOf = (node) => (node.computed ? constantText(node.property) : node.property.name);

  // The tool named by the arguments of tools.call: ("name", ...) or ({ name: "name", ... }).
  function calledName(args) {
    const first = args[0];
    if (first?.type !== "ObjectExpression") return constantText(first);
    const found = first.properties.find((item) => !item.computed && (item.key?.name ?? item.key?.value) === "name");
    return constantText(found?.value);
  }

  function noteTool(name, facts) {
    if (name === undefined) facts.computed = true;
    else facts.tools.add(name);
  }

  function visitMember(node, context) {
    const { facts } = context;
    if (isTools(node.object)) {
      facts.refer("tools");
      const key = keyOf(node);
      // A call through tools.call is noted with its arguments; without them nobody knows.
      if (key === "call") facts.computed = facts.computed || context.callee !== node;
      else noteTool(key, facts);
    } else visit(node.object, context);
    if (node.computed) visit(node.property, context);
  }

  function visitCall(node, context) {
    const { facts } = context;
    const { callee } = node;
    context.callee = callee;
    if (callee.type === "Identifier" && FUNCTIONS.has(callee.name)) facts.called.add(callee.name);
    const isMember = callee.type === "MemberExpression" || callee.type === "OptionalMemberExpression";
    if (isMember && isTools(callee.object) && keyOf(callee) === "call") noteTool(calledName(node.arguments), facts);
    visit(callee, context);
    if (node.typeParameters) visit(node.typeParameters, context);
    visitAll(node.arguments, context);
  }

  // The `?` behind `{ a, b }` or `[a, b]`.
  function erasePatternMark(node, context) {
    const last = (node.properties ?? node.elements).findLast((item) => item !== null);
    const end = norm.text.skipPast(context.source, last === undefined ? node.start + 1 : last.end, ",]}");
    norm.eraseMark(node, end, "?", context);
  }

  // The names that a pattern binds; defaults and computed keys are visited as expressions.
  function visitPattern(node, context) {
    switch (node.type) {
      case "Identifier":
        context.facts.declare(node);
        norm.eraseMarks(node, context);
        break;
      case "ObjectPattern":
        for (const item of node.properties) {
          if (item.computed) visit(item.key, context);
          visitPattern(item.type === "RestElement" ? item : item.value, context);
        }
        break;
      case "ArrayPattern":
        for (const item of node.elements) if (item !== null) visitPattern(item, context);
        break;
      case "AssignmentPattern":
        visitPattern(node.left, context);
        visit(node.right, context);
        break;
      case "RestElement":
        visitPattern(node.argument, context);
        break;
      default:
        visit(node, context);
        return;
    }
    if (node.optional && node.type.endsWith("Pattern")) erasePatternMark(node, context);
    if (node.typeAnnotation) visit(node.typeAnnotation, context);
  }

  // const { a, b } = tools
  function noteTaken(pattern, facts) {
    facts.refer("tools");
    for (const item of pattern.properties) {
      const isNamed = item.type === "ObjectProperty" && !item.computed;
      noteTool(isNamed ? (item.key.name ?? String(item.key.value)) : undefined, facts);
    }
  }

  visitors.Identifier = (node, context) => {
    if (node.name === "tools") context.facts.computed = true;
    context.facts.refer(node.name);
    norm.eraseMarks(node, context);
    if (node.typeAnnotation) visit(node.typeAnnotation, context);
  };
  visitors.MemberExpression = visitMember;
  visitors.OptionalMemberExpression = visitMember;
  visitors.CallExpression = visitCall;
  visitors.OptionalCallExpression = visitCall;
  visitors.ObjectProperty = (node, context) => visitChildren(node, context, node.computed ? undefined : "key");
  visitors.LabeledStatement = (node, context) => visit(node.body, context);
  visitors.BreakStatement = () => {};
  visitors.ContinueStatement = () => {};
  visitors.VariableDeclarator = (node, context) => {
    visitPattern(node.id, context);
    if (node.definite) norm.eraseMark(node, norm.text.endOfName(context.source, node.id.start), "!", context);
    if (node.init === null || node.init === undefined) return;
    if (node.id.type === "ObjectPattern" && isTools(node.init)) noteTaken(node.id, context.facts);
    else {
      context.naming = norm.isFunction(norm.uncast(node.init)) ? node.id.name : undefined;
      visit(node.init, context);
      context.naming = undefined;
    }
  };
  visitors.CatchClause = (node, context) => {
    if (node.param) visitPattern(node.param, context);
    visit(node.body, context);
  };
  visitors.ReturnStatement = (node, context) => {
    if (context.facts.depth === 0) context.facts.hasReturn = true;
    if (node.argument) visit(node.argument, context);
  };

  norm.Facts = Facts;
  norm.isFunction = (node) => node.type === "FunctionExpression" || node.type === "ArrowFunctionExpression";
  norm.facts = { visitPattern, constantText };
})

// Types out, code left where it is. What is removed becomes blanks, with a `;` or a bracket where blanks alone would
// let the neighbours join into other code.
(function (norm) {
  "use strict";
  const { skipTrivia, skipPast, endOfName, BREAK } = norm.text;
  const { visitors, visit, visitChildren } = norm.walk;
  const { visitPattern } = norm.facts;
  const { OPENS } = norm.text.RANKS;
  const PRECEDENCE = {
    __proto__: null, "??": 1, "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "===": 6, "!==": 6, "<": 7,
    ">": 7, "<=": 7, ">=": 7, in: 7, instanceof: 7, "<<": 8, ">>": 8, ">>>": 8, "+": 9, "-": 9, "*": 10, "/": 10,
    "%": 10, "**": 11,
  };
  const CASTS = new Set(["TSAsExpression", "TSSatisfiesExpression"]);
  const UNARY = new Set(["UnaryExpression", "AwaitExpression"]);

  function erase(context, node, start, end, first, last) {
    context.erased ??= node;
    context.editor.blank(start, end, first, last);
  }

  // A `?` or `!` behind a name.
  norm.eraseMark = (node, from, mark, context, replacement) => {
    const at = skipTrivia(context.source, from);
    if (context.source[at] === mark) erase(context, node, at, at + 1, replacement);
  };

  norm.eraseMarks = (node, context) => {
    if (node.optional) norm.eraseMark(node, endOfName(context.source, node.start), "?", context);
  };

  norm.erase = erase;

  function eraseNode(node, context) {
    erase(context, node, node.start, node.end);
  }

  // A statement or a class member that is gone leaves a `;`, or what stands around it could join.
  norm.eraseWhole = (node, context) => erase(context, node, node.start, node.end, ";");

  // Whether the statement ends here only because of the line break, and the next line would go on without the type.
  function needsSemicolon(source, end) {
    const next = skipTrivia(source, end);
    return "([`".includes(source[next] ?? " ") && BREAK.test(source.slice(end, next));
  }

  // The expression behind casts that have no brackets of their own.
  function uncast(node) {
    while (CASTS.has(node.type) && !node.extra?.parenthesized) node = node.expression;
    return node;
  }

  norm.uncast = uncast;

  function visitCast(node, context) {
    const { source } = context;
    const start = skipPast(source, node.expression.end, ")");
    erase(context, node, start, node.end, needsSemicolon(source, node.end) ? ";" : "");
    visit(node.expression, context);
  }

  function group(node, context) {
    context.editor.insert(node.start, "(", OPENS);
    context.editor.insert(node.end, ")");
  }

  // `a + b as T / c` is (a + b) / c.
  function visitBinary(node, context) {
    const { left } = node;
    if (CASTS.has(left.type) && !left.extra?.parenthesized) {
      const inner = uncast(left);
      const strength = PRECEDENCE[node.operator];
      const isWeaker = inner.operator in PRECEDENCE && inner.left !== undefined
        && (PRECEDENCE[inner.operator] < strength || node.operator === "**");
      if (!inner.extra?.parenthesized && (isWeaker || (node.operator === "**" && UNARY.has(inner.type)))) group(inner, context);
    }
    visitChildren(node, context);
  }

  // <T>value
  function visitAssertion(node, context) {
    const { source } = context;
    const end = skipTrivia(source, node.typeAnnotation.end) + 1;
    const start = skipTrivia(source, end);
    const isFirst = node.start === context.statement || node.start === context.arrowBody;
    const opens = isFirst || BREAK.test(source.slice(node.start, start));
    erase(context, node, node.start, end, opens ? "(" : "");
    visit(node.expression, context);
    if (opens) context.editor.insert(node.end, ")");
  }

  function visitStatement(node, context) {
    context.statement = node.start;
    visit(node.expression, context);
  }

  function visitInstantiation(node, context) {
    visit(node.expression, context);
    const { start, end } = node.typeParameters;
    erase(context, node, start, end, needsSemicolon(context.source, end) ? ";" : "");
  }

  visitors.TSTypeAnnotation = eraseNode;
  visitors.TSTypeParameterDeclaration = eraseNode;
  visitors.TSTypeParameterInstantiation = eraseNode;
  visitors.TSAsExpression = visitCast;
  visitors.TSSatisfiesExpression = visitCast;
  visitors.TSTypeAssertion = visitAssertion;
  visitors.TSInstantiationExpression = visitInstantiation;
  visitors.TSNonNullExpression = (node, context) => {
    visit(node.expression, context);
    erase(context, node, node.end - 1, node.end);
  };
  // Three backticks at the beginning of a line are no template that tags another.
  visitors.TaggedTemplateExpression = (node, context) => {
    const { start } = node.quasi;
    const isFence = context.source.slice(start - 2, start + 1) === "```" && node.tag.end === start;
    if (isFence && /(?:^|[\r\n])[ \t]*$/.test(context.source.slice(Math.max(0, start - 100), start - 2))) throw norm.FENCE;
    visitChildren(node, context);
  };
  visitors.BinaryExpression = visitBinary;
  visitors.LogicalExpression = visitBinary;
  visitors.ExpressionStatement = visitStatement;

  // Parameters; `this` is one for types only.
  norm.visitParameters = (node, context) => {
    const { params } = node;
    const self = params[0];
    const hasSelf = self?.type === "Identifier" && self.name === "this";
    if (hasSelf) {
      const next = skipTrivia(context.source, self.end);
      erase(context, self, self.start, context.source[next] === "," ? next + 1 : self.end);
    }
    for (let i = hasSelf ? 1 : 0; i < params.length; i++) {
      if (params[i].decorators?.length) norm.refuseDecorator(params[i].decorators[0]);
      if (params[i].type === "TSParameterProperty") visitProperty(params[i], context);
      else visitPattern(params[i], context);
    }
  };

  function visitProperty(node, context) {
    erase(context, node, node.start, node.parameter.start);
    visitPattern(node.parameter, context);
  }

  // References to a function at the top level from within itself are not counted: recursion is no use of it.
  function within(context, name, visitParts) {
    const { facts } = context;
    const owner = facts.owner;
    if (facts.depth === 0) facts.owner = context.naming ?? name;
    context.naming = undefined;
    facts.depth++;
    visitParts();
    facts.depth--;
    facts.owner = owner;
  }

  function visitFunction(node, context) {
    if (node.declare) return norm.eraseWhole(node, context);
    if (node.id) context.facts.declare(node.id);
    within(context, node.id?.name, () => {
      if (node.typeParameters) visit(node.typeParameters, context);
      norm.visitParameters(node, context);
      if (node.returnType) visit(node.returnType, context);
      visit(node.body, context);
    });
  }

  function closingBracket(node, opening, source) {
    const last = node.params.at(-1);
    return skipPast(source, last === undefined ? opening + 1 : last.end, ",?");
  }

  // No line may end in front of the `(` of a generic arrow ...
  function openArrow(node, context) {
    const { source } = context;
    const { typeParameters } = node;
    if (!typeParameters) return skipTrivia(source, node.async ? node.start + 5 : node.start);
    const opening = skipTrivia(source, typeParameters.end);
    const isBroken = BREAK.test(source.slice(typeParameters.start, opening));
    if (isBroken) erase(context, typeParameters, typeParameters.start, opening + 1, "(");
    else visit(typeParameters, context);
    return opening;
  }

  // ... nor between its `)` and its `=>`.
  function eraseReturnType(node, opening, context) {
    const { source } = context;
    const { returnType } = node;
    const closing = closingBracket(node, opening, source);
    if (BREAK.test(source.slice(closing, returnType.end))) erase(context, returnType, closing, returnType.end, "", ")");
    else visit(returnType, context);
  }

  function visitArrow(node, context) {
    within(context, undefined, () => {
      const opening = openArrow(node, context);
      norm.visitParameters(node, context);
      if (node.returnType) eraseReturnType(node, opening, context);
      if (node.body.type !== "BlockStatement") context.arrowBody = node.body.start;
      visit(node.body, context);
    });
  }

  visitors.FunctionDeclaration = visitFunction;
  visitors.FunctionExpression = visitFunction;
  visitors.ArrowFunctionExpression = visitArrow;
  visitors.ObjectMethod = (node, context) => {
    if (node.computed) visit(node.key, context);
    visitFunction(node, context);
  };
  norm.visitFunction = visitFunction;
})

// Classes: modifiers, members without code, parameter properties.
(function (norm) {
  "use strict";
  const { skipTrivia, skipPast, endOfName } = norm.text;
  const { visitors, visit, visitAll } = norm.walk;
  const { erase, eraseWhole } = norm;
  const MODIFIERS = new Set(["public", "private", "protected", "readonly", "override", "declare", "abstract"]);
  const OTHERS = new Set(["static", "async", "get", "set"]);
  // A field of such a name and nothing behind it would turn the next member into an accessor or an async method.
  const JOINING = new Set(["get", "set", "static", "async", "accessor"]);

  norm.refuseDecorator = (node) =>
    norm.refuse(node, "decorators are not supported", "Remove the decorator, or call it as a function.");

  function checkDecorators(node) {
    if (node.decorators?.length) norm.refuseDecorator(node.decorators[0]);
  }

  // Blanks the modifiers of a member. One that comes first leaves a `;`: the member above may lack its own.
  function eraseModifiers(node, context) {
    const { source } = context;
    let at = node.start;
    while (at < node.key.start) {
      const behind = endOfName(source, at);
      const word = source.slice(at, behind);
      if (MODIFIERS.has(word)) erase(context, node, at, behind, at === node.start ? ";" : "");
      else if (!OTHERS.has(word)) return;
      at = skipTrivia(source, behind);
    }
  }

  // Blanks the `?` or `!` behind the key.
  function eraseMarks(node, context, first) {
    if (!node.optional && !node.definite) return false;
    const { source } = context;
    const at = skipPast(source, node.key.end, node.computed ? ")]" : "");
    if (source[at] !== "?" && source[at] !== "!") return false;
    erase(context, node, at, at + 1, first);
    return true;
  }

  function visitField(node, context) {
    checkDecorators(node);
    if (node.declare || node.abstract) return eraseWhole(node, context);
    eraseModifiers(node, context);
    const joins = !node.computed && !node.value && JOINING.has(node.key.name);
    const isMarked = eraseMarks(node, context, joins ? ";" : "");
    if (node.typeAnnotation) {
      const { start, end } = node.typeAnnotation;
      erase(context, node, start, end, joins && !isMarked ? ";" : "");
    }
    if (node.computed) visit(node.key, context);
    if (node.value) {
      // A value runs as the body of a function does.
      context.facts.depth++;
      visit(node.value, context);
      context.facts.depth--;
    }
  }

  // Where the assignments of parameter properties go, and what has to stand in front of them.
  function placeOfProperties(method, context) {
    const { body } = method;
    if (!context.isDerived) {
      const directive = body.directives.at(-1);
      return directive === undefined ? [body.start + 1, ""] : [directive.end, ";"];
    }
    const isSuper = (item) => item.type === "ExpressionStatement" && item.expression.type === "CallExpression"
      && item.expression.callee.type === "Super";
    const call = body.body.find(isSuper);
    if (call === undefined) {
      const hint = "Call super(...) as a statement of its own in the constructor, or assign the properties yourself.";
      norm.refuse(method, "parameter properties need a call of super", hint);
    }
    return [call.end, ";"];
  }

  function assignProperties(method, context) {
    let text = "";
    for (const item of method.params) {
      if (item.type !== "TSParameterProperty") continue;
      const { name } = item.parameter.left ?? item.parameter;
      text += `this.${name}=${name};`;
    }
    if (text === "") return;
    const [at, before] = placeOfProperties(method, context);
    context.editor.insert(at, before + text);
  }

  function visitMethod(node, context) {
    checkDecorators(node);
    if (node.declare || node.abstract) return eraseWhole(node, context);
    eraseModifiers(node, context);
    eraseMarks(node, context, "");
    if (node.computed) visit(node.key, context);
    if (node.kind === "constructor") assignProperties(node, context);
    norm.visitFunction(node, context);
  }

  function visitAccessor(node, context) {
    if (node.declare || node.abstract) return eraseWhole(node, context);
    norm.refuse(node, "accessor fields are not supported", "Write a plain field, or a get and a set method.");
  }

  function eraseImplements(node, context) {
    const { source } = context;
    const before = node.superTypeParameters ?? node.superClass ?? node.typeParameters ?? node.id;
    const from = before ? before.end : source.indexOf("class", node.start) + 5;
    const start = skipPast(source, from, ")");
    erase(context, node, start, node.implements.at(-1).end);
  }

  function visitClass(node, context) {
    checkDecorators(node);
    if (node.id) context.facts.declare(node.id);
    if (node.abstract) erase(context, node, node.start, endOfName(context.source, node.start));
    if (node.typeParameters) visit(node.typeParameters, context);
    if (node.superClass) visit(node.superClass, context);
    if (node.superTypeParameters) visit(node.superTypeParameters, context);
    if (node.implements?.length) eraseImplements(node, context);
    const { isDerived } = context;
    for (const member of node.body.body) {
      context.isDerived = Boolean(node.superClass);
      visit(member, context);
    }
    context.isDerived = isDerived;
  }

  visitors.ClassDeclaration = visitClass;
  visitors.ClassExpression = visitClass;
  visitors.ClassProperty = visitField;
  visitors.ClassPrivateProperty = visitField;
  visitors.ClassMethod = visitMethod;
  visitors.ClassPrivateMethod = visitMethod;
  visitors.ClassAccessorProperty = visitAccessor;
  visitors.TSDeclareMethod = (node, context) => {
    checkDecorators(node);
    eraseWhole(node, context);
  };
  visitors.TSIndexSignature = eraseWhole;
  visitors.StaticBlock = (node, context) => {
    context.facts.depth++;
    visitAll(node.body, context);
    context.facts.depth--;
  };
  visitors.Decorator = norm.refuseDecorator;
})

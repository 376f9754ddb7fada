// Imports, exports, namespaces and what else lives in declarations only.
(function (norm) {
  "use strict";
  const { skipTrivia, endOfName } = norm.text;
  const { visitors, visit, visitChildren } = norm.walk;
  const { eraseWhole } = norm;
  const NO_CODE = new Set([
    "TSInterfaceDeclaration", "TSTypeAliasDeclaration", "TSDeclareFunction", "TSNamespaceExportDeclaration",
  ]);

  const isTypeSpecifier = (item) => item.importKind === "type" || item.importKind === "typeof" || item.exportKind === "type";

  function isTypeImport(node) {
    if (node.importKind === "type" || node.importKind === "typeof") return true;
    return (node.specifiers?.length ?? 0) > 0 && node.specifiers.every(isTypeSpecifier);
  }

  function isTypeNamespace(node) {
    if (node.declare || node.body === undefined) return true;
    return node.body.type === "TSModuleBlock" ? node.body.body.every(isTypeOnly) : isTypeNamespace(node.body);
  }

  // Whether nothing of a statement is left at run time.
  function isTypeOnly(node) {
    if (NO_CODE.has(node.type) || node.declare === true) return true;
    switch (node.type) {
      case "ImportDeclaration":
        return isTypeImport(node);
      case "TSImportEqualsDeclaration":
        return node.importKind === "type";
      case "TSModuleDeclaration":
        return isTypeNamespace(node);
      case "ExportNamedDeclaration":
        if (node.exportKind === "type") return true;
        if (node.declaration) return isTypeOnly(node.declaration);
        return node.source === null || node.source === undefined || (node.specifiers.length > 0 && node.specifiers.every(isTypeSpecifier));
      case "ExportDefaultDeclaration":
        return isTypeOnly(node.declaration);
      default:
        return false;
    }
  }

  // What to write in place of an import.
  function adviceFor(node) {
    const from = node.source?.value ?? node.moduleReference?.expression?.value ?? "";
    const first = node.specifiers?.find((item) => !isTypeSpecifier(item));
    if (!/tools?\b/i.test(from)) return "Modules cannot be loaded here; what a script needs from outside, it gets from tools, as await tools.name({...}).";
    const isNamed = first?.type === "ImportSpecifier" && first.imported.type === "Identifier";
    return `The tools are there already: remove the import and write await tools.${isNamed ? first.imported.name : "name"}({...}).`;
  }

  const refuseImport = (node) => norm.refuse(node, "import is not supported", adviceFor(node));

  function visitImport(node, context) {
    if (isTypeOnly(node)) eraseWhole(node, context);
    else refuseImport(node);
  }

  function visitNamespace(node, context) {
    if (isTypeNamespace(node)) return eraseWhole(node, context);
    const name = node.id.name ?? node.id.value ?? "";
    norm.refuse(node, `the namespace ${name} holds values, which is not supported`, "Use an object: const name = { ... }.");
  }

  // Blanks the word `export` in front of a declaration.
  function eraseExport(node, context) {
    context.editor.blank(node.start, endOfName(context.source, node.start));
  }

  function visitNamedExport(node, context) {
    if (isTypeOnly(node) && (node.exportKind === "type" || node.declaration)) return eraseWhole(node, context);
    if (node.source) norm.refuse(node, "export from another module is not supported", adviceFor(node));
    if (!node.declaration) return context.editor.blank(node.start, node.end, ";");
    eraseExport(node, context);
    visit(node.declaration, context);
  }

  // Two characters that the script does not use as a name.
  norm.shortName = (source) => {
    for (const sign of "defghijklmnopqrstuvwxyzabcABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$") {
      if (!source.includes(`$${sign}`)) return `$${sign}`;
    }
    return "_$";
  };

  // `export default` becomes a variable of as many characters, unless it stands in front of a declaration with a name.
  function visitDefaultExport(node, context) {
    const { source, editor } = context;
    if (isTypeOnly(node)) return eraseWhole(node, context);
    const { declaration } = node;
    if (context.entry === "body") {
      norm.refuse(node, "export default is not supported here", "The script is the body of an async function: use return.");
    }
    const word = skipTrivia(source, endOfName(source, node.start));
    const isDeclaration = declaration.type.endsWith("Declaration");
    if (isDeclaration && declaration.id) {
      editor.blank(node.start, node.start + 6);
      editor.blank(word, word + 7);
    } else {
      context.defaultName = norm.shortName(source);
      editor.blank(node.start, node.start + 6, `var ${context.defaultName}`);
      editor.blank(word, word + 7, "=");
      if (isDeclaration) editor.insert(node.end, ";");
    }
    visit(declaration, context);
  }

  function visitVariables(node, context) {
    if (node.kind === "using" || node.kind === "await using") {
      norm.refuse(node, `${node.kind} declarations are not supported`, "Use try { ... } finally { ... }.");
    }
    if (node.declare) eraseWhole(node, context);
    else visitChildren(node, context);
  }

  visitors.VariableDeclaration = visitVariables;
  visitors.ImportDeclaration = visitImport;
  visitors.TSImportEqualsDeclaration = visitImport;
  visitors.TSModuleDeclaration = visitNamespace;
  visitors.ExportNamedDeclaration = visitNamedExport;
  visitors.ExportDefaultDeclaration = visitDefaultExport;
  visitors.ExportAllDeclaration = (node, context) => {
    if (node.exportKind === "type") eraseWhole(node, context);
    else norm.refuse(node, "export from another module is not supported", adviceFor(node));
  };
  visitors.TSExportAssignment = (node) => norm.refuse(node, "export = is not supported", "Use return, or export default.");
  for (const type of NO_CODE) visitors[type] = eraseWhole;
  visitors.MetaProperty = (node) => {
    if (node.meta.name === "import") norm.refuse(node, "import.meta is not supported", "A script has no address and no file of its own.");
  };

  norm.isTypeOnly = isTypeOnly;
})

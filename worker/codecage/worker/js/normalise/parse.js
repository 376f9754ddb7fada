// The parser, its options, and its errors in words that help to repair a script.
(function (norm) {
  "use strict";
  const { Refusal } = norm.text;
  const parser = norm.babel;
  const REFUSED_LATER = [["decorators", { version: "2023-11" }], "decoratorAutoAccessors", "explicitResourceManagement"];
  // As the engine reads the body of a function: sloppy, with `await` and `return`. Modules' syntax is refused by name.
  const OPTIONS = {
    sourceType: "script",
    allowAwaitOutsideFunction: true,
    allowImportExportEverywhere: true,
    allowNewTargetOutsideFunction: true,
    allowReturnOutsideFunction: true,
    allowUndeclaredExports: true,
    attachComment: false,
  };
  const JAVASCRIPT = { ...OPTIONS, plugins: REFUSED_LATER };
  const TYPESCRIPT = { ...OPTIONS, plugins: ["typescript", ...REFUSED_LATER] };
  // Faults of types alone: without them the code says what was meant.
  const TOLERATED = new Set([
    "AccessorCannotHaveTypeParameters", "ClassMethodHasReadonly", "ConstructorHasTypeParameters",
    "DuplicateAccessibilityModifier", "IndexSignatureHasAccessibility", "InvalidModifiersOrder", "InvalidModifierOnTypeMember",
    "InvalidModifierOnTypeParameter", "InvalidModifierOnTypeParameterPositions", "InvalidTupleMemberLabel",
    "NonAbstractClassHasAbstractMethod", "OptionalTypeBeforeRequired", "OverrideNotInSubClass", "PatternIsOptional",
    "PrivateElementHasAccessibility", "ReadonlyForMethodSignature", "SetAccessorCannotHaveOptionalParameter",
    "SetAccessorCannotHaveReturnType",
  ]);
  const DEEP = /too much recursion|call stack/i;
  const TAG = /<[A-Za-z][\w.-]*(?:\s+[\w-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|\{[^{}<>]*\}))?)*\s*\/?>|<>/;
  const BY_REASON = {
    __proto__: null,
    AwaitNotInAsyncContext: [
      "await is only valid in async functions and at the top level",
      "Make the function that uses await async, and await what it returns.",
    ],
    ImportMetaOutsideModule: ["import.meta is not supported", "A script is no module: it has no address and no file of its own."],
    UnexpectedUsingDeclaration: ["using declarations are not supported", "Use try { ... } finally { ... }."],
    UnsupportedParameterDecorator: ["decorators are not supported", "Remove the decorator, or call it as a function."],
    VarRedeclaration: [undefined, "Rename one of the two, or assign to the first instead of declaring it again."],
    UnterminatedString: [undefined, "A text over several lines needs backticks, or \\n within quotes."],
    UnterminatedTemplate: [undefined, "Close the template with a backtick; backticks within it are written \\`."],
  };

  const isDeep = (error) => DEEP.test(String(error?.message));

  function isTag(source, at) {
    const near = source.slice(Math.max(0, at - 200), at + 400);
    if (!TAG.test(near)) return false;
    const around = source.slice(Math.max(0, at - 200), at + 4000);
    return around.includes("</") || around.includes("/>");
  }

  function unexpected(message, source, at) {
    if (!message.startsWith("Unexpected token")) return message;
    const found = /[\w$]{1,40}|[^\s]/.exec(source.slice(at, at + 60));
    if (found === null || found.index > 0) return at >= source.trimEnd().length ? `${message}: the script ends here` : message;
    return `${message}, found ${JSON.stringify(found[0])}`;
  }

  function refusalOf(error, source) {
    if (isDeep(error)) return new Refusal("the script is nested too deeply", 0, 0, "Split it into smaller parts.");
    if (error?.loc === undefined) return new Refusal(`the script cannot be read (${error})`, 0, 0);
    const { line, column, index } = error.loc;
    const [told, hint] = BY_REASON[error.reasonCode] ?? [];
    const refusal = new Refusal(told ?? unexpected(error.message.replace(/\.? \(\d+:\d+\)$/, ""), source, index), line, column + 1, hint);
    if (told === undefined && isTag(source, index)) {
      refusal.message = `JSX is not supported: ${refusal.message}`;
      refusal.hint = "Build markup as text, in quotes or backticks.";
    }
    return refusal;
  }

  // The tree, read past what is tolerated. Throws the first error that is not.
  function parse(source, options) {
    try {
      return parser.parse(source, options);
    } catch (error) {
      if (!TOLERATED.has(error?.reasonCode)) throw error;
    }
    const file = parser.parse(source, { ...options, errorRecovery: true });
    const fault = file.errors.find((error) => !TOLERATED.has(error.reasonCode));
    if (fault !== undefined) throw fault;
    return file;
  }

  // { file } or { refusal, index }.
  function attempt(source, options) {
    try {
      return { file: parse(source, options) };
    } catch (error) {
      const refusal = refusalOf(error, source);
      refusal.isUnread = true;
      return { refusal, index: error?.loc?.index ?? -1 };
    }
  }

  // The whole text as one expression, such as a bare function or an object.
  function attemptExpression(source, options) {
    if (norm.text.skipPast(source, 0, ";") >= source.length) return undefined;
    try {
      return parser.parseExpression(source, options);
    } catch (error) {
      const end = error?.loc?.index ?? 0;
      // Semicolons and comments may follow.
      const isEnd = source[end] === ";" && norm.text.skipPast(source, end, ";") >= source.length;
      return isEnd ? attemptExpression(source.slice(0, end), options) : undefined;
    }
  }

  // Reads `source`: { file, expression?, isTypeScript } or { refusal }. What only looks like TypeScript is read as the
  // language says; what can only be TypeScript is read as that in any case.
  norm.read = (source, language) => {
    const both = language === "javascript" ? [JAVASCRIPT, TYPESCRIPT] : [TYPESCRIPT];
    let failure;
    for (const options of both) {
      const found = attempt(source, options);
      if (found.file !== undefined) return found;
      if (failure === undefined || found.index > failure.index) failure = found;
    }
    return failure;
  };

  norm.readExpression = (source, language) => {
    const first = language === "javascript" ? attemptExpression(source, JAVASCRIPT) : undefined;
    return first ?? attemptExpression(source, TYPESCRIPT);
  };

  norm.refusalOf = refusalOf;
})

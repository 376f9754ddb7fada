// An enum becomes a function that fills an object. Each member stays on its line, as a local constant, so that later
// members can name earlier ones.
(function (norm) {
  "use strict";
  const { skipTrivia, skipPast, RANKS } = norm.text;
  const { visitors, visit } = norm.walk;
  const RESERVED = new Set(
    ("arguments await break case catch class const continue debugger default delete do else enum eval export extends " +
      "false finally for function if implements import in instanceof interface let new null package private protected " +
      "public return static super switch this throw true try typeof undefined var void while with yield").split(" "),
  );
  const TEXTS = new Set(["StringLiteral", "TemplateLiteral"]);

  // The beginning of names that the script does not use.
  function memberStem(context) {
    if (context.memberStem === undefined) {
      context.memberStem = "$member";
      while (context.source.includes(context.memberStem)) context.memberStem += "$";
    }
    return context.memberStem;
  }

  function nameOf(member) {
    if (member.id.type === "Identifier") return member.id.name;
    if (member.id.type === "StringLiteral") return member.id.value;
    return norm.refuse(member, "this name of an enum member is not supported", "Use a plain name.");
  }

  // What follows the key where no value is given.
  function impliedValue(member, previous) {
    if (previous === undefined) return "=0";
    if (!previous.isText) return `=${previous.local}+1`;
    const hint = "The member above it is a text, so there is nothing to count on from.";
    return norm.refuse(member, `the enum member ${nameOf(member)} needs a value`, hint);
  }

  // Puts the member into the object: forwards, and backwards if it is a number.
  function store(object, key, local, isText, isNumber) {
    if (isText) return `;${object}[${key}]=${local};`;
    const backwards = `${object}[${object}[${key}]=${local}]=${key};`;
    return isNumber ? `;${backwards}` : `;${object}[${key}]=${local};if(typeof ${local}==="number")${backwards}`;
  }

  function writeMember(member, previous, enumName, context) {
    const { editor, source } = context;
    const name = nameOf(member);
    const isPlain = member.id.type === "Identifier" && !RESERVED.has(name) && name !== enumName;
    const local = isPlain ? name : memberStem(context) + (previous === undefined ? 0 : previous.index + 1);
    const key = JSON.stringify(name);
    editor.insert(member.start, isPlain ? "const " : `const ${local}`, RANKS.OPENS);
    if (!isPlain) editor.blank(member.id.start, member.id.end);
    const value = member.initializer;
    if (value) visit(value, context);
    else editor.insert(member.id.end, impliedValue(member, previous));
    const isText = Boolean(value) && TEXTS.has(value.type);
    const isNumber = value ? value.type === "NumericLiteral" : previous === undefined || previous.isNumber;
    // Behind what ends the value, or the constant would not be ended where it stands.
    editor.insert(member.end, store(enumName, key, local, isText, isNumber));
    const comma = skipTrivia(source, member.end);
    if (source[comma] === ",") editor.blank(comma, comma + 1);
    return { local, isText, isNumber, index: previous === undefined ? 0 : previous.index + 1 };
  }

  norm.writeEnum = (node, context) => {
    const { editor, source, facts } = context;
    const { name } = node.id;
    context.erased ??= node;
    facts.declare(node.id);
    editor.blank(node.start, node.id.start, "var ");
    const brace = skipPast(source, node.id.end, "");
    editor.insert(brace, `=(function(${name})`);
    facts.depth++;
    let previous;
    for (const member of node.body?.members ?? node.members) previous = writeMember(member, previous, name, context);
    facts.depth--;
    editor.insert(node.end - 1, `return ${name};`);
    // Declared twice, an enum goes on where it was.
    editor.insert(node.end, `)(${name}||{});`);
  };

  visitors.TSEnumDeclaration = (node, context) => {
    if (node.declare) norm.eraseWhole(node, context);
    else norm.writeEnum(node, context);
  };
})

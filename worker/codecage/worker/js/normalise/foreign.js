// Text that is no script at all: one clear word about it saves a model from repairing what cannot be repaired.
(function (norm) {
  "use strict";
  const { Refusal } = norm.text;
  const COMMANDS =
    "apt|awk|bash|cargo|cat|cd|chmod|cp|curl|docker|echo|find|git|go|grep|head|kubectl|ls|make|mkdir|mv|node|npm|" +
    "npx|pip3?|pnpm|ps|pwd|python3?|rm|sed|sh|sudo|tail|tar|touch|tree|uv|wc|wget|which|xargs|yarn|zsh";
  const KINDS = [
    [new RegExp(`^(?:\\$ +\\S|(?:${COMMANDS})(?:\\s+[-\\w./~"'$*<>|&@]|\\s*$)|#!.*\\b(?:ba|z|da)?sh\\b)`), "a shell command"],
    [/^#!.*python|^(?:async )?def \w+\(.*\).*:|^class \w+.*:\s*$|^from [\w.]+ import |^import [\w.]+(?: as \w+)?\s*$/, "Python"],
    [/^(?:if|elif|while|for|with) [^({].*:\s*$|^(?:try|else):\s*$|^print [^(]/, "Python"],
    [/^<(?:!doctype|html|head|body|\?xml)\b/i, "HTML or XML"],
    [/^(?:select|insert into|update|delete from|create table|with)\s[^=({;]*\s(?:from|values|set|as)\b/i, "SQL"],
    // The two classes share no character, so that the search stays linear.
    [/^(?![a-z]+ [\w$]+ *[=({[;])(?:[-*#>]+ |\d+\. )?["(]?[\p{L}\d_.'’-]+(?:[ ,;:"()/]+[\p{L}\d_.'’-]+){3,}[!?:,")]*$/u, "plain text"],
  ];

  // The refusal of a text that is recognised as something else; undefined for what may be a faulty script.
  norm.foreign = (source) => {
    const line = norm.text.lineStarts(source.slice(0, source.length - source.trimStart().length)).length;
    const lead = /^[\s\ufeff]*/.exec(source)[0];
    const column = lead.length - Math.max(lead.lastIndexOf("\n"), lead.lastIndexOf("\r")) - 1;
    const rest = source.slice(lead.length, lead.length + 400);
    const first = /^[^\r\n]*/.exec(rest)[0].trimEnd();
    const found = KINDS.find(([pattern]) => pattern.test(first));
    if (found === undefined) return undefined;
    const message = `this is not JavaScript or TypeScript: it reads like ${found[1]}`;
    const hint = "Send a script. It reaches the outside through tools alone, as await tools.name({...}).";
    return new Refusal(message, line, column + 1, hint);
  };
})

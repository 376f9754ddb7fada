// Compares the erasure of types with that of ts-blank-space, over the sources of two large libraries.
//
//     node scripts/compare_erasure.mjs [--keep FOLDER] [--show N]
//
// Needs Node 20 and npm; nothing of the project does. It installs ts-blank-space and the libraries into a folder of
// its own, which it removes at the end (--keep names one to use again). Both results are compared token by token,
// without comments, semicolons, imports and exports. The exit code is 1 if a file differs, is refused by ours alone, or
// comes out as no JavaScript or with another number of lines.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const LIBRARIES = ["rxjs", "effect"];
const PACKAGES = ["ts-blank-space@0.9", "typescript@5.9", "rxjs@7.8", "effect@3"];
const SOURCES = join(dirname(fileURLToPath(import.meta.url)), "..", "worker", "codecage", "worker");
const JAVASCRIPT = {
  sourceType: "module", strictMode: false, allowReturnOutsideFunction: true, allowUndeclaredExports: true,
  attachComment: false, errorRecovery: true, tokens: true,
};

function install(folder) {
  mkdirSync(folder, { recursive: true });
  if (existsSync(join(folder, "node_modules"))) return;
  writeFileSync(join(folder, "package.json"), '{"private": true}\n');
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  execFileSync("npm", ["install", ...flags, ...PACKAGES], { cwd: folder, stdio: "inherit" });
}

function loadNormaliser() {
  const folder = join(SOURCES, "js", "normalise");
  const babel = createRequire(import.meta.url)(join(SOURCES, "js", "vendor", "babel-parser", "index.js"));
  const norm = { __proto__: null, babel };
  const parts = /_PARTS = \(([^)]*)\)/.exec(readFileSync(join(SOURCES, "normaliser.py"), "utf8"))[1].match(/\w+/g);
  for (const part of parts) (0, eval)(readFileSync(join(folder, `${part}.js`), "utf8"))(norm);
  keepModules(norm);
  return norm;
}

// A library is made of modules: what a script may not say is taken out in silence here.
function keepModules(norm) {
  const { visitors, visit } = norm.walk;
  const remove = (node, context) => context.editor.blank(node.start, node.end, ";");
  const declared = (node, context) => {
    if (norm.isTypeOnly(node) || !node.declaration) return remove(node, context);
    context.editor.blank(node.start, node.declaration.start);
    visit(node.declaration, context);
  };
  for (const type of ["ImportDeclaration", "ExportAllDeclaration"]) visitors[type] = remove;
  visitors.ExportNamedDeclaration = declared;
  visitors.ExportDefaultDeclaration = declared;
}

function eraseOurs(norm, source) {
  const found = norm.read(source, "typescript");
  if (found.file === undefined) throw found.refusal;
  const context = { source, entry: "any", editor: new norm.text.Editor(source), facts: new norm.Facts(), notices: [] };
  norm.walk.visitAll(found.file.program.body, context);
  return context.editor.finish().body;
}

// The tokens of a JavaScript without what is not compared. Throws if it is none.
function essence(babel, text) {
  const file = babel.parse(text, JAVASCRIPT);
  const real = file.errors.filter((error) => error.reasonCode !== "VarRedeclaration");
  if (real.length > 0) throw real[0];
  const skipped = file.program.body
    .filter((node) => /^(?:Import|Export)/.test(node.type))
    .map((node) => [node.start, node.declaration ? node.declaration.start : node.end]);
  const found = [];
  for (const { start, end, type } of file.tokens) {
    while (skipped.length > 0 && start >= skipped[0][1]) skipped.shift();
    const isLeftOut = type.startsWith?.("Comment") || (skipped.length > 0 && start >= skipped[0][0]);
    const token = text.slice(start, end);
    if (!isLeftOut && token !== ";" && token !== "") found.push(token);
  }
  return found.join(" ");
}

function compare(norm, blankSpace, source, counts) {
  const refused = [];
  const theirs = blankSpace(source, (node) => refused.push(node));
  let ours;
  try {
    ours = eraseOurs(norm, source);
  } catch (error) {
    if (!(error instanceof norm.text.Refusal)) throw error;
    counts[refused.length > 0 ? "refused by both" : "refused by ours only"]++;
    return refused.length > 0 ? undefined : `refused: ${error.message} (${error.line}:${error.column})`;
  }
  const mine = essence(norm.babel, ours);
  if (ours.split(/\r\n|\r|\n/).length !== source.split(/\r\n|\r|\n/).length) return "another number of lines";
  if (refused.length > 0) {
    counts["turned into JavaScript by ours only"]++;
    return undefined;
  }
  const other = essence(norm.babel, theirs);
  counts[mine === other ? "the same" : "different"]++;
  return mine === other ? undefined : firstDifference(mine, other);
}

function firstDifference(mine, other) {
  let at = 0;
  while (mine[at] === other[at]) at++;
  return `ours  ${mine.slice(Math.max(0, at - 40), at + 60)}\n  other ${other.slice(Math.max(0, at - 40), at + 60)}`;
}

function sourcesOf(folder, library) {
  const base = join(folder, "node_modules", library);
  return readdirSync(base, { recursive: true })
    .filter((name) => /\.[mc]?ts$/.test(name) && !/\.d\.[mc]?ts$/.test(name) && !name.includes("node_modules"))
    .map((name) => join(base, name));
}

async function main() {
  const named = (flag) => (process.argv.includes(flag) ? process.argv[process.argv.indexOf(flag) + 1] : undefined);
  const kept = named("--keep");
  const folder = kept ?? mkdtempSync(join(tmpdir(), "compare-erasure-"));
  const counts = {
    files: 0, bytes: 0, "the same": 0, "turned into JavaScript by ours only": 0, "refused by both": 0,
    "refused by ours only": 0, different: 0, "no JavaScript": 0,
  };
  let shown = Number(named("--show") ?? 10);
  try {
    install(folder);
    const { default: blankSpace } = await import(createRequire(join(folder, "x.js")).resolve("ts-blank-space"));
    const norm = loadNormaliser();
    for (const path of LIBRARIES.flatMap((library) => sourcesOf(folder, library))) {
      const source = readFileSync(path, "utf8");
      counts.files++;
      counts.bytes += source.length;
      let problem;
      try {
        problem = compare(norm, blankSpace, source, counts);
      } catch (error) {
        counts["no JavaScript"]++;
        problem = String(error);
      }
      if (problem !== undefined && shown-- > 0) console.log(`${path}\n  ${problem}`);
    }
  } finally {
    if (kept === undefined) rmSync(folder, { recursive: true });
  }
  for (const [name, count] of Object.entries(counts)) console.log(`${String(count).padStart(9)}  ${name}`);
  process.exitCode = counts.different + counts["no JavaScript"] + counts["refused by ours only"] > 0 ? 1 : 0;
}

await main();

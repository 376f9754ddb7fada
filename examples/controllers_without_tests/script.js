// Every controller that no test class is named after. A controller is what carries the annotation, whatever its name.
const base = "controllers_without_tests/src";
const [annotated, testFiles] = await Promise.all([
  Promise.all(
    ["@RestController", "@Controller"].map((text) =>
      tools.search_files({ text, folder: `${base}/main`, name: "*.java", limit: 500 }),
    ),
  ),
  tools.list_files({ folder: `${base}/test`, name: "*.java" }),
]);

const className = (path) => path.split("/").pop().replace(/\.java$/, "");
const controllers = annotated
  .flat()
  .filter(({ text }) => /^@(Rest)?Controller\b/.test(text)) // not a mention in a comment
  .map(({ path }) => path);
const tested = new Set(testFiles.map((path) => className(path).replace(/(Tests?|IT)$/, "")));

const missing = controllers.filter((path) => !tested.has(className(path))).sort();
return { controllers: controllers.length, without_test: missing.map((path) => path.replace(`${base}/main/java/`, "")) };

"""The rules of the tree: what lies where, what a worker may load, how long things may be."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tree_sitter
import tree_sitter_javascript

ROOT = Path(__file__).resolve().parent.parent
PORTIONS = ("proto", "server", "worker", "client")
BESIDE_CODECAGE = {"proto": {"README.md"}, "client": {"README.md", "examples"}}
LONGEST_FUNCTION = 40
LONGEST_FILE = 400
JS_FUNCTIONS = frozenset(
    {
        "arrow_function",
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    }
)
# Put together from pieces, or this file would be its own first offender.
MACHINE_PATHS = re.compile(r"(?<![\w./-])/(?:wor" + r"k|ro" + r"ot)(?![\w-])")
REGISTRY_HOSTS = re.compile("|".join(["pypi" + r"\.org", "python" + r"hosted\.org", "npm" + r"js\.org"]))


@pytest.mark.parametrize("portion", PORTIONS)
def test_no_portion_turns_the_namespace_package_into_its_own(portion: str) -> None:
    assert not (ROOT / portion / "codecage" / "__init__.py").exists()


@pytest.mark.parametrize("portion", PORTIONS)
def test_beside_codecage_lies_nothing_but_what_is_allowed(portion: str) -> None:
    allowed = {"codecage"} | BESIDE_CODECAGE.get(portion, {"README.md"})
    present = {path.name for path in (ROOT / portion).iterdir() if path.name != "__pycache__"}
    assert present <= allowed


@pytest.mark.parametrize("package", ["proto/codecage/v1", "server/codecage/server", "worker/codecage/worker",
                                     "client/codecage/client", "client/codecage/mcp"])  # fmt: skip
def test_every_package_says_that_it_is_typed(package: str) -> None:
    assert (ROOT / package / "py.typed").is_file()


def test_no_worker_module_loads_grpc_or_the_code_of_another_side() -> None:
    script = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]: importlib.import_module(name)\n"
        "roots = ('grpc', 'google.rpc', 'codecage.server', 'codecage.client', 'codecage.v1')\n"
        "print(*sorted(m for m in sys.modules if any(m == r or m.startswith(r + '.') for r in roots)))\n"
    )
    modules = worker_modules()
    assert "codecage.worker.frames" in modules
    ended = subprocess.run(
        [sys.executable, "-c", script, *modules], capture_output=True, text=True, timeout=50, check=False
    )
    assert (ended.returncode, ended.stderr, ended.stdout.split()) == (0, "", [])


def test_generated_code_is_what_would_be_generated_now() -> None:
    if importlib.util.find_spec("grpc_tools") is None:
        pytest.skip("grpcio-tools is not installed in this environment (a run against the wheel)")
    ended = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "generate_proto.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_no_function_is_longer_than_the_ceiling() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{line} {name}: {length} lines"
        for path in program_files()
        for name, line, length in functions_of(path)
        if length > LONGEST_FUNCTION
    ]
    assert offenders == []


def test_no_file_is_longer_than_the_ceiling() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in program_files()}
    assert [f"{p.relative_to(ROOT)}: {n} lines" for p, n in lengths.items() if n > LONGEST_FILE] == []


def test_nothing_names_the_paths_of_one_machine_or_a_package_registry() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in project_files()
        for number, line in text_lines(path)
        if MACHINE_PATHS.search(line) or REGISTRY_HOSTS.search(line)
    ]
    assert offenders == []


def worker_modules() -> list[str]:
    """List every module of the worker, found by looking, so that a new one is covered."""
    base = ROOT / "worker"
    paths = sorted((base / "codecage" / "worker").rglob("*.py"))
    names = [".".join(path.relative_to(base).with_suffix("").parts) for path in paths]
    # Importing __main__ would run it.
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


def program_files() -> list[Path]:
    """List the sources that the ceilings hold for: not generated, not taken over from elsewhere."""
    folders = [ROOT / portion / "codecage" for portion in ("server", "worker", "client")]
    sources = [path for folder in folders for path in sorted(folder.rglob("*.[jp][sy]"))]
    assert sources
    return [path for path in sources if "vendor" not in path.parts]


def functions_of(path: Path) -> Iterator[tuple[str, int, int]]:
    """Yield name, first line and length of each function, docstring and nested functions not counted."""
    source = path.read_bytes()
    if path.suffix == ".py":
        yield from python_functions(ast.parse(source))
    else:
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_javascript.language()))
        yield from javascript_functions(parser.parse(source).root_node)


def python_functions(tree: ast.AST) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            nested = [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            apart = lines_apart([(n.lineno, n.end_lineno or n.lineno) for n in nested if n is not node])
            docstring = node.body[0] if ast.get_docstring(node) is not None else None
            spoken = (docstring.end_lineno or 0) - docstring.lineno + 1 if docstring else 0
            yield node.name, node.lineno, (node.end_lineno or 0) - node.lineno + 1 - apart - spoken


def javascript_functions(root: tree_sitter.Node) -> Iterator[tuple[str, int, int]]:
    for node in walk(root):
        if node.type in JS_FUNCTIONS and not is_module(node):
            first, last = node.start_point.row, node.end_point.row
            spans = [(n.start_point.row, n.end_point.row) for n in walk(node) if n.type in JS_FUNCTIONS]
            apart = lines_apart([span for span in spans if span != (first, last)])
            name = node.child_by_field_name("name")
            called = name.text.decode() if name is not None and name.text is not None else "(anonymous)"
            yield called, first + 1, last - first + 1 - apart


def is_module(node: tree_sitter.Node) -> bool:
    """Tell whether a function is only the closure that a whole file stands in: that has its own ceiling."""
    wrappers = {"parenthesized_expression", "expression_statement", "call_expression", "program"}
    if node.type not in {"function_expression", "arrow_function"}:
        return False
    above = node.parent
    while above is not None and above.type in wrappers:
        above = above.parent
    return above is None


def walk(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(current.children)


def lines_apart(spans: list[tuple[int, int]]) -> int:
    """Count the lines of functions within a function, each once; one-liners count for the outer one."""
    return len({line for first, last in spans if last > first for line in range(first, last + 1)})


def project_files() -> list[Path]:
    """List what git tracks or would track; without git, everything outside hidden folders."""
    if shutil.which("git") and (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            text=True,
            timeout=50,
            check=False,
        )
        if listed.returncode == 0:
            return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    skipped = {".git", ".venv", "build", "dist", "__pycache__"}
    paths = [path for path in ROOT.rglob("*") if path.is_file() and not skipped & set(path.parts)]
    return [path for path in paths if not path.is_symlink()]


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    if "vendor" in path.parts:
        return
    try:
        yield from enumerate(path.read_text().splitlines(), start=1)
    except UnicodeDecodeError:  # not text, so nothing was written there by hand
        return

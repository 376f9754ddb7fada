"""From the text that a model wrote to the text that the engine runs: types out, entry form found, or a clear refusal.

A normaliser is loaded into the engine once, before any script, and warmed up; a forked worker inherits it, compiled
code included. Only text crosses. It runs before the script does and cannot be reached by it.

    normaliser = Normaliser(engine)
    normaliser.warm_up(rounds=40)  # after the last collection before the fork, which would throw the compiled code away
    outcome = normaliser.normalise(source, language="auto", entry="any")
    if isinstance(outcome, Refusal): ...  # message, line, column, hint, kind
    else: compile(outcome.text)  # the body of an async function; its first line is line 0

The JavaScript side and what it returns are described in js/normalise/normalise.js.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from codecage.worker.engine import Engine

__all__ = ["Entry", "Language", "Normalised", "Normaliser", "Notice", "Refusal"]

Language = Literal["auto", "typescript", "javascript"]
"""How a source is read that could be either; what can only be TypeScript is read as that in any case."""
Entry = Literal["any", "body", "run_function"]
"""Any form; the body of an async function; a function `run` that the source defines."""

_FOLDER = Path(__file__).parent / "js"
_PARSER = _FOLDER / "vendor" / "babel-parser" / "index.js"
_PARTS = (
    "text",
    "fence",
    "parse",
    "foreign",
    "walk",
    "facts",
    "erase",
    "classes",
    "enums",
    "modules",
    "entry",
    "forms",
    "fast",
)


@dataclass(frozen=True, slots=True)
class Notice:
    """A remark on the script: code_fence, erased_types, shadowed_name or no_value."""

    code: str
    message: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a source cannot be run. Line and column count from 1; zeros where no place can be told."""

    message: str
    line: int
    column: int
    hint: str
    kind: Literal["syntax", "entry_point_missing"]


@dataclass(frozen=True)
class Normalised:
    """A script that can be run."""

    header: str
    body: str
    """Has the lines of the source."""
    epilogue: str
    insertions: tuple[tuple[int, int, int], ...]
    """Line, column and width of each text that stands in the body and not in the source, in order."""
    language: Literal["javascript", "typescript"]
    entry: str
    """body, last_expression, default_export or function:NAME."""
    notices: tuple[Notice, ...]
    tools: tuple[str, ...]
    """The tools that the script names."""
    computed: bool
    """Whether it may reach tools that it does not name."""

    @property
    def text(self) -> str:
        """The body of an async function. Its first line is the header, so the source begins on the second."""
        return f"{self.header}\n{self.body}\n{self.epilogue}"

    @cached_property
    def _by_line(self) -> dict[int, list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = {}
        for line, column, width in self.insertions:
            found.setdefault(line, []).append((column, width))
        return found

    def source_column(self, line: int, column: int) -> int:
        """The column of the source for one of the body; what was inserted lies where the insertion is."""
        shift = 0
        for at, width in self._by_line.get(line, ()):
            if column - shift <= at:
                break
            if column - shift <= at + width:
                return at
            shift += width
        return column - shift


class Normaliser:
    """The normaliser of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._normalise: Callable[[str, str], str] = engine.evaluate(_bundle(), "normalise.js")

    def normalise(self, source: str, language: Language = "auto", entry: Entry = "any") -> Normalised | Refusal:
        """Makes `source` ready to run, or tells why that cannot be."""
        answer = json.loads(self._normalise(source, json.dumps({"language": language, "entry": entry})))
        if "error" in answer:
            return Refusal(**answer["error"])
        return _normalised(answer["ok"])

    def warm_up(self, rounds: int) -> None:
        """Has the engine compile the normaliser, on samples of what models write."""
        samples = json.loads((_FOLDER / "normalise" / "samples.json").read_text(encoding="utf-8"))
        for _ in range(rounds):
            for sample in samples:
                self._normalise(sample["source"], json.dumps(sample["options"]))


def _normalised(found: dict[str, Any]) -> Normalised:
    insertions = tuple((line, column, width) for line, column, width in found.pop("insertions"))
    notices = tuple(Notice(**notice) for notice in found.pop("notices"))
    return Normalised(insertions=insertions, notices=notices, tools=tuple(found.pop("tools")), **found)


def _bundle() -> str:
    """One expression whose value is the JavaScript function `normalise`. It leaves nothing in the global scope."""
    parser = _PARSER.read_text(encoding="utf-8")
    parts = [(_FOLDER / "normalise" / f"{name}.js").read_text(encoding="utf-8").strip() for name in _PARTS]
    last = (_FOLDER / "normalise" / "normalise.js").read_text(encoding="utf-8").strip()
    return "\n".join(
        [
            "(function () {",
            "const module = { exports: {} };",
            f"(function (module, exports) {{\n{parser}\n}})(module, module.exports);",
            "const norm = { __proto__: null, babel: module.exports };",
            *[f"({part})(norm);" for part in parts],
            f"return ({last})(norm);",
            "})()",
        ]
    )

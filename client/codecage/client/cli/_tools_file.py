"""Tools from a Python file."""

import importlib.util
import inspect
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from codecage.client import Tool
from codecage.client._tools import as_tools

_MODULE = "codecage_tools_file"


class ToolsFileError(Exception):
    """The file gives no tools; the message says why."""


def load_tools(path: Path) -> list[Tool]:
    """The tools of a file: its list `TOOLS` if it has one, else the functions that its `__all__` names, else
    its own public functions whose parameters all have type hints.

    Runs the file. Raises ToolsFileError.
    """
    module = _load(path)
    try:
        found = _offered(module)
        if not found:
            raise ToolsFileError(f"{path} offers no tools: it has no public function with type hints")
        return list(as_tools(found).values())
    except (TypeError, ValueError) as error:
        raise ToolsFileError(f"{path}: {_line_of(str(error))}") from error


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ToolsFileError(f"there is no Python file {path}")
    module = importlib.util.module_from_spec(spec)
    # As for a script: its neighbours can be imported, and its classes found again by name.
    sys.modules[_MODULE] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the file raises is told in a line, with the place
        raise ToolsFileError(f"{path} cannot be loaded: {_told(error, spec.origin)}") from error
    return module


def _told(error: BaseException, file: str | None) -> str:
    kind = type(error).__name__
    if isinstance(error, SyntaxError):
        return f"{kind}: {error}"
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f" (line {line})" if line else ""
    if isinstance(error, SystemExit):
        return f"it exits{where}"
    text = _line_of(str(error))
    return f"{kind}: {text}{where}" if text else f"{kind}{where}"


def _line_of(text: str) -> str:
    return " ".join(text.split())


def _offered(module: ModuleType) -> list[Any]:
    """Raises ValueError or TypeError for a list that is none."""
    if "TOOLS" in vars(module):
        return _listed(module.TOOLS)
    exported = getattr(module, "__all__", None)
    if exported:
        if missing := [name for name in exported if not hasattr(module, name)]:
            raise ValueError(f"__all__ names {missing[0]!r}, which is not there")
        named = [getattr(module, name) for name in exported]
        return [each for each in named if isinstance(each, Tool) or inspect.isfunction(each)]
    return [value for name, value in vars(module).items() if _is_own_tool(name, value)]


def _listed(tools: Any) -> list[Any]:
    if not isinstance(tools, (list, tuple)):
        raise TypeError(f"TOOLS must be a list of functions and tools, not {type(tools).__name__}")
    if not tools:
        raise ValueError("TOOLS is empty")
    return list(cast("Sequence[Any]", tools))


def _is_own_tool(name: str, value: Any) -> bool:
    if name.startswith("_") or not inspect.isfunction(value) or value.__module__ != _MODULE:
        return False
    parameters = inspect.signature(value).parameters.values()
    return all(parameter.annotation is not parameter.empty for parameter in parameters)

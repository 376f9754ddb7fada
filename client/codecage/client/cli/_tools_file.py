"""Tools from a Python file."""

import importlib.util
import inspect
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from codecage.client import Tool, ToolLike

_MODULE = "codecage_tools_file"


class ToolsFileError(Exception):
    """The file gives no tools; the message says why."""


def load_tools(path: Path) -> list[ToolLike]:
    """The tools of a file: its list `TOOLS` if it has one, else the functions that its `__all__` names, else
    its own public functions whose parameters all have type hints.

    Runs the file. Raises ToolsFileError.
    """
    module = _load(path)
    found = _offered(module)
    if not found:
        raise ToolsFileError(f"{path} offers no tools: it has no public function with type hints")
    try:
        return [each if isinstance(each, Tool) else Tool.from_function(each) for each in found]
    except TypeError as error:
        raise ToolsFileError(f"{path}: {error}") from error


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
    except Exception as error:  # whatever the file raises is told in a line, with the place
        raise ToolsFileError(f"{path} cannot be loaded: {_told(error, path)}") from error
    return module


def _told(error: Exception, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error}"
    trace, line = error.__traceback__, None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    where = f" (line {line})" if line else ""
    return f"{type(error).__name__}: {error}{where}"


def _offered(module: ModuleType) -> list[Any]:
    listed = getattr(module, "TOOLS", None)
    if listed is not None:
        return list(listed)
    if exported := getattr(module, "__all__", None):
        named = [getattr(module, name) for name in exported]
        return [each for each in named if isinstance(each, Tool) or inspect.isfunction(each)]
    return [value for name, value in vars(module).items() if _is_own_tool(name, value)]


def _is_own_tool(name: str, value: Any) -> bool:
    if name.startswith("_") or not inspect.isfunction(value) or value.__module__ != _MODULE:
        return False
    parameters = inspect.signature(value).parameters.values()
    return all(parameter.annotation is not parameter.empty for parameter in parameters)

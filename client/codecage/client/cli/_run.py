"""`codecage run`: run one script."""

import math
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer

from codecage.client import StartOptions
from codecage.client.cli._server import ExitCode, ServerOption, client_of, complain, told_errors


def run(  # noqa: PLR0913  # each parameter is an option of the command line
    script: Annotated[str, typer.Argument(help="The script's file; - is standard input.")],
    *,
    dialect: Annotated[str, typer.Option(help="Which rules the script follows.")] = "standard",
    language: Annotated[
        Literal["auto", "javascript", "typescript"], typer.Option(help="The script's language.")
    ] = "auto",
    tools: Annotated[
        Path | None,
        typer.Option(metavar="FILE.py", help="Python file whose functions the script may call."),
    ] = None,
    input_json: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="The script's global `input`.")
    ] = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A limit: memory=64MiB, script_time=5s, calls=10, ..."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Time for everything, waiting for a worker included."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    server: ServerOption = None,
) -> None:
    """Run a script, and answer its calls with the tools of a Python file.

    Prints what the script writes, and its value.

    Exits with 0 if the script completed, 1 if not, 2 for wrong usage, 3 without a server, 130 after Ctrl-C.
    """
    from codecage.client.cli import _session

    options: StartOptions = {"dialect": dialect, "language": language, "deadline": timeout}
    if timeout is not None and not 0 < timeout < math.inf:
        raise complain(f"--timeout must be more than 0 and finite, not {timeout:g}", ExitCode.USAGE)
    client = client_of(server)
    source = _source(script)
    with _session.kept_clean(is_wanted=as_json):
        _add_checked(options, tools, input_json, limit or [])
    with told_errors(after_loss="; calls that were made may have had effects"):
        code = _session.run_script(client, source, options, as_json=as_json)
    raise typer.Exit(code)


def _source(script: str) -> str:
    try:
        data = sys.stdin.buffer.read() if script == "-" else Path(script).read_bytes()
        return data.decode()
    except OSError as error:
        raise complain(f"cannot read {script}: {error.strerror}", ExitCode.USAGE) from error
    except UnicodeDecodeError as error:
        message = f"{script} is not UTF-8: {error.reason} at byte {error.start}"
        raise complain(message, ExitCode.USAGE) from error


def _add_checked(options: StartOptions, tools: Path | None, input_json: str | None, limits: list[str]) -> None:
    import json

    from codecage.client.cli._limits import parse_limits
    from codecage.client.cli._tools_file import ToolsFileError, load_tools

    try:
        if limits:
            options["limits"] = parse_limits(limits)
        if input_json is not None:
            options["input"] = json.loads(input_json, parse_constant=_refuse_constant)
        if tools is not None:
            options["tools"] = load_tools(tools)
    except json.JSONDecodeError as error:
        raise complain(f"--input is not JSON: {error}", ExitCode.USAGE) from error
    except (ValueError, ToolsFileError) as error:
        raise complain(str(error), ExitCode.USAGE) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"--input is not JSON: there is no {name} in JSON")

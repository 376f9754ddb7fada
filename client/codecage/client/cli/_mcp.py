"""`codecage mcp`: an MCP server that gives its clients code mode over other MCP servers."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from codecage.client.cli._server import ExitCode, ServerOption, client_of, complain, told_errors

_TOKEN_VARIABLE = "CODECAGE_MCP_TOKEN"  # noqa: S105  # its name, not the token
_NEEDED = ("mcp", "httpx2", "uvicorn")


def mcp(
    config: Annotated[
        Path, typer.Option(metavar="FILE", help="JSON file with the servers behind this one, as `mcpServers`.")
    ],
    *,
    dialect: Annotated[
        Literal["standard", "goose", "sero", "devoxxgenie"] | None,
        typer.Option(help="Which tools are exposed, and which rules scripts follow. Stands above the file's."),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve Streamable HTTP at /mcp instead of standard input and output."),
    ] = None,
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], typer.Option(help="What is logged, to standard error.")
    ] = "info",
    server: ServerOption = None,
) -> None:
    """Serve MCP: code mode over the MCP servers of a file.

    Exits with 0 when the client is gone, 2 for a wrong configuration, 3 if there is no server to run scripts.
    """
    _check_extra()
    from codecage.client import Client
    from codecage.mcp.command import Choice, Refused, serve

    address = None if http is None else _address(http)
    choice = Choice(config, dialect, address, os.environ.get(_TOKEN_VARIABLE) or None, log_level)
    client = client_of(server)
    try:
        with told_errors(after_loss="; calls that were made may have had effects"):
            serve(choice, client, None if server else Client.local)
    except Refused as error:
        raise complain(str(error), ExitCode.USAGE) from error


def _check_extra() -> None:
    import importlib.util

    if missing := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        message = f"`codecage mcp` needs {' and '.join(missing)}: pip install 'codecage[mcp]'"
        raise complain(message, ExitCode.USAGE)


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise complain(f"--http must be HOST:PORT, not {text!r}", ExitCode.USAGE)
    return host.removeprefix("[").removesuffix("]"), int(port)

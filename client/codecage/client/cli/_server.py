"""Which server a command talks to, and how it tells that there is none."""

import os
import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from enum import IntEnum
from typing import Annotated, TypeAlias

import typer

from codecage.client import (
    Client,
    CodecageError,
    FateUnknown,
    InvalidRequest,
    NotRun,
    PreconditionFailed,
)

_CONNECT_SECONDS = 3.0
_HOST_AND_PORT = re.compile(r"(?:[^\s:/\[\]]+|\[[^\s/\[\]]+\]):([0-9]{1,5})")


class ExitCode(IntEnum):
    """What the commands exit with."""

    COMPLETED = 0
    NOT_COMPLETED = 1
    USAGE = 2
    NO_SERVER = 3
    INTERRUPTED = 130


ServerOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="CODECAGE_SERVER",
        metavar="ADDRESS",
        help="A running server: unix:/path or host:port. Without it, one is started for this command.",
    ),
]


def client_of(server: str | None) -> Client:
    """A client of the named server, or of one of its own."""
    if not server:
        return Client.local()
    _check_address(server)
    return Client.connect(server, connect_timeout=_CONNECT_SECONDS)


def _check_address(server: str) -> None:
    """Nobody is waited for at an address where nobody can be."""
    if server.startswith("unix:") and server != "unix:":
        path = server.removeprefix("unix:").removeprefix("//")
        if not os.path.exists(path):  # noqa: PTH110  # in contrast to Path.exists, it never raises
            message = (
                f"no server at {server}: there is no such socket; start one with `codecage serve --listen {server}`"
            )
            raise complain(message, ExitCode.NO_SERVER)
        return
    match = _HOST_AND_PORT.fullmatch(server)
    if match is None or not 0 < int(match[1]) < 65536:
        message = f"no server can be at {server!r}: it is neither unix:PATH nor HOST:PORT"
        raise complain(message, ExitCode.USAGE)


def complain(message: str, code: ExitCode) -> typer.Exit:
    """Say what is wrong and return the exception to raise."""
    print(f"codecage: {message}", file=sys.stderr)
    return typer.Exit(code)


@contextmanager
def told_errors(after_loss: str = "") -> Generator[None]:
    """Turn what the library raises into a message and an exit code. `after_loss` follows if the server was lost."""
    try:
        yield
    except InvalidRequest as error:
        raise complain(_told_violations(error), ExitCode.USAGE) from error
    except PreconditionFailed as error:
        raise complain(f"not run: {error}", ExitCode.USAGE) from error
    except NotRun as error:
        again = f"; try again in {error.retry_after:g} s" if error.retry_after is not None else ""
        raise complain(f"not run: {error}{again}", ExitCode.NO_SERVER) from error
    except FateUnknown as error:
        raise complain(f"the server was lost: {error}{after_loss}", ExitCode.NO_SERVER) from error
    except CodecageError as error:
        raise complain(str(error), ExitCode.NO_SERVER) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(ExitCode.INTERRUPTED) from error


def _told_violations(error: InvalidRequest) -> str:
    if not error.violations:
        return f"the request was refused: {error}"
    lines = (f"\n  {violation.field}: {violation.reason}" for violation in error.violations)
    return f"the request was refused:{''.join(lines)}"

"""`codecage serve` and `codecage doctor`: become a program of the server."""

import os
import sys
from typing import NoReturn

import typer

from codecage.client.cli._server import ExitCode, complain


def serve(context: typer.Context) -> None:
    """Run a server here, until it is told to stop.

    Every option goes to the server: see `codecage serve --help`.
    """
    _become("codecage.server", context)


def doctor(context: typer.Context) -> None:
    """Show what shields scripts on this machine, and try to break out of a worker.

    Takes the options of `codecage serve`. Exit code 0 only if every required layer holds and every escape failed.
    """
    _become("codecage.server.doctor", context)


def _become(module: str, context: typer.Context) -> NoReturn:
    from codecage.client._local import missing_requirements

    if missing := missing_requirements():
        raise complain(missing, ExitCode.USAGE)
    # Another program: the client knows nothing of the server but its protocol. No shell is wanted (S606).
    os.execv(sys.executable, [sys.executable, "-m", module, *context.args])  # noqa: S606

"""`codecage serve`: become a server."""

import os
import sys

import typer


def serve(context: typer.Context) -> None:
    """Run a server here, until it is told to stop.

    Every option goes to the server: see `codecage serve --help`.
    """
    # Another program: the client knows nothing of the server but its protocol. No shell is wanted (S606).
    os.execv(sys.executable, [sys.executable, "-m", "codecage.server", *context.args])  # noqa: S606

"""The command `codecage`. Needs the package's `cli` extra; the library does not."""

import importlib.util
import os
import sys

USAGE_ERROR = 2
INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit: 0 completed, 1 script did not complete, 2 wrong usage, 3 no server.

    Ctrl-C exits with 130.
    """
    try:
        _main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _main() -> None:
    if sys.platform != "linux":
        sys.exit(_told(f"codecage runs on Linux only, not on {sys.platform}"))
    if missing := [name for name in ("typer", "rich") if importlib.util.find_spec(name) is None]:
        sys.exit(_told(f"the command line needs {' and '.join(missing)}: pip install 'codecage[cli]'"))
    # gRPC tells of every connection that a server closes, which is how each command ends.
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from codecage.client.cli._app import app

    app()


def _told(message: str) -> int:
    print(f"codecage: {message}", file=sys.stderr)
    return USAGE_ERROR

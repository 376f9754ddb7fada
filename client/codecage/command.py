"""The command's first step, which loads next to nothing: Ctrl-C while the rest is loaded says nothing."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit, as codecage.client.cli.main does."""
    try:
        from codecage.client.cli import main as run

        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)

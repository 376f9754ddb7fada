"""Starts the service: arguments, logging, exit code."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> int:
    """Exit code 0 after a drain, 1 if the service could not start, 2 for wrong arguments, 130 if interrupted before."""
    if sys.platform != "linux":
        print(f"codecage serve runs on Linux only; this is {sys.platform}", file=sys.stderr)
        return 1
    try:
        import uvloop
    except ModuleNotFoundError:
        print("codecage serve needs the extra `server`: pip install 'codecage[server]'", file=sys.stderr)
        return 1

    from codecage.server.config import load_settings  # after the check of the system
    from codecage.server.logs import configure_logs
    from codecage.server.orphans import adopt_orphans
    from codecage.server.starting import ServerError, start_and_serve

    settings = load_settings(sys.argv[1:])
    configure_logs(settings.log_level, settings.log_format)
    adopt_orphans()
    try:
        uvloop.run(start_and_serve(settings))
    except ServerError as error:
        print(f"codecage serve: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # before it could be asked to drain
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

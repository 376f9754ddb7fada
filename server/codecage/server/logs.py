"""Log lines: readable on a terminal, JSON elsewhere. Never a script's or a tool's content at level info and above."""

from __future__ import annotations

import contextlib
import logging
import sys
from typing import TextIO, cast

import structlog

__all__ = ["configure_logs"]


class _Forgiving:
    """A stream that goes on when nobody reads it any more: no run may depend on its log line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            return self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()


def configure_logs(level: str, form: str) -> None:
    """Sends log lines of at least `level` to standard error, in the form "text", "json" or "auto"."""
    is_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
        if is_text
        else structlog.processors.JSONRenderer(sort_keys=False)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.WriteLoggerFactory(cast("TextIO", _Forgiving(sys.stderr))),
        cache_logger_on_first_use=True,
    )

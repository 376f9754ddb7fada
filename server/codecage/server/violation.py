"""What a worker does that no honest worker does."""

from __future__ import annotations

__all__ = ["ProtocolViolation"]


class ProtocolViolation(Exception):
    """The worker sent what no honest worker sends. It is killed, and the run ends as worker lost."""

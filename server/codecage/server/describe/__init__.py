"""Describe: what a model is told of a catalogue in a dialect. See `answer.py` for the whole of it."""

from codecage.server.describe.answer import describe

__all__ = ["describe"]

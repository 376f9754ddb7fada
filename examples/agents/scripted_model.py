"""Stands in for a model, so that the loops of this folder run without a network: it says what was written for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ToolUse:
    """The model wants a tool to be called."""

    name: str
    arguments: Mapping[str, Any]


@dataclass
class ScriptedModel:
    """Gives one reply after another: a tool to call, or at last a text for the person."""

    replies: Sequence[ToolUse | str]
    offered: list[list[str]] = field(default_factory=list[list[str]])
    """The names of the tools that it was offered, each time."""
    read: list[str] = field(default_factory=list[str])
    """What it was given to read, in order."""

    def reply(self, messages: Sequence[str], tools: Sequence[Mapping[str, Any]]) -> ToolUse | str:
        """The next reply."""
        self.offered.append([tool["name"] for tool in tools])
        self.read.append(messages[-1])
        return self.replies[len(self.read) - 1]

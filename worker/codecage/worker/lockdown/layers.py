"""How a layer is reported: what was set, or why it does not hold."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Layer", "State"]


class State(IntEnum):
    """Whether a layer holds. The numbers are those of `codecage.v1.LayerState`."""

    ACTIVE = 1
    UNAVAILABLE = 2
    FAILED = 3
    DISABLED = 4


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer as a worker set it up."""

    name: str
    state: State
    detail: str = ""

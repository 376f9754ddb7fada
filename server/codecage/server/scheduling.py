"""Which calls of a run may leave for the host now, by the hints of their tools.

A call waits here while as many calls of its tool are open as the tool takes at once, or while a call with an equal
serial key is open or waits before it. Calls that wait leave in the order in which the script made them, but for those
that another hint holds back.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import Any

import orjson

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.schemadoc import items_of, members_of
from codecage.server.tools import Tool

__all__ = ["CallQueue", "QueuedCall"]

_ABSENT = b"-"
"""The value of an argument that is missing; no JSON text."""
_HASHED_BYTES = 64
"""A longer value is remembered by its hash."""


@dataclass(frozen=True, slots=True)
class QueuedCall:
    """A call that the worker made, and the key that it must have to itself."""

    call: wire.Call
    tool: Tool
    key: tuple[str, bytes] | None


class CallQueue:
    """Calls that wait, and the counts of those that are open. Bounded by the calls in flight of the run."""

    def __init__(self) -> None:
        self._waiting: list[QueuedCall] = []
        self._open_of_tool: Counter[str] = Counter()
        self._open_keys: set[tuple[str, bytes]] = set()
        self._key_of: dict[int, tuple[str, bytes]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, call: wire.Call, tool: Tool, arguments: bytes) -> None:
        """Takes a call in. `arguments` are a JSON object."""
        self._waiting.append(QueuedCall(call, tool, _key_of(tool, arguments)))

    def take_ready(self) -> list[QueuedCall]:
        """Removes the calls that may leave now, in order; they are open from now on."""
        ready: list[QueuedCall] = []
        waiting: list[QueuedCall] = []
        claimed = set(self._open_keys)
        for queued in self._waiting:
            limit = queued.tool.max_concurrency
            is_free = not limit or self._open_of_tool[queued.tool.name] < limit
            if is_free and (queued.key is None or queued.key not in claimed):
                self._open(queued)
                ready.append(queued)
            else:
                waiting.append(queued)
            if queued.key is not None:
                claimed.add(queued.key)  # also where the tool has no place yet: nobody overtakes
        self._waiting = waiting
        return ready

    def close(self, sequence: int, tool: Tool) -> None:
        """An open call has ended."""
        if tool.max_concurrency:
            self._open_of_tool[tool.name] -= 1
        key = self._key_of.pop(sequence, None)
        if key is not None:
            self._open_keys.discard(key)

    def clear(self) -> None:
        """The run is over: calls that wait are never made."""
        self._waiting.clear()

    def _open(self, queued: QueuedCall) -> None:
        if queued.tool.max_concurrency:
            self._open_of_tool[queued.tool.name] += 1
        if queued.key is not None:
            self._open_keys.add(queued.key)
            self._key_of[queued.call.sequence] = queued.key


def _key_of(tool: Tool, arguments: bytes) -> tuple[str, bytes] | None:
    if tool.serial_key is None:
        return None
    group, argument = tool.serial_key
    members: dict[str, Any] = orjson.loads(arguments)
    if argument not in members:
        return group, _ABSENT
    value = orjson.dumps(_plain(members[argument]), option=orjson.OPT_SORT_KEYS)
    return group, value if len(value) <= _HASHED_BYTES else b"#" + hashlib.sha256(value).digest()


def _plain(value: Any) -> Any:
    """The same JSON with one way to write each number: 1.0 and 1e0 are 1."""
    if isinstance(value, float) and value.is_integer():
        # Beyond 64 bits there is one way already: such numbers are floats however they were written.
        return int(value) if abs(value) < 1 << 63 else value
    if isinstance(value, list):
        return [_plain(item) for item in items_of(value)]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in members_of(value).items()}
    return value

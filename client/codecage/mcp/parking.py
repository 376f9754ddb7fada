"""Calls that wait for their client to come back with a person's answers."""

import asyncio
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codecage.mcp.session import Session

__all__ = ["Parking"]

_log = logging.getLogger("codecage.mcp")
_MOST = 256


@dataclass(frozen=True, slots=True)
class _Place:
    session: Session
    tool_name: str
    arguments: Mapping[str, Any]
    timer: asyncio.TimerHandle


class Parking:
    """Owns the sessions that nobody holds at the moment, each under a key that only its client knows.

    A session that nobody comes back for is ended after a while; so is the oldest, where there are too many.
    """

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._places: dict[str, _Place] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def park(self, session: Session, tool_name: str, arguments: Mapping[str, Any]) -> str:
        """Keep a session, and return the key under which it can be taken once."""
        if len(self._places) >= _MOST:
            self._give_up(next(iter(self._places)))
        key = secrets.token_urlsafe(32)
        timer = asyncio.get_running_loop().call_later(self._longest, self._give_up, key)
        self._places[key] = _Place(session, tool_name, arguments, timer)
        return key

    def take(self, key: str, tool_name: str, arguments: Mapping[str, Any]) -> Session | None:
        """The session of a key. None if there is none, or if it is of another call."""
        place = self._places.get(key)
        if place is None or (place.tool_name, place.arguments) != (tool_name, arguments):
            return None
        place.timer.cancel()
        del self._places[key]
        return place.session

    async def aclose(self) -> None:
        """End every session that is left."""
        for key in list(self._places):
            self._give_up(key)
        await asyncio.gather(*self._ending, return_exceptions=True)

    def _give_up(self, key: str) -> None:
        place = self._places.pop(key)
        place.timer.cancel()
        _log.warning("nobody came back for a call of %s that waited for a person: it is ended", place.tool_name)
        task = asyncio.ensure_future(place.session.cancel())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

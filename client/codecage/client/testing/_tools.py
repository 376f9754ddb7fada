"""Tools that give fixed answers and remember how they were called."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from codecage.client._tools import Tool


class FakeTools:
    """Tools by name, each with its answer: a value, or an exception to be raised.

    Iterate over it for the tools.
    """

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        """Name and arguments of each call, in the order in which the tools began."""
        self._answers = dict(answers)

    def __iter__(self) -> Iterator[Tool]:
        for name in self._answers:
            yield Tool(name, handler=partial(self._handle, name))

    def as_list(self) -> list[Tool]:
        """The tools, for the `tools` of a run."""
        return list(self)

    async def _handle(self, name: str, arguments: Mapping[str, Any]) -> Any:
        self.calls.append((name, dict(arguments)))
        answer = self._answers[name]
        if isinstance(answer, Exception):
            raise answer
        return answer

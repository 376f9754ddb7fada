"""Calls that must not run beside each other leave one after another, in the order in which they were made."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from codecage.internal.v1 import worker_pb2 as wire
from codecage.server.scheduling import CallQueue
from codecage.server.tools import ToolSet
from codecage.v1 import codecage_pb2 as pb


def hints(**fields: Any) -> pb.ToolHints:
    return pb.ToolHints(**fields)


BY_PATH = pb.SerialKey(group="file", argument="path")
TOOLS = ToolSet.from_messages(
    [
        pb.Tool(name="free"),
        pb.Tool(name="two", hints=hints(max_concurrency=2)),
        pb.Tool(name="read", hints=hints(serial_key=BY_PATH)),
        pb.Tool(name="write", hints=hints(serial_key=pb.SerialKey(group="file", argument="file"))),
        pb.Tool(name="edit", hints=hints(serial_key=BY_PATH, max_concurrency=1)),
        pb.Tool(name="post", hints=hints(serial_key=pb.SerialKey(group="mail", argument="path"))),
    ],
    "tools",
)[0].tools
BY_NAME = {tool.name: tool for tool in TOOLS}


class Host:
    """Makes calls and ends them, and takes a note of those that are open."""

    def __init__(self) -> None:
        self.queue = CallQueue()
        self.made: list[tuple[str, dict[str, Any]]] = []
        self.open: list[int] = []
        self.left: list[int] = []

    def call(self, tool: str, **arguments: Any) -> list[int]:
        """Makes a call; the numbers of those that leave now."""
        self.made.append((tool, arguments))
        frame = wire.Call(sequence=len(self.made))
        self.queue.add(frame, BY_NAME[tool], json.dumps(arguments).encode())
        return self._leave()

    def end(self, sequence: int) -> list[int]:
        """Ends a call; the numbers of those that leave now."""
        self.open.remove(sequence)
        self.queue.close(sequence, BY_NAME[self.made[sequence - 1][0]])
        return self._leave()

    def _leave(self) -> list[int]:
        ready = [queued.call.sequence for queued in self.queue.take_ready()]
        self.open += ready
        self.left += ready
        return ready


def test_calls_without_hints_leave_at_once() -> None:
    host = Host()
    assert [host.call("free", n=1) for _ in range(3)] == [[1], [2], [3]]


def test_a_tool_has_no_more_calls_open_than_it_takes() -> None:
    host = Host()
    assert [host.call("two") for _ in range(4)] == [[1], [2], [], []]
    assert (host.call("free"), host.end(2), host.end(1)) == ([5], [3], [4])


def test_equal_keys_of_a_group_go_one_after_another_whatever_the_tool_and_the_argument() -> None:
    host = Host()
    assert (host.call("read", path="a"), host.call("write", file="a"), host.call("read", path="b")) == ([1], [], [3])
    assert host.call("edit", path="a") == []
    assert (host.end(1), host.end(2)) == ([2], [4])


def test_equal_values_are_the_same_json_and_a_missing_one_is_equal_to_a_missing_one() -> None:
    host = Host()
    assert host.call("read", path={"x": 1, "y": [2]}) == [1]
    assert host.call("read", path={"y": [2], "x": 1}) == []
    assert (host.call("read"), host.call("write", path="other"), host.call("read", path=None)) == ([3], [], [5])
    assert (host.call("read", path="1"), host.call("read", path=1), host.call("read", path="-")) == ([6], [7], [8])
    long = "x" * 10_000
    assert (host.call("read", path=long), host.call("read", path=long), host.call("read", path=long + "y")) == (
        [9],
        [],
        [11],
    )


def test_a_number_is_one_value_however_it_is_written() -> None:
    host = Host()
    assert (host.call("read", path=1), host.call("read", path=1.0), host.call("read", path=[{"x": 2.0}])) == (
        [1],
        [],
        [3],
    )
    assert (host.call("read", path=[{"x": 2}]), host.call("read", path=1.5), host.call("read", path=1e300)) == (
        [],
        [5],
        [6],
    )


def test_groups_are_apart() -> None:
    host = Host()
    assert (host.call("read", path="a"), host.call("post", path="a")) == ([1], [2])


def test_nobody_overtakes_a_call_with_the_same_key_that_waits_for_a_place() -> None:
    host = Host()
    assert (host.call("edit", path="a"), host.call("edit", path="b"), host.call("read", path="b")) == ([1], [], [])
    assert host.call("read", path="c") == [4]
    assert (host.end(1), host.end(2)) == ([2], [3])


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(sorted(BY_NAME)), st.sampled_from(["a", "b", None])),
        st.integers(0, 50),
    ),
    max_size=60,
)


@given(STEPS)
def test_whatever_happens_no_hint_is_broken_no_call_is_lost_and_equal_keys_keep_their_order(steps: list[Any]) -> None:
    host = Host()
    for step in steps:
        if isinstance(step, tuple):
            name, value = step
            key = BY_NAME[name].serial_key
            host.call(name, **({key[1]: value} if key and value else {}))
        elif host.open:
            host.end(host.open[step % len(host.open)])
        counts = Counter(host.made[sequence - 1][0] for sequence in host.open)
        assert all(counts[tool.name] <= (tool.max_concurrency or 1000) for tool in TOOLS)
        keys = [key_of(host, sequence) for sequence in host.open]
        assert len([key for key in keys if key]) == len({key for key in keys if key})
        assert host.open or not len(host.queue), "calls wait for nothing"
    while host.open:
        host.end(host.open[0])
    assert sorted(host.left) == list(range(1, len(host.made) + 1))
    for key in {key_of(host, sequence) for sequence in host.left} - {None}:
        ordered = [sequence for sequence in host.left if key_of(host, sequence) == key]
        assert ordered == sorted(ordered)


def key_of(host: Host, sequence: int) -> tuple[str, Any] | None:
    """The serial key of a call that was made."""
    name, arguments = host.made[sequence - 1]
    key = BY_NAME[name].serial_key
    return (key[0], arguments.get(key[1])) if key else None

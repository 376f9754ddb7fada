"""Runs in the template of the traced server: each worker tells on its standard error when its steps began and ended."""

import json
import os
import time
from collections.abc import Callable
from typing import Any

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.channel import Channel
from codecage.worker.loop import JobLoop
from codecage.worker.normaliser import Normaliser
from codecage.worker.realm import FromHost, Realm

_STDERR = 2
_ASKED = {FromHost.CONFIGURE: "configure", FromHost.INPUT: "input", FromHost.CHECK: "check", FromHost.FINISH: "finish"}
_steps: list[tuple[str, float, float]] = []


def _record(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def recorded(*arguments: Any, **options: Any) -> Any:
        begin = time.monotonic()
        try:
            return function(*arguments, **options)
        finally:
            _steps.append((name, begin, time.monotonic()))

    return recorded


def _record_asked(ask: Callable[..., int]) -> Callable[..., int]:
    def asked(realm: Realm, operation: int, number: int = 0, text: str = "") -> int:
        begin = time.monotonic()
        result = ask(realm, operation, number, text)
        _steps.append((_ASKED.get(operation, "answer"), begin, time.monotonic()))
        return result

    return asked


def _begin_with_script(receive: Callable[[Channel], wire.SupervisorFrame]) -> Callable[[Channel], wire.SupervisorFrame]:
    def received(channel: Channel) -> wire.SupervisorFrame:
        begin = time.monotonic()
        frame = receive(channel)
        if frame.HasField("script"):
            _steps.clear()
        else:
            _steps.append(("wait", begin, time.monotonic()))
        return frame

    return received


def _tell_before_end(send: Callable[[Channel, wire.WorkerFrame], None]) -> Callable[[Channel, wire.WorkerFrame], None]:
    def sent(channel: Channel, frame: wire.WorkerFrame) -> None:
        if frame.HasField("finished"):
            os.write(_STDERR, json.dumps(_steps[:40]).encode())
        send(channel, frame)

    return sent


def patch() -> None:
    """Before the template makes its first worker."""
    classes: Any = (Channel, Realm, Normaliser, JobLoop)
    channel, realm, normaliser, loop = classes
    channel.receive = _begin_with_script(Channel.receive)
    channel.send = _tell_before_end(Channel.send)
    realm.ask = _record_asked(Realm.ask)
    realm.compile = _record("compile", Realm.compile)
    realm.start = _record("run", Realm.start)
    normaliser.normalise = _record("normalise", Normaliser.normalise)
    loop.drain = _record("jobs", JobLoop.drain)

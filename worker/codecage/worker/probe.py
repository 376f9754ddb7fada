"""Runs Python in a locked worker: to try the lockdown from inside, as a script that took over its process would.

Or to run JavaScript as global code, which no script of a caller is: how conformance tests of the language are run.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import struct
from typing import NoReturn

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.channel import Channel
from codecage.worker.lockdown.kernel import libc
from codecage.worker.realm import Realm

__all__ = ["run_probe"]

# Everything that a probe may want: once the worker is locked nothing can be imported.
_NAMES = {
    "ctypes": ctypes,
    "errno": errno,
    "json": json,
    "libc": libc,
    "os": os,
    "signal": signal,
    "socket": socket,
    "struct": struct,
}


def run_probe(source: str, channel: Channel, realm: Realm) -> NoReturn:
    """Sends what `source` leaves in the name `answer`, as JSON, and waits for death.

    It also finds `channel` and `realm`, the worker's own.
    """
    names: dict[str, object] = {**_NAMES, "channel": channel, "realm": realm}
    exec(source, names)  # noqa: S102  # this is what it is for
    value = json.dumps(names.get("answer"))
    channel.send(wire.WorkerFrame(finished=wire.Finished(code="completed", value_json=value)))
    channel.sleep()

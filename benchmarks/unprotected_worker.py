"""Runs in the template of the unprotected server: nothing is entered, given up or forbidden. To measure the price."""

import os
from typing import Any

from codecage.worker import template, worker
from codecage.worker.lockdown.layers import Layer, State

_NONE = Layer("environment", State.DISABLED, "every layer is off, to measure what they cost")


def _isolate(self: Any) -> None:
    self._layers = [_NONE]
    self._statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)


def _seal(_self: Any) -> None:
    """Gives up nothing."""


def _lock(_birth: Any, _footprint: Any) -> list[Layer]:
    return [_NONE]


def patch() -> None:
    """Before the template enters anything."""
    classes: Any = (template.Template, worker)
    classes[0].isolate = _isolate
    classes[0].seal = _seal
    classes[1]._lock = _lock  # noqa: SLF001

"""Which layers a worker must have, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from codecage.internal.v1 import worker_pb2 as wire
from codecage.v1 import codecage_pb2 as pb

__all__ = ["ALWAYS_REQUIRED", "KNOWN_LAYERS", "Requirements"]

ALWAYS_REQUIRED = frozenset(
    {
        "capabilities",
        "descriptors",
        "environment",
        "no_new_privileges",
        "not_dumpable",
        "parent_death_signal",
        "realm",
        "rlimits",
        "seccomp",
    }
)
"""What works on every machine. Without one of these the service does not start, unless it is told otherwise."""

KNOWN_LAYERS = ALWAYS_REQUIRED | {
    "cgroup_namespace",
    "empty_root",
    "ipc_namespace",
    "landlock",
    "mount_namespace",
    "network_namespace",
    "process_namespace",
    "separate_uid",
    "user_namespace",
    "uts_namespace",
}
"""Every layer, by the name that workers report it under."""


@dataclass(frozen=True, slots=True)
class Requirements:
    """The layers that this service insists on."""

    added: frozenset[str] = frozenset()
    """Layers that are required here although they do not work everywhere."""
    waived: frozenset[str] = frozenset()
    """Layers that may be missing although they are always required."""

    @property
    def required(self) -> frozenset[str]:
        """The layers that must hold."""
        return (ALWAYS_REQUIRED | self.added) - self.waived

    def missing(self, layers: Iterable[wire.Layer]) -> list[str]:
        """The required layers that do not hold, each with the reason."""
        told = {layer.name: layer for layer in layers}
        found: list[str] = []
        for name in sorted(self.required):
            layer = told.get(name)
            if layer is None:
                found.append(f"{name} (not reported)")
            elif layer.state != pb.LAYER_STATE_ACTIVE:
                found.append(f"{name} ({layer.detail or 'does not hold'})")
        return found

    def to_messages(self, layers: Iterable[wire.Layer]) -> list[pb.IsolationLayer]:
        """The layers as they are shown to callers."""
        required = self.required
        return [
            pb.IsolationLayer(
                name=layer.name,
                state=pb.LayerState.ValueType(layer.state),
                required=layer.name in required,
                detail=layer.detail,
            )
            for layer in layers
        ]

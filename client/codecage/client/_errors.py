"""What can go wrong, seen from a caller.

CodecageError
├── NotRun                  the script was not run; sending it again is safe once the cause is mended
│   ├── InvalidRequest      the request is malformed; `violations` names each field
│   ├── PreconditionFailed  an unknown catalogue, or a feature that the server does not have
│   ├── Unauthenticated     no valid identity
│   ├── Overloaded          too busy; `retry_after` says when to come back
│   ├── Unavailable         draining, restarting, or not there; `retry_after` may say when to come back
│   └── Unimplemented       the server does not serve the method
├── FateUnknown             the connection or the server broke; tool calls may have had effects
├── ServerStartError        the embedded server did not come up
└── ScriptFailed            the run ended without completing; raised by RunResult.raise_for_outcome() alone

How a script ended is never raised by itself: it is `RunResult.outcome`. `ToolError` stands apart: a tool
raises it to say how its call failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codecage.client._result import RunResult


class CodecageError(Exception):
    """The root of everything that this library raises on its own account."""


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request that the server refused."""

    field: str
    """Path of the field in the request, for instance "start.limits.memory_bytes"."""
    reason: str
    """What is wrong with it, a sentence."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a server said when it did not run a script."""

    message: str
    """A sentence for people."""
    reason: str = ""
    """A stable word for programs, for instance "QUEUE_FULL"."""
    metadata: Mapping[str, str] | None = None
    """More about the reason, for instance the name of a missing feature under "feature"."""
    retry_after: float | None = None
    """Seconds after which to try again. None: the server gave no such advice."""
    violations: tuple[FieldViolation, ...] = ()
    """The fields that were refused."""


class NotRun(CodecageError):
    """The script was not run, so sending it again cannot repeat an effect."""

    def __init__(self, refusal: Refusal, run_id: str = "") -> None:
        super().__init__(_sentence(refusal))
        self.refusal = refusal
        self.run_id = run_id
        """The id that the caller gave to the run; empty if it gave none."""

    @property
    def reason(self) -> str:
        """A stable word for programs; empty if there is none."""
        return self.refusal.reason

    @property
    def retry_after(self) -> float | None:
        """Seconds after which to try again; None without such advice."""
        return self.refusal.retry_after

    @property
    def metadata(self) -> Mapping[str, str]:
        """More about the reason, by name."""
        return self.refusal.metadata or {}


class InvalidRequest(NotRun):
    """The request is malformed. Trying again does not help."""

    @property
    def violations(self) -> tuple[FieldViolation, ...]:
        """Each refused field with the reason."""
        return self.refusal.violations


class PreconditionFailed(NotRun):
    """A catalogue that is not known here, or a feature that this server does not have."""


class Unauthenticated(NotRun):
    """The server did not accept the caller's identity."""


class Overloaded(NotRun):
    """The queue is full, or no place came in time."""


class Unavailable(NotRun):
    """The server is draining, restarting, or nobody answers at its address."""


class Unimplemented(NotRun):
    """The server does not serve this method."""


class FateUnknown(CodecageError):
    """The connection or the server broke, and what became of the script is not known.

    Its tool calls may have had effects. The library never sends such a script again.
    """

    def __init__(self, message: str, *, status: str = "", run_id: str = "") -> None:
        super().__init__(message)
        self.status = status
        """The gRPC status in small letters, for instance "deadline_exceeded"; empty if there is none."""
        self.run_id = run_id
        """The id of the run; empty if it is not known."""


class ServerStartError(CodecageError):
    """The embedded server did not come up. Nothing of it is left running."""

    def __init__(self, message: str, *, stderr: str = "") -> None:
        super().__init__(f"{message}\n{stderr.rstrip()}" if stderr.strip() else message)
        self.stderr = stderr
        """The end of what the server wrote to its standard error."""


class ScriptFailed(CodecageError):
    """The run ended, but the script did not complete."""

    def __init__(self, result: "RunResult") -> None:
        told = f": {result.error.name}: {result.error.message}" if result.error else ""
        super().__init__(f"the script did not complete ({result.code}){told}")
        self.result = result
        """All that is known of the run: output, calls, usage, and the error itself."""


def _sentence(refusal: Refusal) -> str:
    told = [f"{violation.field}: {violation.reason}" for violation in refusal.violations]
    missing = "; ".join(each for each in told if each not in refusal.message)
    return f"{refusal.message} ({missing})" if missing else refusal.message

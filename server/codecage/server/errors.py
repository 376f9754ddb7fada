"""What this package raises. All of these mean: the script was not run.

    NotRun
    ├── InvalidRequest      the request is malformed; names each field
    ├── FeatureMissing      the request needs what this server does not have
    ├── CatalogUnknown      the catalogue is not known here: send it again
    ├── NotServed           this server does not serve the method
    ├── Busy                no place, or none in time; says when to try again
    └── Unavailable         draining, or no engine; says when to try again

How a script that did run ended is no error here: it is an `Outcome`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "Busy",
    "CatalogUnknown",
    "FeatureMissing",
    "FieldViolation",
    "InvalidRequest",
    "NotRun",
    "NotServed",
    "Unavailable",
]


class NotRun(Exception):
    """The script was not run. Only `codecage.server.status` knows what gRPC status this is."""


@dataclass(frozen=True, slots=True)
class FieldViolation:
    """One field of a request, by its path, and what is wrong with it."""

    field: str
    reason: str


class InvalidRequest(NotRun):
    """The request is malformed."""

    def __init__(self, *violations: FieldViolation) -> None:
        super().__init__("; ".join(f"{violation.field}: {violation.reason}" for violation in violations))
        self.violations = violations


class FeatureMissing(NotRun):
    """The request needs a feature that this server does not have."""

    def __init__(self, feature: str, field: str) -> None:
        super().__init__(f"{field}: this server does not serve {feature}")
        self.feature = feature
        self.field = field


class CatalogUnknown(NotRun):
    """The catalogue is not known here."""

    def __init__(self, catalog_id: str) -> None:
        super().__init__(f"catalogue {catalog_id[:100]!r} is not known here: send its tools, or register it again")
        self.catalog_id = catalog_id


class NotServed(NotRun):
    """This server does not serve the method."""


class Busy(NotRun):
    """The queue is full, or a place did not come in time."""

    def __init__(self, reason: str, retry_after: float) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        """Seconds after which it makes sense to try again."""


class Unavailable(NotRun):
    """The server is draining or has no engine at the moment."""

    def __init__(self, reason: str, retry_after: float) -> None:
        super().__init__(reason)
        self.retry_after = retry_after
        """Seconds after which it makes sense to try again."""

"""What a run can be asked for beside its source. One list, for Client, SyncClient, run and start."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeAlias, TypedDict

from codecage.client._config import Detail, Determinism, Language, Limits, Policy, Retry
from codecage.client._events import Event, ToolCall
from codecage.client._tools import Ask, Denial, ToolLike

Verdict: TypeAlias = bool | Denial | Ask
"""True allows a call, False or a Denial refuses it, Ask leaves it to a person."""
Authorize: TypeAlias = Callable[[ToolCall], Verdict | Awaitable[Verdict]]
"""Decides on one call before its tool runs."""


class StartOptions(TypedDict, total=False):
    """Options of Client.start."""

    tools: Sequence[ToolLike]
    """The tools that the script may call: functions with type hints, or Tool."""
    catalog_id: str | None
    """A registered catalogue to be named instead of sending the tools. `tools` then only answer its calls."""
    input: Any
    """The script's global `input`. Absent: undefined. None: null."""
    dialect: str
    """Which rules the script follows. Absent: "standard"."""
    language: Language
    """The language of the source. Absent: "auto"."""
    limits: Limits | None
    """Limits other than the dialect's."""
    policy: Policy | None
    """Policies other than the dialect's."""
    annotations: Any
    """A JSON value that comes back in the result."""
    labels: Mapping[str, str]
    """The caller's labels, given back in the result: at most 32."""
    run_id: str
    """Names the run in logs and idempotency keys: 1 to 128 of [A-Za-z0-9._:-]. Absent: the server makes one.
    """
    state: Mapping[str, Any]
    """The values that `load(key)` finds."""
    determinism: Determinism | None
    """Makes the clock and Math.random functions of the request."""
    journal: bytes | None
    """RunResult.journal of a suspended run, to go on from there."""
    dry_run: Mapping[str, Any] | None
    """An example answer for each tool: calls are answered from these and reach nobody."""
    required_features: Sequence[str]
    """Features that this run cannot do without. One that the server lacks: PreconditionFailed."""
    deadline: float | None
    """Seconds for the whole call, waiting for a worker included.

    The server ends the run as cancelled before that.
    """
    retry: Retry | None
    """Whether opening the run is tried again when the server says so. Absent: never."""


class RunOptions(StartOptions, total=False):
    """Options of Client.run."""

    authorize: Authorize | None
    """Asked before each call. True allows it, False or a Denial refuses it, an Ask has a person decide. A hook
    that raises refuses the call. A coroutine function is awaited, any other function runs in a thread."""
    approval: bool
    """`authorize` itself asks a person, about every call: one question at a time, and the run's clocks stop
    meanwhile."""
    on_event: Callable[[Event], object] | None
    """Told of everything that happens, as it happens.

    An awaitable it returns is awaited. If it raises, so does run.
    """


class ToolkitOptions(TypedDict, total=False):
    """Options of Client.toolkit. Those of a run hold for every run; Toolkit.handle can set them for one."""

    dialect: str
    """Which rules scripts follow, and which tools the model sees. Absent: "standard"."""
    detail: Detail
    """How much the model is told of each tool. Absent: "full"."""
    max_tokens: int
    """At most so many tokens in the descriptions. Absent: no limit."""
    description_templates: Mapping[str, str]
    """As in DescribeOptions."""
    limits: Limits | None
    """As in StartOptions."""
    policy: Policy | None
    """As in StartOptions."""
    state: Mapping[str, Any]
    """What the first script finds with `load(key)`."""
    deadline: float | None
    """As in StartOptions, for each run."""
    retry: Retry | None
    """As in StartOptions."""
    authorize: Authorize | None
    """As in RunOptions."""
    approval: bool
    """As in RunOptions."""
    on_event: Callable[[Event], object] | None
    """As in RunOptions."""


class DescribeOptions(TypedDict, total=False):
    """Options of Client.describe."""

    tools: Sequence[ToolLike]
    """The tools that scripts may call."""
    catalog_id: str | None
    """A registered catalogue instead of `tools`."""
    dialect: str
    """Absent: "standard"."""
    query: str
    """Only tools that match. Absent: all."""
    max_tools: int
    """At most so many tools. Absent: all."""
    detail: Detail
    """How much is said of each tool. Absent: "full"."""
    max_tokens: int
    """At most so many tokens in the descriptions. Absent: no limit."""
    page_token: str
    """Where the page begins, from Description.next_page_token."""
    names: Sequence[str]
    """Only the tools of these names. Absent: all."""
    description_templates: Mapping[str, str]
    """Descriptions of one's own by the name of the model's tool; "{{description}}", "{{rules}}" and
    "{{signatures}}" stand in them for what the server would say."""
    limits: Limits | None
    """As in StartOptions: the descriptions tell the limits that runs will have."""
    policy: Policy | None
    """As in StartOptions: the descriptions tell the rules that runs will follow."""


_KINDS: dict[str, type] = {"limits": Limits, "policy": Policy, "determinism": Determinism, "retry": Retry}
_TEXTS = ("catalog_id", "dialect", "language", "run_id", "detail", "query", "page_token")


def check_source(source: object) -> None:
    """Raise TypeError for a source that is no text."""
    if not isinstance(source, str):
        raise TypeError(f"source must be a str, not {type(source).__name__}")


def check_names(options: Mapping[str, Any], kind: type) -> None:
    """Raise TypeError for an option that `kind`, one of the classes above, does not have, or that is of a wrong type
    which is easily mistaken for the right one."""
    unknown = options.keys() - kind.__annotations__.keys()
    if unknown:
        raise TypeError(f"unexpected keyword argument {min(unknown)!r}")
    for name, wanted in _KINDS.items():
        value = options.get(name)
        if value is not None and not isinstance(value, wanted):
            raise TypeError(f"{name} must be {wanted.__name__}(...), not {type(value).__name__}")
    for name in _TEXTS:
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if isinstance(options.get("deadline"), timedelta):
        raise TypeError("deadline must be a number of seconds, not timedelta: give its total_seconds()")

"""What a server says of itself, of a script and of tools."""

from dataclasses import dataclass
from typing import Any

from codecage.client._config import Limits, Policy
from codecage.client._result import IsolationLayer, RunWarning, ScriptFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """The JavaScript engine."""

    name: str
    """Its name and version."""
    binding_version: str
    """Version of the binding."""
    mode: str
    """"prepared": workers inherit a prepared engine. "per_worker": each prepares one."""
    mode_reason: str
    """Why, if the mode is not the preferred one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectInfo:
    """A dialect with its defaults."""

    name: str
    limits: Limits
    policy: Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolInfo:
    """The pool of workers at the time of asking."""

    capacity: int
    """Runs at the same time at most."""
    running: int
    """Runs now."""
    warm: int
    """Workers ready for a script."""
    queued: int
    """Requests that wait for a place."""
    queue_capacity: int
    """Requests that may wait at most."""
    forks: int
    """Workers made since the server started."""
    templates: int
    """Template processes started since the server started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """What a server is, what it allows and what shields its workers."""

    protocol_version: str
    """Version of the contract, "v1"."""
    server_version: str
    """Version of the server."""
    engine: EngineInfo
    dialects: tuple[DialectInfo, ...]
    limit_ceilings: Limits
    """The highest limits that a run may ask for."""
    isolation_layers: tuple[IsolationLayer, ...]
    """What shields the workers, and what does not and why."""
    pool: PoolInfo
    features: tuple[str, ...]
    """Names for `required_features`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """What compiling a script told."""

    diagnostics: tuple[ScriptFailure, ...]
    """What is wrong. Empty: the script compiles."""
    entry_form: str
    """The entry form that was found."""
    language: str
    """The language that was found: "javascript" or "typescript"."""
    tool_names: tuple[str, ...]
    """The tools that the script names, exactly as listed."""
    has_computed_calls: bool
    """The script also calls tools by computed names."""
    warnings: tuple[RunWarning, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelTool:
    """A tool in the form that model providers take."""

    name: str
    description: str
    input_schema: Any
    """JSON Schema of its arguments, parsed."""
    role: str = ""
    """What a host does when the model calls it: "run" a script, "list" the tools of the catalogue, or tell the
    "details" of some. Toolkit.handle does it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedTool:
    """A tool of the catalogue, described."""

    name: str
    """As it was listed."""
    callee: str
    """How a script reaches it, up to the arguments, for instance "tools.read_file"."""
    namespace: str
    """What comes before the last separator of its name."""
    summary: str
    """The first sentence of its description."""
    signature: str
    """Its signature and description, at the detail that was reached."""
    detail: str
    """The detail that was reached: "names", "signatures" or "full"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """Tools to register with a model, and what there is to say about the tools of a catalogue."""

    model_tools: tuple[ModelTool, ...]
    shown_tools: int
    """How many tools of the catalogue are shown."""
    matched_tools: int
    """How many matched the query."""
    next_page_token: str
    """Where the next page begins. Empty: there is none."""
    text: str = ""
    """The page as a text for a model that searches, or that asks for details."""
    tools: tuple[DescribedTool, ...] = ()
    """The tools of the page, for programs."""
    unknown_names: tuple[str, ...] = ()
    """Names that were asked for and are not in the catalogue."""
    warnings: tuple[RunWarning, ...] = ()
    """For instance schemas that cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalog:
    """Tools stored at the server under the hash of their content."""

    catalog_id: str
    """To be given as `catalog_id`."""
    warnings: tuple[RunWarning, ...]
    """For instance schemas that do not compile."""

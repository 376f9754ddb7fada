"""The configuration file: the `mcpServers` of existing clients, and what we add."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from codecage.client import Detail, Limits, Policy
from codecage.mcp.rules import Action, Rule

__all__ = ["Config", "ConfigError", "ServerConfig", "Settings", "load"]

Dialect: TypeAlias = Literal["standard", "goose", "sero", "devoxxgenie"]

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_TRANSPORTS = {
    "stdio": "stdio",
    "local": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamableHttp": "http",
    "streamable_http": "http",
}


class ConfigError(Exception):
    """The configuration cannot be used. The message names each place and what is wrong there."""


def _one_spelling(value: object) -> object:
    return _TRANSPORTS.get(value, value) if isinstance(value, str) else value


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )


class ServerConfig(BaseModel):
    """One server behind us. Keys of other clients that we do not know are ignored."""

    model_config = ConfigDict(
        extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )

    type: Annotated[Literal["stdio", "http"] | None, BeforeValidator(_one_spelling)] = None
    """Absent: stdio if there is a command, http if there is a url."""
    command: str | None = None
    """The program to start."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: Mapping[str, str] = Field(default_factory=dict[str, str])
    """Added to HOME, LOGNAME, PATH, SHELL, TERM and USER; nothing else of our environment reaches the server."""
    cwd: str | None = None
    """The folder to start it in."""
    url: str | None = Field(default=None, validation_alias=AliasChoices("url", "serverUrl", "httpUrl"))
    """Where it serves Streamable HTTP."""
    headers: Mapping[str, str] = Field(default_factory=dict[str, str], repr=False)
    """Sent with every request."""
    disabled: bool = False
    """It is left out."""
    first_class: bool = False
    """Its tools keep their names; those of other servers are called `server__tool`."""
    default: Action | None = None
    """What becomes of calls that no rule is about. Absent: Settings.default."""
    approve_read_only: bool | None = None
    """Absent: Settings.approve_read_only."""
    rules: tuple[Rule, ...] = ()
    """Rules about its tools, by the names that the server gives them."""
    call_timeout: float = Field(default=300.0, gt=0)
    """Seconds for one call of a tool, waiting for a person excluded."""

    @model_validator(mode="after")
    def _reachable(self) -> "ServerConfig":
        if (self.command is None) == (self.url is None):
            raise ValueError("needs either a command or a url" + (", not both" if self.url else ""))
        if self.type is not None and self.type != self.transport:
            raise ValueError(f"is of type {self.type}, and has a {'url' if self.url else 'command'}")
        return self

    @property
    def transport(self) -> Literal["stdio", "http"]:
        """How it is reached."""
        return "http" if self.url is not None else "stdio"


class Settings(_Strict):
    """What we add, under the key `codecage`."""

    dialect: Dialect = "standard"
    """Which tools are exposed, and which rules scripts follow. `--dialect` stands above it."""
    detail: Detail | None = None
    """How much the descriptions say of each tool. Absent: everything."""
    max_tokens: int | None = Field(default=None, gt=0)
    """At most so many tokens in the descriptions. Absent: no limit."""
    default: Action = "ask"
    """What becomes of calls that no rule is about."""
    approve_read_only: bool = True
    """Tools that their server calls read-only are allowed where no rule is about them."""
    rules: tuple[Rule, ...] = ()
    """Rules about all tools, by the names that scripts use."""
    approval_timeout: float = Field(default=600.0, gt=0)
    """Seconds in which a person must have answered; later the call is refused."""
    limits: Mapping[str, int | float] = Field(default_factory=dict[str, int | float])
    """Limits of each run, by the names of `codecage.client.Limits`."""
    policy: Mapping[str, str] = Field(default_factory=dict[str, str])
    """Policies of each run, other than the dialect's, by the names of `codecage.client.Policy`."""

    @model_validator(mode="after")
    def _of_the_client(self) -> "Settings":
        for kind, given in ((Limits, self.limits), (Policy, self.policy)):
            known = [each.name for each in fields(kind)]
            if unknown := sorted(given.keys() - known):
                raise ValueError(f"{kind.__name__.lower()}: there is no {unknown[0]!r}; there are {', '.join(known)}")
        return self


class Config(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)

    servers: Mapping[str, ServerConfig] = Field(alias="mcpServers")
    """The servers behind us, by name."""
    settings: Settings = Field(default_factory=Settings, alias="codecage")
    """What we add."""


def load(path: Path, environment: Mapping[str, str] = os.environ) -> Config:
    """Read a file. `${NAME}`, `${env:NAME}` and `${NAME:-default}` in its strings become variables of `environment`.

    Raises ConfigError.
    """
    try:
        document: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not JSON: {error}") from error
    try:
        return Config.model_validate(_expanded(document, environment, ""))
    except ValidationError as error:
        raise ConfigError("\n".join(f"{path}: {line}" for line in _told(error))) from error


def _expanded(value: Any, environment: Mapping[str, str], where: str) -> Any:
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {key: _expanded(each, environment, f"{where}.{key}".lstrip(".")) for key, each in items}
    if isinstance(value, list):
        return [_expanded(each, environment, f"{where}[{i}]") for i, each in enumerate(cast("Any", value))]
    if not isinstance(value, str):
        return value

    def variable(match: re.Match[str]) -> str:
        default: str | None = match[2]
        found = environment.get(match[1], default)
        if found is None:
            raise ConfigError(f"{where}: the environment has no {match[1]}")
        return found

    return _VARIABLE.sub(variable, value)


def _told(error: ValidationError) -> list[str]:
    return [
        f"{'.'.join(str(step) for step in each['loc']) or 'the file'}: {_reason(each)}"
        for each in error.errors(include_url=False, include_context=False)
    ]


def _reason(error: ErrorDetails) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "there is no such key here"
        case "missing":
            return "is missing"
        case _:
            return error["msg"].removeprefix("Value error, ")

"""The configuration: flags over environment (CODECAGE_...) over a TOML file over the defaults, which stand here."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, NoReturn, Self, cast

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from codecage.server.catalogs import CatalogStore
from codecage.server.isolation import KNOWN_LAYERS, Requirements
from codecage.server.limits import CEILINGS, Limits
from codecage.server.pool import PoolOptions
from codecage.server.template import TemplateOptions

__all__ = ["Settings", "load_settings"]

_MIB = 1 << 20
_LONGEST = 366 * 86_400.0
"""No time of a script is longer: a year, in seconds."""
_LAST_UID = (1 << 32) - 2
_SPARE_UIDS = 16
"""Workers that are being reaped or made while all others are in use."""


class Settings(BaseSettings):
    """The Codecage service."""

    model_config = SettingsConfigDict(
        env_prefix="CODECAGE_",
        frozen=True,
        extra="forbid",
        cli_prog_name="codecage serve",
        cli_kebab_case=True,
        cli_implicit_flags=True,
        cli_hide_none_type=True,
        cli_avoid_json=True,
    )

    listen: Annotated[list[str], NoDecode] = Field(
        default=["127.0.0.1:50551"],
        description="Where to listen: unix:PATH or HOST:PORT. May be given again.",
    )
    socket_mode: str = Field(default="600", description="Mode of a Unix socket, in octal.")
    config: str = Field(default="", description="A TOML file with these settings.")
    capacity: int = Field(default=64, ge=1, le=10_000, description="Scripts that run at the same time.")
    warm: int = Field(default=4, ge=0, le=1000, description="Workers kept ready.")
    queue: int = Field(default=256, ge=0, le=100_000, description="Requests that may wait for a place.")
    queue_wait: float = Field(default=30.0, gt=0, le=_LONGEST, description="Seconds that one may wait.")
    forks_per_template: int = Field(default=10_000, ge=1, description="Workers made by one template.")
    engine_mode: Literal["auto", "prepared", "per_worker"] = Field(
        default="auto", description="How workers get their engine."
    )
    catalogs: int = Field(default=1000, ge=1, le=1_000_000, description="Catalogues kept for runs to name.")
    catalog_memory: int = Field(default=512, ge=1, le=1 << 20, description="Memory for catalogues, in MiB.")
    max_memory: int = Field(
        default=CEILINGS.memory_bytes // _MIB, ge=16, description="Highest memory of a script, in MiB."
    )
    max_script_time: float = Field(
        default=CEILINGS.script_time, gt=0, le=_LONGEST, description="Highest script time, in seconds."
    )
    max_wall_time: float = Field(
        default=CEILINGS.wall_time, gt=0, le=_LONGEST, description="Highest wall time, in seconds."
    )
    max_lifetime: float = Field(
        default=CEILINGS.lifetime, gt=0, le=_LONGEST, description="Highest lifetime of a run, in seconds."
    )
    require: Annotated[list[str], NoDecode] = Field(
        default=[], description="A layer that must hold besides those that always must."
    )
    accept_missing: Annotated[list[str], NoDecode] = Field(
        default=[], description="A required layer that may be missing. Unsafe."
    )
    canary: bool = Field(default=True, description="Try the promises in real workers before serving.")
    uid_base: int = Field(
        default=PoolOptions().uid_base, ge=1, description="First uid of workers, where the service is root."
    )
    uid_count: int = Field(default=PoolOptions().uid_count, ge=0, description="Size of the range of uids; 0: not used.")
    drain_seconds: float = Field(
        default=30.0, ge=0, le=_LONGEST, description="Seconds that running scripts get after SIGTERM."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least level of log lines."
    )
    log_format: Literal["auto", "text", "json"] = Field(
        default="auto", description="Form of log lines; auto: text on a terminal."
    )
    ready_fd: int = Field(
        default=-1, description="Descriptor that is told, in one line of JSON, when the service is ready."
    )
    lifeline_fd: int = Field(default=-1, description="Descriptor whose end of file ends the service.")

    @field_validator("listen", "require", "accept_missing", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return _listed(value)

    @field_validator("socket_mode")
    @classmethod
    def _check_mode(cls, value: str) -> str:
        if not value.isascii() or not value.isdigit() or set(value) & set("89") or int(value, 8) > 0o777:
            raise ValueError("must be an octal mode like 660")
        return value

    @field_validator("ready_fd", "lifeline_fd")
    @classmethod
    def _check_descriptor(cls, value: int) -> int:
        if value >= 0:
            try:
                os.fstat(value)
            except (OSError, OverflowError):
                raise ValueError(f"{value} is no open descriptor") from None
        return value

    @field_validator("require", "accept_missing")
    @classmethod
    def _check_layers(cls, value: list[str]) -> list[str]:
        unknown = set(value) - KNOWN_LAYERS
        if unknown:
            raise ValueError(
                f"no such layer: {', '.join(sorted(unknown))}; there are {', '.join(sorted(KNOWN_LAYERS))}"
            )
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Flags and arguments, then the environment, then the file that --config or CODECAGE_CONFIG names."""
        path = _config_path(sys.argv[1:])
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, toml_file=path or None)

    @model_validator(mode="after")
    def _check_uids(self) -> Self:
        if 0 < self.uid_count < self.capacity + self.warm + _SPARE_UIDS:
            least = self.capacity + self.warm + _SPARE_UIDS
            raise ValueError(f"uid_count must be 0 or at least {least}, one for each worker and some to spare")
        if self.uid_base + self.uid_count - 1 > _LAST_UID:
            raise ValueError(f"uid_base and uid_count reach beyond the last uid there can be, {_LAST_UID}")
        return self

    def ceilings(self) -> Limits:
        """The highest limits that a request may ask for."""
        return replace(
            CEILINGS,
            script_time=self.max_script_time,
            cpu_time=self.max_script_time + 1,
            wall_time=self.max_wall_time,
            lifetime=self.max_lifetime,
            memory_bytes=self.max_memory * _MIB,
            compile_memory_bytes=max(self.max_memory, 128) * _MIB,
        )

    def catalog_store(self) -> CatalogStore:
        """An empty store of catalogues."""
        return CatalogStore(self.catalogs, self.catalog_memory * _MIB)

    def pool_options(self) -> PoolOptions:
        """What the pool is made with."""
        ceilings = self.ceilings()
        return PoolOptions(
            capacity=self.capacity,
            warm=min(self.warm, self.capacity),
            queue=self.queue,
            queue_wait=self.queue_wait,
            forks_per_template=self.forks_per_template,
            uid_base=self.uid_base,
            uid_count=self.uid_count,
            template=TemplateOptions(
                mode=self.engine_mode,
                memory_ceiling=max(ceilings.memory_bytes, ceilings.compile_memory_bytes),
                cpu_ceiling=int(ceilings.cpu_time) + 1,
            ),
            requirements=Requirements(frozenset(self.require), frozenset(self.accept_missing)),
        )


def _listed(value: object) -> object:
    """Commas separate the items of a list, in the environment and in a flag that may be given again.

    Older versions of pydantic-settings hand such flags on as a list in JSON.
    """
    if isinstance(value, str) and value.startswith('["'):
        value = json.loads(value)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list):
        return value
    return [
        item for text in cast("list[object]", texts) for item in (text.split(",") if isinstance(text, str) else [text])
    ]


def load_settings(arguments: list[str], command: str = "codecage serve") -> Settings:
    """The settings of this process. Exits with code 2 and a message of `command` where one is wrong."""
    path = _config_path(arguments)
    if path and not Path(path).is_file():
        _refuse(command, f"there is no file {path}")
    try:
        # parameters of pydantic-settings
        return Settings(_cli_parse_args=arguments, _cli_prog_name=command)  # type: ignore[call-arg]
    except ValidationError as error:
        _refuse(command, *map(_told, error.errors()))
    except tomllib.TOMLDecodeError as error:
        _refuse(command, f"{path} is no TOML: {error}")
    except SettingsError as error:
        _refuse(command, str(error))


def _told(error: ErrorDetails) -> str:
    name = ".".join(map(str, error["loc"])) or "settings"
    if error["type"] == "extra_forbidden":
        return f"there is no setting {name!r}; there are {', '.join(sorted(Settings.model_fields))}"
    return f"{name}: {error['msg'].removeprefix('Value error, ')}"


def _refuse(command: str, *reasons: str) -> NoReturn:
    for reason in reasons:
        sys.stderr.write(f"{command}: {reason}\n")
    sys.exit(2)


def _config_path(arguments: list[str]) -> str:
    for index, argument in enumerate(arguments):
        if argument == "--config" and index + 1 < len(arguments):
            return arguments[index + 1]
        if argument.startswith("--config="):
            return argument.partition("=")[2]
    return os.environ.get("CODECAGE_CONFIG", "")

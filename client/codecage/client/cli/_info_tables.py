"""A server's information as tables on standard output."""

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from codecage.client import Limits, Policy, ServerInfo
from codecage.client.cli._present import human_bytes, visible

_WIDTH_OF_A_FILE = 160
"""Columns where there is no terminal: nothing is folded then, so that every name can be searched for."""
_STATE_STYLES = {"active": "green", "unavailable": "yellow", "failed": "red", "disabled": "dim"}


def print_info(info: ServerInfo) -> None:
    """Print everything that a server says of itself."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_A_FILE
    console.print(_summary(info))
    for table in (_layers(info), _limits(info), _policies(info)):
        console.print()
        console.print(table)


def _summary(info: ServerInfo) -> Table:
    engine, pool = info.engine, info.pool
    why = f": {engine.mode_reason}" if engine.mode_reason else ""
    rows = [
        ("server", info.server_version),
        ("protocol", info.protocol_version),
        ("engine", f"{engine.name}, binding {engine.binding_version}"),
        ("engine mode", f"{engine.mode}{why}"),
        ("features", ", ".join(info.features) or "none"),
        ("workers", f"{pool.running} of {pool.capacity} running, {pool.warm} warm"),
        ("queue", f"{pool.queued} of {pool.queue_capacity}"),
        ("since the start", f"{pool.forks} workers, {pool.templates} templates"),
    ]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, escape(visible(value)))
    return table


def _layers(info: ServerInfo) -> Table:
    table = _table("Isolation", ("layer", "state", "required", "detail"))
    for layer in info.isolation_layers:
        style = _STATE_STYLES.get(layer.state, "")
        state = f"[{style}]{escape(layer.state)}[/]" if style else escape(layer.state)
        required = "yes" if layer.required else "no"
        table.add_row(escape(visible(layer.name)), state, required, escape(visible(layer.detail)))
    return table


def _limits(info: ServerInfo) -> Table:
    table = _table("Limits", ("limit", *(dialect.name for dialect in info.dialects), "ceiling"))
    columns = [*(dialect.limits for dialect in info.dialects), info.limit_ceilings]
    for field in fields(Limits):
        table.add_row(field.name, *(_limit(field.name, getattr(limits, field.name)) for limits in columns))
    return table


def _policies(info: ServerInfo) -> Table:
    table = _table("Policies", ("policy", *(dialect.name for dialect in info.dialects)))
    columns = [asdict(dialect.policy) for dialect in info.dialects]
    for field in fields(Policy):
        table.add_row(field.name, *(str(policy[field.name] or "-") for policy in columns))
    return table


def _limit(name: str, value: Any) -> str:
    if value is None:
        return "-"
    if name.endswith("_bytes"):
        return human_bytes(value)
    return f"{value:g} s" if isinstance(value, float) else f"{value:,}"


def _table(title: str, headings: Iterable[str]) -> Table:
    table = Table(box=None, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for index, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=index == 0)
    return table

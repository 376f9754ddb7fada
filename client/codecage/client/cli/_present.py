"""What one sees of a run: what it writes on standard output, all else on standard error."""

import base64
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from codecage.client import (
    UNDEFINED,
    ConsoleLine,
    Event,
    LedgerEntry,
    OutputImage,
    OutputText,
    RunResult,
    ScriptFailure,
    ToolCall,
    ToolCallsRequested,
    Usage,
)

_ARGUMENTS_SHOWN = 100  # characters
_CALLS_SHOWN = 40  # more are summed up by tool and status


class Live:
    """Shows a run as it goes on."""

    def __init__(self, *, shows_output: bool, shows_calls: bool) -> None:
        self._shows_output = shows_output
        self._shows_calls = shows_calls
        self._errors = _stderr()

    def show(self, event: Event) -> None:
        """Show an event as it comes."""
        match event:
            case OutputText(text) if self._shows_output:
                _write(text)
            case ConsoleLine(level, text) if self._shows_output:
                _write(text if level == "log" else f"[{level}] {text}")
            case OutputImage(image) if self._shows_output:
                _write(f"[image {image.mime_type}, {human_bytes(len(image.data))}]")
            case ToolCallsRequested(calls) if self._shows_calls:
                for call in calls:
                    self._errors.print(f"[cyan]→[/] {_told_call(call)}")
            case _:
                pass

    def answered(self, call: ToolCall, seconds: float, *, failure: str = "") -> None:
        """Show that a tool has answered, or why it failed."""
        if self._shows_calls:
            mark = "[red]✗[/]" if failure else "[green]✓[/]"
            why = f" {escape(visible(failure))}" if failure else ""
            name = escape(visible(call.tool_name))
            self._errors.print(f"{mark} {call.sequence} {name} [dim]{human_seconds(seconds)}[/]{why}")


def print_result(result: RunResult) -> None:
    """The value on standard output; the error, the calls and the usage on standard error."""
    if result.value is not UNDEFINED:
        is_text = isinstance(result.value, str)
        _write(result.value if is_text else json.dumps(result.value, indent=2, ensure_ascii=False))
    sys.stdout.flush()
    errors = _stderr()
    if result.error is not None:
        _print_failure(errors, result, result.error)
    for warning in result.warnings:
        where = f" (line {warning.position.line})" if warning.position else ""
        errors.print(f"[yellow]warning[/] {escape(visible(warning.message))}{where}", soft_wrap=True)
    if result.ledger:
        is_short = len(result.ledger) <= _CALLS_SHOWN
        errors.print(_ledger_table(result.ledger) if is_short else _sums_table(result.ledger))
    errors.print(_usage_line(result.usage), style="dim", soft_wrap=True)


def as_json(result: RunResult) -> str:
    """The result as one JSON object on one line.

    The value stands in it as the server sent it, digit for digit.
    """
    members = {
        "outcome": json.dumps(result.code),
        **({} if result.value_json is None else {"value": result.value_json}),
        "rendered": json.dumps(result.rendered),
        "error": json.dumps(None if result.error is None else asdict(result.error)),
        "usage": json.dumps(asdict(result.usage)),
        "ledger": json.dumps([asdict(entry) for entry in result.ledger]),
        "warnings": json.dumps([asdict(warning) for warning in result.warnings]),
        "console": json.dumps([asdict(line) for line in result.console]),
        "output": json.dumps([_output_item(item) for item in result.output]),
    }
    return "{" + ", ".join(f'"{name}": {text}' for name, text in members.items()) + "}"


def human_bytes(count: int) -> str:
    """A size as people read it: 512 B, 1.5 KiB, 64 MiB."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.3g} {unit}" if size < 1000 else f"{size:.0f} {unit}"


def human_seconds(seconds: float) -> str:
    """A time as people read it: 850 µs, 12 ms, 3.4 s."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def visible(text: str) -> str:
    """Text without control characters, which could steer the terminal: the script is not trusted with it."""
    return "".join(char if char.isprintable() or char in "\n\t" else f"\\x{ord(char):02x}" for char in text)


def _write(text: str) -> None:
    # Flushed: who reads a pipe wants to see it when it happens.
    print(visible(text) if sys.stdout.isatty() else text, flush=True)


def _stderr() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=False)


def _told_call(call: ToolCall) -> str:
    arguments = visible(call.arguments_json)
    if len(arguments) > _ARGUMENTS_SHOWN:
        arguments = arguments[:_ARGUMENTS_SHOWN] + "…"
    return f"{call.sequence} {escape(visible(call.tool_name))} [dim]{escape(arguments)}[/]"


def _print_failure(errors: Console, result: RunResult, error: ScriptFailure) -> None:
    where = f" (line {error.position.line}, column {error.position.column})" if error.position else ""
    told = f"{error.name}: {error.message}" if error.name else error.message
    errors.print(f"[bold red]{escape(result.code)}[/]{where} {escape(visible(told))}", soft_wrap=True)
    if error.excerpt:
        errors.print(escape(visible(error.excerpt)), style="dim", soft_wrap=True)
    if error.hint:
        errors.print(f"[cyan]hint[/] {escape(visible(error.hint))}", soft_wrap=True)


def _table(*headings: str) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in headings:
        is_name = heading in ("tool", "status")
        table.add_column(heading, justify="left" if is_name else "right", overflow="fold")
    return table


def _ledger_table(ledger: Sequence[LedgerEntry]) -> Table:
    table = _table("#", "tool", "status", "began", "took", "arguments", "answer")
    for entry in ledger:
        table.add_row(
            str(entry.sequence),
            escape(visible(entry.tool_name)),
            escape(visible(_status(entry))),
            human_seconds(entry.start_offset),
            human_seconds(entry.duration),
            human_bytes(entry.argument_bytes),
            human_bytes(entry.answer_bytes),
        )
    return table


def _sums_table(ledger: Sequence[LedgerEntry]) -> Table:
    """The calls of each tool that ended alike, in one row: times and sizes are sums."""
    rows: dict[tuple[str, str], list[LedgerEntry]] = {}
    for entry in ledger:
        rows.setdefault((entry.tool_name, _status(entry)), []).append(entry)
    table = _table("calls", "tool", "status", "took", "arguments", "answers")
    for (tool_name, status), entries in rows.items():
        table.add_row(
            str(len(entries)),
            escape(visible(tool_name)),
            escape(visible(status)),
            human_seconds(sum(entry.duration for entry in entries)),
            human_bytes(sum(entry.argument_bytes for entry in entries)),
            human_bytes(sum(entry.answer_bytes for entry in entries)),
        )
    return table


def _status(entry: LedgerEntry) -> str:
    return f"{entry.status} ({entry.failure_code})" if entry.failure_code else str(entry.status)


def _usage_line(usage: Usage) -> str:
    shown: list[str] = []
    for field in fields(usage):
        amount = getattr(usage, field.name)
        if amount:
            shown.append(f"{_label(field.name)} {_amount(field.name, amount)}")
    return ", ".join(shown)


def _label(name: str) -> str:
    return name.removesuffix("_time").removesuffix("_bytes").replace("_", " ")


def _amount(name: str, amount: Any) -> str:
    if name.endswith("_time"):
        return human_seconds(amount)
    return human_bytes(amount) if name.endswith("_bytes") else str(amount)


def _output_item(item: OutputText | OutputImage) -> dict[str, Any]:
    if isinstance(item, OutputText):
        return {"text": item.text}
    data = base64.b64encode(item.image.data).decode()
    return {"image": {"mime_type": item.image.mime_type, "data": data}}

"""What a run of the benchmarks says: a table for people, JSON for programs."""

import json
import os
import platform
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import version
from typing import Self


@dataclass(frozen=True)
class Result:
    """One figure beside its floor."""

    id: str
    name: str
    unit: str
    figure: float | None = None
    """Absent where it could not be measured; the note says why."""
    floor: float | None = None
    wanted: float | None = None
    """The largest ratio that is promised. Absent: the figure is for information."""
    note: str = ""

    @classmethod
    def of(cls, id_: str, name: str, values: list[float], *, wanted: float | None = None, note: str = "") -> Self:
        """A time in milliseconds, followed by its floor if there is one."""
        figure, floor = (*values, None)[:2]
        return cls(id_, name, "ms", figure, floor, wanted, note)

    @property
    def ratio(self) -> float | None:
        """The figure as a multiple of its floor."""
        return self.figure / self.floor if self.figure is not None and self.floor else None

    @property
    def falls_short(self) -> bool:
        """Whether a promise is not kept."""
        return self.ratio is not None and self.wanted is not None and self.ratio > self.wanted


def machine() -> dict[str, object]:
    """Where the figures are from."""
    node = shutil.which("node")
    return {
        "cpus": os.cpu_count(),
        "architecture": platform.machine(),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "grpcio": version("grpcio"),
        "protobuf": version("protobuf"),
        "node": subprocess.check_output([node, "--version"], text=True).strip() if node else None,
    }


def as_json(results: list[Result]) -> str:
    """All results in one object."""
    workloads = [
        {
            "id": result.id,
            "name": result.name,
            "figure": result.figure,
            "unit": result.unit,
            "floor": result.floor,
            "ratio": result.ratio,
            "wanted": result.wanted,
            "note": result.note,
        }
        for result in results
    ]
    return json.dumps({"workloads": workloads, "machine": machine()}, indent=2)


def as_table(results: list[Result]) -> str:
    """The same for people; what falls short is marked."""
    head = ("id", "what", "figure", "unit", "floor", "ratio", "wanted", "")
    rows = [head, *[_row(result) for result in results]]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    lines = ["  ".join(map(_aligned, row, widths, range(len(head)))).rstrip() for row in rows]
    about = ", ".join(f"{key} {value}" for key, value in machine().items())
    return "\n".join([*lines, "", about])


def _row(result: Result) -> tuple[str, ...]:
    marks = ["falls short"] if result.falls_short else []
    remark = "; ".join([*marks, *([result.note] if result.note else [])])
    wanted = "" if result.wanted is None else f"<= {_number(result.wanted)}"
    numbers = (_number(result.figure), result.unit, _number(result.floor), _number(result.ratio), wanted)
    return (result.id, result.name, *numbers, remark)


def _number(value: float | None) -> str:
    """Three digits that count."""
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def _aligned(text: str, width: int, column: int) -> str:
    """Numbers to the right, words to the left."""
    return text.rjust(width) if column in {2, 4, 5, 6} else text.ljust(width)

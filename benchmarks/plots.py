"""Draws what `python -m benchmarks --only growth --json` has measured.

python -m benchmarks.plots FILE FOLDER    # needs matplotlib, of the extra `bench`
"""

import importlib
import json
import sys
from pathlib import Path
from typing import Any

KINDS = (
    ("waiting", "growth-waiting.png", "A small run while scripts wait", "waiting scripts", "milliseconds"),
    ("memory", "growth-memory.png", "Memory of waiting scripts", "waiting scripts", "MiB"),
    ("callers", "growth-callers.png", "Time for each small run", "callers", "milliseconds"),
    ("tools", "growth-tools.png", "A small run with its catalogue sent along", "tools", "milliseconds"),
    ("javascript", "growth-source.png", "A run of so much source", "KiB", "milliseconds"),
    ("typescript", "growth-source.png", "A run of so much source", "KiB", "milliseconds"),
)


def points(workloads: list[dict[str, Any]], kind: str) -> list[tuple[int, float]]:
    """Size and figure of one kind, in order."""
    found = [workload for workload in workloads if workload["id"].startswith(f"growth.{kind}.")]
    return sorted((int(each["id"].rpartition(".")[2]), each["figure"]) for each in found)


def draw(workloads: list[dict[str, Any]], folder: Path) -> None:
    """One picture for each kind; the two languages share theirs."""
    importlib.import_module("matplotlib").use("Agg")
    plt: Any = importlib.import_module("matplotlib.pyplot")
    for file in dict.fromkeys(kind[1] for kind in KINDS):
        figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
        for kind, _file, title, x_label, y_label in (each for each in KINDS if each[1] == file):
            xs, ys = zip(*points(workloads, kind), strict=True)
            is_each = kind == "memory"  # measured for each, drawn for all: a line is what is promised
            axes.plot(xs, [x * y for x, y in zip(xs, ys, strict=True)] if is_each else ys, marker="o", label=kind)
            axes.set(title=title, xlabel=x_label, ylabel=y_label, xscale="linear" if is_each else "log")
        axes.set_ylim(bottom=0)
        if file == "growth-source.png":
            axes.set_yscale("log")
            axes.legend()
        axes.grid(visible=True, alpha=0.3)
        figure.savefig(folder / file, dpi=110, metadata={"Software": ""})
        plt.close(figure)


def main() -> None:
    """Reads the file, writes the pictures."""
    file, folder = map(Path, sys.argv[1:])
    draw(json.loads(file.read_text())["workloads"], folder)


if __name__ == "__main__":
    main()

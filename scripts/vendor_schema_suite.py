"""Take over the cases of the JSON Schema test suite from the source package of `jsonschema` on PyPI.

python scripts/vendor_schema_suite.py    fetch VERSION with pip, and write one file for each draft
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

VERSION = "4.26.0"
DRAFTS = ("draft7", "draft2020-12")
FOLDER = Path(__file__).resolve().parent.parent / "tests" / "unit" / "server" / "schema_suite"


def main() -> int:
    """Return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*command, "--dest", folder, f"jsonschema=={VERSION}"], check=True)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            take_over(archive)
    return 0


def take_over(archive: tarfile.TarFile) -> None:
    """Write the required cases of each draft, file by file, and the license."""
    root = f"jsonschema-{VERSION}/json"
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "LICENSE").write_bytes(content(archive, f"{root}/LICENSE"))
    for draft in DRAFTS:
        folder = f"{root}/tests/{draft}/"
        names = sorted(name for name in archive.getnames() if name.startswith(folder) and name.count("/") == 4)
        cases: dict[str, Any] = {
            Path(name).stem: json.loads(content(archive, name)) for name in names if name.endswith(".json")
        }
        lines = [f"{json.dumps(stem)}: {json.dumps(groups, separators=(',', ':'))}" for stem, groups in cases.items()]
        (FOLDER / f"{draft}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")


def content(archive: tarfile.TarFile, name: str) -> bytes:
    """Return a file of the archive."""
    found = archive.extractfile(name)
    assert found is not None, name
    return found.read()


if __name__ == "__main__":
    sys.exit(main())

"""Take over the parser of the script normaliser from its npm package, or check that what is there is unchanged.

python scripts/vendor_babel.py --check   compare the files with SHA256SUMS
python scripts/vendor_babel.py           fetch VERSION with npm, and write the files and SHA256SUMS
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "7.29.15"
FOLDER = Path(__file__).resolve().parent.parent / "worker" / "codecage" / "worker" / "js" / "vendor" / "babel-parser"
MEMBERS = {"index.js": "package/lib/index.js", "LICENSE": "package/LICENSE"}


def main() -> int:
    """Return the exit code: 0 when all is well, 1 when a file is not what SHA256SUMS says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; compare the files with their hashes")
    if bool(parser.parse_args().check):
        changed = check()
        for name in changed:
            print(f"vendor_babel: {name} is not what SHA256SUMS says", file=sys.stderr)
        return 1 if changed else 0
    take_over()
    return 0


def check() -> list[str]:
    """List what is missing or differs from its hash; the license and the code must both have one."""
    sums = (FOLDER / "SHA256SUMS").read_text(encoding="ascii").splitlines()
    expected = {name: digest for digest, name in (line.split(maxsplit=1) for line in sums)}
    return [name for name in MEMBERS if expected.get(name) != digest_of(FOLDER / name)]


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, or an empty text if there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def take_over() -> None:
    """Write the files of VERSION and their hashes."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"@babel/parser@{VERSION}"]
        packed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        with tarfile.open(Path(folder) / packed.stdout.strip()) as archive:
            for name, member in MEMBERS.items():
                content = archive.extractfile(member)
                assert content is not None
                (FOLDER / name).write_bytes(content.read())
    lines = [f"{digest_of(FOLDER / name)}  {name}\n" for name in MEMBERS]
    (FOLDER / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    sys.exit(main())

"""Generate the Python modules beside every .proto, or compare what is there with what would be generated.

The generated code is checked in and never edited. The versions of grpcio-tools and mypy-protobuf are pinned
in pyproject.toml, because the generator's version is the oldest runtime the generated code accepts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
MARK = "_pb2"  # part of the name of every generated file, and of no other


class GenerationError(Exception):
    """protoc refused; its own words are on standard error already."""


def main() -> int:
    """Return the exit code: 0 when fresh or written, 1 when --check found a difference."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; list what differs and fail")
    check = bool(parser.parse_args().check)
    with tempfile.TemporaryDirectory() as folder:
        try:
            generate(Path(folder))
        except GenerationError as error:
            print(f"generate_proto: {error}", file=sys.stderr)
            return 1
        drifted = compare(Path(folder))
        if check:
            return report(drifted)
        write(Path(folder), drifted)
    return 0


def generate(target: Path) -> None:
    """Generate everything below `proto/` into `target`."""
    sources = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    run_protoc(
        f"--python_out={target}",
        f"--plugin=protoc-gen-mypy={plugin('protoc-gen-mypy')}",
        f"--mypy_out=quiet:{target}",
        *sources,
    )
    # Only for files with a service: for others the plugins write modules that hold nothing.
    run_protoc(
        f"--grpc_python_out={target}",
        f"--plugin=protoc-gen-mypy_grpc={plugin('protoc-gen-mypy_grpc')}",
        f"--mypy_grpc_out=quiet:{target}",
        *with_service(target, sources),
    )


def with_service(scratch: Path, sources: list[str]) -> list[str]:
    """Return those of `sources` that define a service."""
    descriptors = scratch / "descriptors"
    run_protoc(f"--descriptor_set_out={descriptors}", *sources)
    parsed = FileDescriptorSet.FromString(descriptors.read_bytes())
    descriptors.unlink()
    return [file.name for file in parsed.file if file.service]


def run_protoc(*arguments: str) -> None:
    """Run the protoc of grpcio-tools, which knows where the well-known types are."""
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", *arguments]
    if subprocess.run(command, check=False).returncode != 0:
        raise GenerationError("protoc failed")


def plugin(name: str) -> Path:
    """Return a plugin of this interpreter's environment, whether or not that is on PATH."""
    path = Path(sys.executable).parent / name
    if not path.exists():
        raise GenerationError(f"{name} is not installed beside {Path(sys.executable).name}: run 'make setup'")
    return path


def compare(fresh: Path) -> list[Path]:
    """Return the generated files below `proto/` that are missing, differ, or have no source any more."""
    wanted = {path.relative_to(fresh) for path in fresh.rglob(f"*{MARK}*.py*")}
    present = {path.relative_to(PROTO) for path in PROTO.rglob(f"*{MARK}*.py*") if path.parent.name != "__pycache__"}
    same = {name for name in wanted & present if (fresh / name).read_bytes() == (PROTO / name).read_bytes()}
    return sorted((wanted | present) - same)


def report(drifted: list[Path]) -> int:
    """Print what differs and return the exit code of --check."""
    for name in drifted:
        print(f"not as generated: proto/{name}", file=sys.stderr)
    if drifted:
        print("run 'make proto' and commit the result", file=sys.stderr)
    return int(bool(drifted))


def write(fresh: Path, drifted: list[Path]) -> None:
    """Put the fresh files in place and remove those without a source."""
    for name in drifted:
        if (fresh / name).exists():
            (PROTO / name).write_bytes((fresh / name).read_bytes())
            print(f"wrote proto/{name}")
        else:
            (PROTO / name).unlink()
            print(f"removed proto/{name}")


if __name__ == "__main__":
    sys.exit(main())

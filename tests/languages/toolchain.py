"""What each client of client/examples is built with and run by, and the building itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["LANGUAGES", "Language", "build"]

ROOT = Path(__file__).resolve().parents[2]
BUILD_SECONDS = 800.0

_GOCODE = "/usr/share/gocode/src"
_JARS = "/usr/share/java"


@dataclass(frozen=True)
class Language:
    """A language with a client."""

    packages: str
    """What to install, by the names of Debian 12; .ci/run installs the same."""
    needs: tuple[str, ...]
    """Programs by name and files by path, by which each of the packages is known."""
    command: tuple[str, ...]
    """What runs the client, in its folder."""
    takes_unix_sockets: bool = True


LANGUAGES = {
    "node": Language("nodejs npm", ("node", "npm"), ("node", "client.js")),
    "go": Language(
        "protobuf-compiler protoc-gen-go protoc-gen-go-grpc golang-go golang-google-grpc-dev"
        " golang-google-genproto-dev golang-google-protobuf-dev golang-github-golang-protobuf-1-5-dev",
        (
            *("protoc", "protoc-gen-go", "protoc-gen-go-grpc", "go"),
            f"{_GOCODE}/google.golang.org/grpc/clientconn.go",
            f"{_GOCODE}/google.golang.org/genproto/googleapis/rpc/errdetails/error_details.pb.go",
            f"{_GOCODE}/google.golang.org/protobuf/proto/proto.go",
            # 1.3, which does not know the messages of today's generator, lacks this file.
            f"{_GOCODE}/github.com/golang/protobuf/proto/proto.go",
        ),
        ("build/client",),
    ),
    "java": Language(
        "protobuf-compiler protobuf-compiler-grpc-java-plugin default-jdk-headless libgrpc-java libprotobuf-java"
        " libnetty-java libperfmark-java libguava-java libgoogle-gson-java libgoogle-common-protos-java"
        " libgeronimo-annotation-1.3-spec-java",
        (
            *("protoc", "grpc_java_plugin", "javac", "java"),
            *(f"{_JARS}/{name}.jar" for name in ("grpc-netty", "protobuf", "netty-transport", "perfmark-api", "guava")),
            *(f"{_JARS}/{name}.jar" for name in ("gson", "proto-google-common-protos", "geronimo-annotation-1.3-spec")),
        ),
        ("build/client",),
        takes_unix_sockets=False,
    ),
    "cpp": Language(
        "protobuf-compiler protobuf-compiler-grpc g++ make pkg-config libgrpc++-dev libprotobuf-dev",
        (
            *("protoc", "grpc_cpp_plugin", "g++", "make", "pkg-config"),
            *("/usr/include/grpcpp/grpcpp.h", "/usr/include/google/protobuf/message.h"),
        ),
        ("build/client",),
    ),
}


def build(name: str, folder: Path) -> Path:
    """Build a client in a copy of its folder, as a reader would, and return that folder.

    Without its tools skip, or fail where CI has promised to install them.
    """
    language = LANGUAGES[name]
    absent = [need for need in language.needs if not _is_there(need)]
    if absent:
        told = f"{', '.join(absent)} not found (Debian: apt-get install {language.packages})"
        if os.environ.get("CODECAGE_CI"):
            pytest.fail(told)
        pytest.skip(told)
    (folder / "proto").symlink_to(ROOT / "proto")
    home = folder / "client" / "examples" / name
    made = shutil.ignore_patterns("build", "node_modules")
    shutil.copytree(ROOT / "client" / "examples" / name, home, ignore=made)
    ended = subprocess.run(
        ["make", "-C", str(home)], capture_output=True, text=True, timeout=BUILD_SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return home


def _is_there(need: str) -> bool:
    return Path(need).exists() if need.startswith("/") else shutil.which(need) is not None

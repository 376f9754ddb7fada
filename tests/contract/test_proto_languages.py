"""The public protocol generates with the protoc and the plugins that Debian 12 ships, not only with ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROTO = Path(__file__).resolve().parent.parent.parent / "proto"
PUBLIC = "codecage/v1/codecage.proto"

# For each language: Debian packages, plugin programs, arguments of protoc, files that must appear.
LANGUAGES = {
    "go": (
        "protobuf-compiler protoc-gen-go protoc-gen-go-grpc",
        ["protoc-gen-go", "protoc-gen-go-grpc"],
        ["--go_out=paths=source_relative:OUT", "--go-grpc_out=paths=source_relative:OUT"],
        {"codecage/v1/codecage.pb.go", "codecage/v1/codecage_grpc.pb.go"},
    ),
    "java": (
        "protobuf-compiler protobuf-compiler-grpc-java-plugin",
        ["grpc_java_plugin"],
        ["--java_out=OUT", "--plugin=protoc-gen-grpc-java=PLUGIN", "--grpc-java_out=OUT"],
        {"dev/codecage/v1/RunRequest.java", "dev/codecage/v1/CodeModeServiceGrpc.java"},
    ),
    "cpp": (
        "protobuf-compiler protobuf-compiler-grpc",
        ["grpc_cpp_plugin"],
        ["--cpp_out=OUT", "--plugin=protoc-gen-grpc-cpp=PLUGIN", "--grpc-cpp_out=OUT"],
        {
            "codecage/v1/codecage.pb.h",
            "codecage/v1/codecage.pb.cc",
            "codecage/v1/codecage.grpc.pb.h",
            "codecage/v1/codecage.grpc.pb.cc",
        },
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_public_protocol_generates_with_debians_plugins(language: str, tmp_path: Path) -> None:
    packages, programs, arguments, expected = LANGUAGES[language]
    protoc, plugin, *_ = [program(name, packages) for name in ("protoc", *programs)]
    filled = [argument.replace("OUT", str(tmp_path)).replace("PLUGIN", plugin) for argument in arguments]
    ended = subprocess.run(
        [protoc, f"-I{PROTO}", *filled, PUBLIC], capture_output=True, text=True, timeout=50, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    made = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert expected - made == set()


def program(name: str, packages: str) -> str:
    """Return the path of a system tool; without it skip, or fail where CI has promised to install it."""
    found = shutil.which(name)
    if found is None:
        absent = f"{name} is not installed (Debian: apt-get install {packages})"
        if os.environ.get("CODECAGE_CI"):
            pytest.fail(absent)
        pytest.skip(absent)
    return found

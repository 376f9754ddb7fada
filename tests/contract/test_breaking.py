"""Today's contract breaks no caller of the released one, and a change that would is noticed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = Path("codecage") / "v1" / "codecage.proto"
RELEASED = ROOT / "tests" / "contract" / "released"

# A line of the released contract, what it becomes, and the rules of buf that this breaks.
BREAKING = {
    "a field removed": ("  string tool_name = 4;\n", "", {"FIELD_NO_DELETE"}),
    "a field renamed": (
        "  string tool_name = 4;\n",
        "  string name = 4;\n",
        {"FIELD_SAME_NAME", "FIELD_SAME_JSON_NAME"},
    ),
    "a field of another type": ("  bool denied = 5;\n", "  string denied = 5;\n", {"FIELD_SAME_TYPE"}),
    "a field of another number": ("  bool denied = 5;\n", "  bool denied = 6;\n", {"FIELD_NO_DELETE"}),
    "a field that loses its presence": (
        "  optional string value_json = 5;\n",
        "  string value_json = 5;\n",
        {"FIELD_SAME_CARDINALITY"},
    ),
    "an enum value removed": ("  OUTCOME_ANSWER_SIZE = 22;\n", "", {"ENUM_VALUE_NO_DELETE"}),
    "a method removed": ("  rpc Check(CheckRequest) returns (CheckResponse);\n", "", {"RPC_NO_DELETE"}),
    "a stream that is none any more": (
        "rpc Run(stream RunRequest)",
        "rpc Run(RunRequest)",
        {"RPC_SAME_CLIENT_STREAMING"},
    ),
    "another package for Java": (
        'java_package = "dev.codecage.v1"',
        'java_package = "dev.codecage.v2"',
        {"FILE_SAME_JAVA_PACKAGE"},
    ),
}
COMPATIBLE = {
    "a field added": ("  bool denied = 5;\n", "  bool denied = 5;\n  // New.\n  bool asked = 6;\n"),
    "an enum value added": (
        "  OUTCOME_ANSWER_SIZE = 22;\n",
        "  OUTCOME_ANSWER_SIZE = 22;\n  // New.\n  OUTCOME_NEW = 23;\n",
    ),
    "a comment changed": ("// Answers to tool calls, in any order.\n", "// Answers.\n"),
}


def test_todays_contract_breaks_nothing_that_was_released() -> None:
    assert broken_rules(ROOT) == set()


@pytest.mark.parametrize(("old", "new", "rules"), BREAKING.values(), ids=BREAKING)
def test_a_breaking_change_is_noticed(old: str, new: str, rules: set[str], tmp_path: Path) -> None:
    assert broken_rules(changed_tree(tmp_path, old, new)) == rules


@pytest.mark.parametrize(("old", "new"), COMPATIBLE.values(), ids=COMPATIBLE)
def test_what_callers_do_not_notice_is_allowed(old: str, new: str, tmp_path: Path) -> None:
    assert broken_rules(changed_tree(tmp_path, old, new)) == set()


def changed_tree(folder: Path, old: str, new: str) -> Path:
    """Lay out a tree like ours whose contract is the released one with a change."""
    released = (RELEASED / CONTRACT).read_text()
    assert old in released
    contract = folder / "proto" / CONTRACT
    contract.parent.mkdir(parents=True)
    contract.write_text(released.replace(old, new, 1))
    shutil.copy(ROOT / "buf.yaml", folder)
    return folder


def broken_rules(tree: Path) -> set[str]:
    """Compare the contract of a tree with the released one by the command of `make lint`."""
    buf = Path(sys.executable).parent / "buf"
    if not buf.exists():
        pytest.skip("buf is not installed in this environment (a run against the wheel)")
    ended = subprocess.run(
        [buf, "breaking", "--error-format", "json", "--against", RELEASED],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    rules = {json.loads(line)["type"] for line in ended.stdout.splitlines()}
    assert (ended.returncode, ended.stderr) == (100 if rules else 0, "")
    return rules

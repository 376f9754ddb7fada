"""The example programs, run by the command as their readers run them, give the answers of their data."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script: str) -> dict[str, Any]:
    """What `codecage run --json` tells of an example."""
    command = [sys.executable, "-m", "codecage.client", "run", "--json", "--tools", str(EXAMPLES / "files.py")]
    done = subprocess.run([*command, str(EXAMPLES / script / "script.js")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["outcome"] == "completed"
    return told


def test_the_statuses_of_the_orders_are_counted() -> None:
    (path,) = EXAMPLES.rglob("orders.json")
    orders = json.loads(path.read_text())
    listed = orders if isinstance(orders, list) else orders["orders"]
    assert run("count_statuses")["value"] == dict(Counter(order["status"] for order in listed))


def test_every_package_is_told_with_its_version_and_privacy() -> None:
    told = json.dumps(run("package_versions")["value"])
    for path in EXAMPLES.rglob("package.json"):
        try:
            package = json.loads(path.read_text())
        except json.JSONDecodeError:
            continue
        if isinstance(package, dict) and "name" in package and "version" in package:
            assert package["name"] in told
            assert package["version"] in told


def test_controllers_without_a_test_are_found() -> None:
    value = run("controllers_without_tests")["value"]
    # Counted by hand: the data is in the repository.
    assert value["controllers"] == 16
    assert [path.rpartition("/")[2] for path in value["without_test"]] == [
        "PaymentCallbackEndpoint.java",
        "ReviewController.java",
        "CouponController.java",
        "AddressController.java",
        "StockController.java",
        "ReturnController.java",
    ]

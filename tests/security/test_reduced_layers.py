"""Every forbidden thing is stopped whoever runs the service, and whatever the kernel or a container refuses to it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.security.examination import NOBODY, Examination, as_user, examine

from codecage.server.isolation import ALWAYS_REQUIRED, KNOWN_LAYERS
from codecage.server.probes import ESCAPED, PROBES

pytestmark = pytest.mark.timeout(180)
NAMESPACES = {
    "cgroup_namespace", "ipc_namespace", "mount_namespace", "network_namespace", "process_namespace", "uts_namespace",
}  # fmt: skip
LIKE_DOCKER = "unshare,mount,umount2,pivot_root,setns"
WITHOUT_ROOT = LIKE_DOCKER + ",chroot"
WITHOUT_LANDLOCK = "landlock_create_ruleset"
MINE = os.getuid()
PLACES = {
    "as this user": (MINE, ""),
    "as an ordinary user": (NOBODY, ""),
    "as this user, namespaces refused": (MINE, LIKE_DOCKER),
    "as an ordinary user, namespaces refused": (NOBODY, LIKE_DOCKER),
    "as this user, chroot refused as well": (MINE, WITHOUT_ROOT),
    "as this user, without Landlock": (MINE, WITHOUT_LANDLOCK),
    "as an ordinary user, with nothing but what is always required": (NOBODY, f"{WITHOUT_ROOT},{WITHOUT_LANDLOCK}"),
}


@pytest.fixture(params=[*PLACES.values()], ids=[*PLACES])
def examined(request: pytest.FixtureRequest) -> Examination:
    """What the doctor says in one of these places."""
    uid, refused = request.param
    return examine(uid, refused)


@pytest.mark.parametrize("probe", PROBES, ids=[probe.name for probe in PROBES])
def test_every_attempt_is_stopped_whatever_is_refused(examined: Examination, probe: object) -> None:
    name = getattr(probe, "name", "")
    how = examined.attempts[name]
    assert how not in {ESCAPED, "ESCAPED", "no answer"}
    # Stopped by a door, and not by a slip of the attempt itself.
    assert how == "SIGSYS" or how in {"EACCES", "EAGAIN", "EINVAL"}


def test_the_doctor_is_content_with_what_is_always_required(examined: Examination) -> None:
    assert examined.code == 0, examined.text
    assert {name for name, (state, _detail) in examined.layers.items() if state == "active"} >= ALWAYS_REQUIRED


def test_a_layer_that_does_not_hold_says_why(examined: Examination) -> None:
    silent = [name for name, (state, detail) in examined.layers.items() if state != "active" and not detail]
    assert silent == []
    assert set(examined.layers) == KNOWN_LAYERS


@pytest.mark.skipif(MINE != 0, reason="needs root")
def test_as_root_every_layer_but_the_user_namespace_holds() -> None:
    missing = {name for name, (state, _detail) in examine(0).layers.items() if state != "active"}
    assert missing <= {"user_namespace"}


def test_as_an_ordinary_user_there_is_no_user_for_each_worker() -> None:
    assert examine(NOBODY).state("separate_uid") == "unavailable"


def test_refused_namespaces_are_told_with_the_kernel_s_word() -> None:
    examined = examine(MINE, LIKE_DOCKER)
    assert {examined.layers[name] for name in NAMESPACES} == {("unavailable", "Operation not permitted")}


@pytest.mark.skipif(MINE != 0, reason="needs root")
def test_where_mounting_is_refused_to_root_the_root_is_an_empty_folder_all_the_same() -> None:
    assert examine(0, LIKE_DOCKER).layers["empty_root"] == ("active", "chroot")
    assert examine(0, WITHOUT_ROOT).state("empty_root") == "unavailable"


def test_a_kernel_without_landlock_is_told() -> None:
    assert examine(MINE, WITHOUT_LANDLOCK).state("landlock") == "unavailable"


def serve(*arguments: str, refused: str = "", uid: int = MINE) -> subprocess.CompletedProcess[str]:
    """Runs a server that ends at once: its lifeline is a pipe that is at its end."""
    command = [sys.executable, "-m", "codecage.server", "--listen", "127.0.0.1:0", "--lifeline-fd", "0", *arguments]
    if refused:
        command = [sys.executable, "-m", "tests.security.refused", refused, *command]
    return subprocess.run(command, input="", capture_output=True, text=True, timeout=60, check=False, **as_user(uid))


@pytest.mark.parametrize("layer", sorted(NAMESPACES))
def test_a_layer_that_is_required_and_missing_keeps_the_service_down(layer: str) -> None:
    ended = serve("--require", layer, refused=LIKE_DOCKER)
    assert ended.returncode == 1
    assert f"workers lack required layers: {layer} (Operation not permitted)" in ended.stderr


def test_a_user_for_each_worker_can_be_insisted_on() -> None:
    ended = serve("--require", "separate_uid", uid=NOBODY)
    assert ended.returncode == 1
    assert "separate_uid (the service does not run as root)" in ended.stderr


@pytest.mark.skipif(MINE != 0, reason="needs root")
def test_layers_that_are_required_and_hold_do_no_harm() -> None:
    wanted = sorted(KNOWN_LAYERS - {"user_namespace"})
    assert serve("--require", ",".join(wanted)).returncode == 0


@pytest.mark.parametrize("option", ["--require", "--accept-missing"])
def test_a_layer_that_does_not_exist_is_refused_by_name(option: str) -> None:
    ended = serve(option, "moat")
    assert ended.returncode == 2
    assert "no such layer: moat" in ended.stderr


def test_without_seccomp_the_service_does_not_start() -> None:
    ended = serve(refused="filters")
    assert ended.returncode == 1
    assert "workers lack required layers: seccomp (Operation not permitted)" in ended.stderr


def test_without_seccomp_it_starts_only_when_told_to_and_says_so_loudly() -> None:
    ended = serve("--accept-missing", "seccomp", "--log-format", "json", refused="filters")
    assert ended.returncode == 0, ended.stderr
    warnings = [line for line in (ended.stdout + ended.stderr).splitlines() if '"warning"' in line]
    assert any("accept_missing" in line and "seccomp" in line for line in warnings)


def test_without_seccomp_the_other_layers_still_stop_what_they_can() -> None:
    examined = examine(MINE, "filters", ("--accept-missing", "seccomp"))
    assert examined.state("seccomp") == "failed"
    for name in ("open an internet socket", "open a Unix socket", "make a pipe"):
        assert examined.attempts[name] == "EMFILE"
    for name in ("duplicate a descriptor", "read a file", "write a file", "fork", "open a process", "trace the parent"):
        assert examined.attempts[name] not in {"ESCAPED", "no answer"}

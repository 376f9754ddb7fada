"""Settings that cannot be: each is refused by name, with exit code 1 or 2 and without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "codecage.server"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--listen", "127.0.0.1:65536"], "cannot listen on '127.0.0.1:65536'"),
        (["--listen", "nowhere"], "it is neither unix:PATH nor HOST:PORT"),
        (["--listen", "unix:/nonexistent/s.sock"], "there is no folder /nonexistent"),
        (["--listen", "unix:"], "the path of the socket is missing"),
        (["--listen", f"unix:/tmp/{'s' * 120}"], "a path of 125 bytes; a socket's has 107 at most"),
        (["--lifeline-fd", "77"], "lifeline_fd: 77 is no open descriptor"),
        (["--ready-fd", "99999999999"], "ready_fd: 99999999999 is no open descriptor"),
        (["--max-script-time", "inf"], "max_script_time: Input should be less than"),
        (["--drain-seconds", "nan"], "drain_seconds: Input should be"),
        (["--uid-base", "4294967290"], "reach beyond the last uid"),
        (["--uid-count", "3"], "uid_count must be 0 or at least"),
        (["--socket-mode", "999"], "socket_mode: must be an octal mode"),
        (["--config", "/nonexistent.toml"], "there is no file /nonexistent.toml"),
        (["--cpacity", "3"], "cpacity"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(arguments: list[str], reason: str) -> None:
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode in (1, 2)
    assert reason in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("cpacity = 3", "there is no setting 'cpacity'; there are accept_missing, "),
        ("capacity = ", "is no TOML: "),
        ('capacity = "many"', "capacity: Input should be a valid integer"),
    ],
)
def test_a_mistake_in_the_file_is_told_by_the_command_that_reads_it(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "codecage.toml").write_text(text)
    command = [sys.executable, "-m", "codecage.server.doctor", "--config", str(tmp_path / "codecage.toml")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith("codecage doctor: ")
    assert reason in ended.stderr


def test_an_interrupt_during_the_start_ends_it_without_a_traceback() -> None:
    arguments = ["--listen", "127.0.0.1:0", "--log-format", "json"]
    process = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "template ready" in process.stderr.readline()  # and the canary comes before serving
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert "Traceback" not in told

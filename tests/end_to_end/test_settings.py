"""Settings that cannot be: each is refused by name, with exit code 1 or 2 and without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "codecage.server"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--listen", "127.0.0.1:65536"], "cannot listen on '127.0.0.1:65536'"),
        (["--listen", "nowhere"], "it is neither unix:PATH nor HOST:PORT"),
        (["--listen", "unix:/nonexistent/s.sock"], "there is no folder /nonexistent"),
        (["--lifeline-fd", "77"], "lifeline_fd: Value error, 77 is no open descriptor"),
        (["--ready-fd", "99999999999"], "ready_fd: Value error, 99999999999 is no open descriptor"),
        (["--max-script-time", "inf"], "max_script_time: Input should be less than"),
        (["--drain-seconds", "nan"], "drain_seconds: Input should be"),
        (["--uid-base", "4294967290"], "reach beyond the last uid"),
        (["--uid-count", "3"], "uid_count must be 0 or at least"),
        (["--socket-mode", "999"], "socket_mode: Value error, must be an octal mode"),
        (["--config", "/nonexistent.toml"], "there is no file /nonexistent.toml"),
        (["--cpacity", "3"], "cpacity"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(arguments: list[str], reason: str) -> None:
    ended = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode in (1, 2)
    assert reason in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_interrupt_during_the_start_ends_it_without_a_traceback() -> None:
    arguments = ["--listen", "127.0.0.1:0", "--log-format", "json"]
    process = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "template ready" in process.stderr.readline()  # and the canary comes before serving
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert "Traceback" not in told

"""A real server process on a private Unix socket, the processes below it, and an end that leaves nothing behind."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil

__all__ = ["ServiceProcess", "wait_gone"]

START_SECONDS = 30.0
STOP_SECONDS = 15.0
GONE_SECONDS = 10.0


class ServiceProcess:
    """Owns a server from `start` to `stop`. Whoever starts one stops it, whatever happens in between."""

    def __init__(self, *arguments: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="codecage-test-"))
        self.address = f"unix:{self._folder}/s.sock"
        self.more_addresses: list[str] = []
        """Those of `--listen` in the arguments, with the ports that were taken."""
        self._is_killed = False
        self._sessions: set[int] = set()
        ready, ready_there = os.pipe()
        lifeline_there, self._lifeline = os.pipe()
        command = [sys.executable, "-m", "codecage.server", "--listen", self.address]
        command += ["--ready-fd", str(ready_there), "--lifeline-fd", str(lifeline_there), *arguments]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(ready_there, lifeline_there),
            )
        os.close(ready_there)
        os.close(lifeline_there)
        self._await_ready(ready)

    @property
    def pid(self) -> int:
        """The server."""
        return self._process.pid

    @property
    def process(self) -> psutil.Process:
        """The server."""
        return psutil.Process(self.pid)

    def templates(self) -> list[psutil.Process]:
        """The living templates, oldest first; more than one while one retires."""
        leaders = [child for child in _children(self.process) if _session(child.pid) == child.pid]
        self._sessions.update(leader.pid for leader in leaders)
        return [_template_of(leader) for leader in sorted(leaders, key=psutil.Process.create_time)]

    def template(self) -> psutil.Process:
        """The only living template."""
        (template,) = self.templates()
        return template

    def workers(self) -> list[psutil.Process]:
        """The living workers, waiting ones too, oldest first."""
        found = [worker for template in self.templates() for worker in _children(template)]
        return sorted(found, key=psutil.Process.create_time)

    def log(self) -> list[dict[str, Any]]:
        """The lines that the server has logged. A line that is not JSON comes under the key "text"."""
        return [_log_event(line) for line in self.log_text().splitlines()]

    def log_text(self) -> str:
        """All that the server has written."""
        return self._log.read_text(errors="replace")

    def kill(self) -> None:
        """Kills the server and waits for its death."""
        self._is_killed = True
        self._note_sessions()
        self._process.kill()
        self._process.wait(GONE_SECONDS)

    def cut_lifeline(self) -> None:
        """Lets the server see that its owner is gone. May be called again."""
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1

    def stop(self) -> None:
        """Ends the server. Asserts that it ended well and that no process below it is left."""
        doomed = self._note_sessions()
        log = ""
        try:
            self.cut_lifeline()
            try:
                code = self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                code = self._process.wait(GONE_SECONDS)
            left = self._end_what_is_left(doomed)
            log = self.log_text()[-4000:]
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
        assert left == [], f"the server left processes behind\n{log}"
        assert self._is_killed or code == 0, f"the server ended with code {code}\n{log}"

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    def _await_ready(self, ready: int) -> None:
        try:
            readable, _, _ = select.select([ready], [], [], START_SECONDS)
            line = os.read(ready, 4096) if readable else b""
        finally:
            os.close(ready)
        if not line:
            self._is_killed = True
            self._process.kill()
            log = self.log_text()[-4000:]
            self.stop()
            raise AssertionError(f"the server did not start\n{log}")
        told = json.loads(line)
        assert told.keys() == {"listen"}
        first, *self.more_addresses = told["listen"]
        assert first == self.address

    def _note_sessions(self) -> list[psutil.Process]:
        """All living processes below the server."""
        try:
            self.templates()
            return self.process.children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def _end_what_is_left(self, doomed: list[psutil.Process]) -> list[psutil.Process]:
        """Every process below a template is in the template's session, wherever it was moved to meanwhile."""
        strays = [process for process in psutil.process_iter() if _session(process.pid) in self._sessions]
        _gone, left = psutil.wait_procs({*doomed, *strays}, GONE_SECONDS)
        left = [process for process in left if _is_alive(process)]
        for process in left:
            process.kill()
        return left


def wait_gone(processes: list[psutil.Process], seconds: float = GONE_SECONDS) -> None:
    """Waits for the death of processes. Asserts that it comes in time."""
    _gone, left = psutil.wait_procs(processes, seconds)
    assert [process for process in left if _is_alive(process)] == []


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [child for child in process.children() if _is_alive(child)]
    except psutil.NoSuchProcess:
        return []


def _template_of(leader: psutil.Process) -> psutil.Process:
    """A template with a process-id namespace is the first process in it, below the one that was started."""
    return next((child for child in _children(leader) if _is_first_in_namespace(child.pid)), leader)


def _is_first_in_namespace(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    pids = [line.split() for line in status.splitlines() if line.startswith("NSpid:")]
    return bool(pids) and len(pids[0]) > 2 and pids[0][-1] == "1"


def _is_alive(process: psutil.Process) -> bool:
    """A zombie that only waits to be reaped is not alive."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def _log_event(line: str) -> dict[str, Any]:
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        return {"text": line}
    return event

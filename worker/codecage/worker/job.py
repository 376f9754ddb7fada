"""One script from its first frame to its last, inside its worker."""

from __future__ import annotations

import base64
import binascii
import json
from collections import deque
from collections.abc import Callable
from typing import NoReturn, cast

from codecage.internal.v1 import worker_pb2 as wire
from codecage.worker.channel import Channel
from codecage.worker.normaliser import Entry, Language, Normalised, Refusal
from codecage.worker.positions import Positions
from codecage.worker.realm import FromHost, Realm, ToHost

__all__ = ["Job"]

_FLUSH_BYTES = 256 << 10
"""Calls of one turn are sent early once they hold this much."""
_MAX_NOTICES = 100
_COLLECTED_SOURCE = 16 << 10
"""Characters of a source from which parsing leaves enough behind to be worth a collection."""


class Job:
    """Runs one script. Every way out sends one Finished frame, or a Turn with a broken limit, and then waits for death.

    Owns nothing that outlives the process.
    """

    def __init__(self, realm: Realm, channel: Channel, lower_memory: Callable[[int], None]) -> None:
        self._realm = realm
        self._channel = channel
        self._lower_memory = lower_memory
        """Lowers the limit to so many bytes beyond what the worker starts with."""
        self._positions = Positions("")
        self._calls: list[wire.Call] = []
        self._call_bytes = 0
        self._answers_taken = 0
        self._is_settled = False
        self._finished = wire.Finished(code="completed")
        self._handlers: dict[int, Callable[[int, bytes, bytes], int]] = {
            ToHost.OUTPUT: self._output,
            ToHost.CALL: self._call,
            ToHost.LIMIT: self._limit,
            ToHost.SETTLED: self._settled,
            ToHost.RESULT: self._result,
            ToHost.ERROR: self._error,
            ToHost.NOTICE: self._notice,
            ToHost.END: self._end,
            ToHost.STATE: self._state,
            ToHost.LISTING: self._listing,
        }
        self._listings: dict[int, str | None] = {}
        """The lists of the tools as they came with the script; None for one that is to be asked for."""
        self._early: deque[wire.SupervisorFrame] = deque()
        """Answers that came while a list was waited for."""

    def run(self) -> NoReturn:
        """Waits for the script, runs it, and never returns."""
        script = self._channel.receive().script
        realm = self._realm
        realm.listen(lambda op, n, first, second: self._handlers[op](n, first, second))
        self._positions = Positions(script.source)
        self._lower_memory(script.compile_memory_bytes)
        realm.engine.set_stack_quota(script.stack_bytes)
        self._listings = {
            FromHost.TOOLS: script.tools_json if script.HasField("tools_json") else None,
            FromHost.DESCRIPTIONS: script.descriptions_json if script.HasField("descriptions_json") else None,
        }
        realm.ask(FromHost.CONFIGURE, 0, script.rules_json)
        realm.ask(FromHost.INPUT, 0, script.input_json)
        body = self._compile(script)
        self._lower_memory(script.memory_bytes)
        realm.start(body)
        while True:
            realm.loop.drain()
            if self._is_settled and not realm.ask(FromHost.SETTLE):
                self._finish()
            self._send_turn(waiting=True)
            self._take_answers()

    def _compile(self, script: wire.Script) -> object:
        realm = self._realm
        language, entry = cast("Language", script.language), cast("Entry", script.entry)
        found = realm.normaliser.normalise(script.source, language, entry)
        if isinstance(found, Refusal):
            self._refuse(found)
        self._positions.script = found
        for notice in found.notices:
            self._finished.notices.add(code=notice.code, message=notice.message, line=notice.line, column=notice.column)
        # The engine has the last word: it takes the text as the body of a function and nothing more, or refuses it.
        realm.ask(FromHost.CHECK, 0, found.text)
        if script.check_only:
            self._tell_check(found)
        if len(script.source) > _COLLECTED_SOURCE:
            realm.engine.collect()  # what the parser left, before the limit is lowered
        try:
            return realm.compile(found.text)
        except Exception as error:  # the binding's own class; the text was checked, so only its size can be at fault
            fields = {"name": "SyntaxError", "message": str(error).partition("\n")[0][:1000]}
            self._error(0, b"syntax_error", json.dumps(fields).encode())
            raise AssertionError("unreachable") from error

    def _refuse(self, refusal: Refusal) -> NoReturn:
        is_syntax = refusal.kind == "syntax"
        error = wire.Error(
            name="SyntaxError" if is_syntax else "EntryPointMissing",
            message=refusal.message,
            line=refusal.line,
            column=refusal.column,
            hint=refusal.hint,
            excerpt=self._positions.excerpt(refusal.line, refusal.column),
        )
        self._finished.code = "syntax_error" if is_syntax else "entry_point_missing"
        self._finished.error.CopyFrom(error)
        self._send_finished()

    def _tell_check(self, found: Normalised) -> NoReturn:
        facts = {
            "entry": found.entry,
            "language": found.language,
            "tools": found.tools,
            "computed": found.computed,
        }
        self._finished.value_json = json.dumps(facts)
        self._send_finished()

    def _take_answers(self) -> None:
        frame = self._early.popleft() if self._early else self._channel.receive()
        for answer in frame.answers.answers:
            self._answers_taken += 1
            self._realm.ask(FromHost.ANSWER + answer.kind, answer.sequence, answer.text)
            # Drained one by one, so that what the script sees does not depend on how answers were batched.
            self._realm.loop.drain()

    def _finish(self) -> NoReturn:
        self._realm.tell_rejections()
        self._realm.loop.drain()
        self._realm.ask(FromHost.FINISH)
        self._send_finished()

    def _send_turn(self, *, waiting: bool, limit: wire.LimitBroken | None = None) -> None:
        turn = wire.Turn(calls=self._calls, waiting=waiting, answers_taken=self._answers_taken, limit=limit)
        self._calls = []
        self._call_bytes = 0
        self._channel.send(wire.WorkerFrame(turn=turn))

    def _send_finished(self) -> NoReturn:
        self._channel.send(wire.WorkerFrame(finished=self._finished))
        self._channel.sleep()

    # What the prelude asks for. Each returns a number to it, or does not return.

    def _output(self, kind: int, text: bytes, data: bytes) -> int:
        frame = wire.Output(kind=kind, text=self._positions.text(text.decode()))
        if kind == 6:
            try:
                frame.data = base64.b64decode(data, validate=True)
            except binascii.Error:
                return 0
        self._channel.send(wire.WorkerFrame(output=frame))
        return 1

    def _call(self, sequence: int, arguments: bytes, where: bytes) -> int:
        tool, line, column = where.split(b",")
        call = wire.Call(sequence=sequence, tool=int(tool), arguments_json=arguments.decode())
        call.line, call.column = self._positions.place(int(line), int(column))
        self._calls.append(call)
        self._call_bytes += len(arguments)
        if self._call_bytes > _FLUSH_BYTES:
            self._send_turn(waiting=False)
        return 1

    def _limit(self, _number: int, code: bytes, text: bytes) -> NoReturn:
        line, column, message = self._placed(text)
        limit = wire.LimitBroken(code=code.decode(), message=message, line=line, column=column)
        self._calls = []
        self._send_turn(waiting=False, limit=limit)
        self._channel.sleep()

    def _settled(self, _number: int, _first: bytes, _second: bytes) -> int:
        self._is_settled = True
        return 1

    def _result(self, has_value: int, value: bytes, shown: bytes) -> int:
        if has_value:
            self._finished.value_json = value.decode()
        if shown:
            self._finished.shown = shown.decode()
        return 1

    def _state(self, _number: int, state: bytes, _second: bytes) -> int:
        self._finished.state_json = state.decode()
        return 1

    def _listing(self, operation: int, _first: bytes, _second: bytes) -> int:
        text = self._listings[operation]
        if text is None:
            is_tools = operation == FromHost.TOOLS
            kind = wire.LISTING_KIND_TOOLS if is_tools else wire.LISTING_KIND_DESCRIPTIONS
            self._channel.send(wire.WorkerFrame(listing_wanted=wire.ListingWanted(kind=kind)))
            text = self._listings[operation] = self._awaited_listing()
        try:
            return self._realm.ask(operation, 0, text)
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001  # the binding's own class: the script is near the end of its stack
            return 0

    def _awaited_listing(self) -> str:
        while True:
            frame = self._channel.receive()
            if frame.HasField("listing"):
                return frame.listing.json
            self._early.append(frame)

    def _error(self, call: int, code: bytes, text: bytes) -> NoReturn:
        error = wire.Error(call=call, **json.loads(text))
        error.line, error.column = self._positions.place(error.line, error.column)
        error.stack = self._positions.stack(error.stack)
        error.excerpt = self._positions.excerpt(error.line, error.column)
        self._finished.code = code.decode()
        self._finished.error.CopyFrom(error)
        self._send_finished()

    def _notice(self, _number: int, code: bytes, text: bytes) -> int:
        if len(self._finished.notices) < _MAX_NOTICES:
            line, column, message = self._placed(text)
            self._finished.notices.add(code=code.decode(), message=message[:2000], line=line, column=column)
        return 1

    def _end(self, _number: int, _first: bytes, _second: bytes) -> NoReturn:
        self._send_finished()

    def _placed(self, text: bytes) -> tuple[int, int, str]:
        line, column, message = text.split(b",", 2)
        return (*self._positions.place(int(line), int(column)), message.decode())

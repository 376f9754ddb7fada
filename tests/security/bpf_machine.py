"""A second opinion on filters: what classic BPF does, and what the rules mean, each written without the other."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from codecage.worker.lockdown.bpf import ALLOW, KILL, Check, Masked, NotAll, OneOf, Rule

__all__ = ["ALLOW", "KILL", "Call", "decode", "execute", "meaning"]

_WORD = 0xFFFF_FFFF
_X32_BIT = 0x4000_0000
_INSTRUCTION = struct.Struct("=HBBI")

_CLASS = {0x00: "load", 0x04: "alu", 0x05: "jump", 0x06: "return"}


@dataclass(frozen=True)
class Call:
    """A system call as the kernel shows it to a filter."""

    architecture: int
    number: int
    arguments: tuple[int, ...] = (0, 0, 0, 0, 0, 0)

    @property
    def data(self) -> bytes:
        """struct seccomp_data."""
        return struct.pack("=IIQ6Q", self.number & _WORD, self.architecture, 0, *self.arguments)


def decode(program: bytes) -> list[tuple[int, int, int, int]]:
    """The instructions of a program: code, jump if true, jump if false, constant."""
    return [*_INSTRUCTION.iter_unpack(program)]


def execute(program: bytes, call: Call) -> tuple[int, int]:
    """What the filter answers, and how many instructions that took. Fails where the kernel would refuse the program."""
    instructions, data = decode(program), call.data
    accumulator = at = steps = 0
    while True:
        code, if_true, if_false, constant = instructions[at]
        at += 1
        steps += 1
        kind = _CLASS[code & 0x07]
        if kind == "return":
            assert code == 0x06
            return constant, steps
        if kind == "load":
            assert code == 0x20
            assert constant % 4 == 0
            (accumulator,) = struct.unpack_from("=I", data, constant)
        elif kind == "alu":
            assert code == 0x54
            accumulator &= constant
        else:
            at += if_true if _jumps(code, accumulator, constant) else if_false


def _jumps(code: int, accumulator: int, constant: int) -> bool:
    tests = {0x15: accumulator == constant, 0x35: accumulator >= constant}
    return tests[code]


def meaning(rules: Sequence[Rule], numbers: dict[str, int], architecture: int, call: Call, *, has_x32: bool) -> int:
    """What the rules say of a call, straight from what their classes promise."""
    if call.architecture != architecture or (has_x32 and call.number & _WORD >= _X32_BIT):
        return KILL
    for rule in rules:
        if numbers.get(rule.call) == call.number:
            return rule.action if all(_holds(check, call.arguments) for check in rule.checks) else rule.otherwise
    return KILL


def _holds(check: Check, arguments: tuple[int, ...]) -> bool:
    value = arguments[check.argument]
    if isinstance(check, Masked):
        return value & check.mask == check.value
    if isinstance(check, OneOf):
        return value in check.values
    assert isinstance(check, NotAll)
    return value & _WORD & check.mask != check.mask

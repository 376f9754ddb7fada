"""A small assembler for seccomp filters: rules as data in, classic BPF out.

A filter is a chain: each rule compares the number of the system call, tests the arguments, and returns; what no rule
names gets the default. All jumps go forward and over one rule at most, so that eight-bit offsets are enough.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = [
    "ALLOW",
    "KILL",
    "Check",
    "Masked",
    "NotAll",
    "OneOf",
    "Rule",
    "assemble",
    "errno",
]

KILL = 0x8000_0000
"""SECCOMP_RET_KILL_PROCESS."""
ALLOW = 0x7FFF_0000
"""SECCOMP_RET_ALLOW."""
_ERRNO = 0x0005_0000

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
_JUMP_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_GREATER_EQUAL = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_X32_BIT = 0x4000_0000
_WORD = 0xFFFF_FFFF
_MAX_INSTRUCTIONS = 4096

_Instruction = tuple[int, int, int, int]
"""Code, offset if true, offset if false, constant."""


def errno(number: int) -> int:
    """The action that answers with an error and does nothing."""
    return _ERRNO | number


@dataclass(frozen=True, slots=True)
class Masked:
    """Argument `argument`, as 64 bits, has exactly `value` under `mask`."""

    argument: int
    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class OneOf:
    """Argument `argument`, as 64 bits, is one of `values`."""

    argument: int
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NotAll:
    """Argument `argument` does not have all bits of `mask` (32 bits) set."""

    argument: int
    mask: int


Check = Masked | OneOf | NotAll


@dataclass(frozen=True, slots=True)
class Rule:
    """What happens to one system call: `action` if all checks hold, else `otherwise`."""

    call: str
    action: int
    checks: tuple[Check, ...] = field(default=())
    otherwise: int = KILL


def assemble(rules: Sequence[Rule], numbers: dict[str, int], architecture: int, *, has_x32: bool) -> bytes:
    """The filter as the kernel takes it. A call that `numbers` does not know does not exist here and is left out.

    Raises ValueError for a rule that is too long to jump over, or a filter that the kernel would refuse.
    """
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, KILL),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
    ]
    if has_x32:
        program += [(_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT), (_RETURN, 0, 0, KILL)]
    for rule in rules:
        if rule.call in numbers:
            program += _rule(rule, numbers[rule.call])
    program.append((_RETURN, 0, 0, KILL))
    if len(program) > _MAX_INSTRUCTIONS:
        raise ValueError(f"a filter of {len(program)} instructions")
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)


def _rule(rule: Rule, number: int) -> list[_Instruction]:
    body: list[_Instruction] = []
    for check in reversed(rule.checks):
        # Built from the end: a failed check jumps over the rest of the body, to `otherwise`.
        body = _check(check, len(body) + 1) + body
    body.append((_RETURN, 0, 0, rule.action))
    if rule.checks:
        body.append((_RETURN, 0, 0, rule.otherwise))
    if len(body) > 255:
        raise ValueError(f"the rule for {rule.call} has {len(body)} instructions")
    # The number is still in the accumulator: a rule that does not match has loaded nothing.
    return [(_JUMP_EQUAL, 0, len(body), number), *body]


def _check(check: Check, rest: int) -> list[_Instruction]:
    """Falls through to the next check if this one holds, else jumps over `rest` instructions behind it."""
    low = _ARGUMENTS_OFFSET + 8 * check.argument
    high = low + 4
    if isinstance(check, Masked):
        return [
            (_LOAD, 0, 0, high),
            (_AND, 0, 0, check.mask >> 32),
            (_JUMP_EQUAL, 0, rest + 3, check.value >> 32),
            (_LOAD, 0, 0, low),
            (_AND, 0, 0, check.mask & _WORD),
            (_JUMP_EQUAL, 0, rest, check.value & _WORD),
        ]
    if isinstance(check, NotAll):
        return [(_LOAD, 0, 0, low), (_AND, 0, 0, check.mask), (_JUMP_EQUAL, rest, 0, check.mask)]
    count = len(check.values)
    found = [
        (_JUMP_EQUAL, count - 1 - index, 0 if index < count - 1 else rest, value & _WORD)
        for index, value in enumerate(check.values)
    ]
    return [(_LOAD, 0, 0, high), (_JUMP_EQUAL, 0, rest + 1 + count, 0), (_LOAD, 0, 0, low), *found]

"""The filter as a program: an interpreter of BPF gives the verdict that the rules promise, for any call at all."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.security.bpf_machine import ALLOW, KILL, Call, decode, execute, meaning

from codecage.worker.lockdown.bpf import Check, Masked, NotAll, OneOf, Rule, assemble, errno
from codecage.worker.lockdown.policy import worker_rules
from codecage.worker.lockdown.syscalls import ARCHITECTURES, Architecture

PID = 7
X32_BIT = 0x4000_0000
EXAMPLES = settings(max_examples=400, deadline=None)
WIDE = st.integers(0, (1 << 64) - 1)
# Only some architectures have the old calls; the others have newer ones in their place.
ABSENT = {"x86_64": set[str](), "aarch64": {"open", "stat", "lstat", "access", "readlink", "time"}}
INFLUENCES: dict[str, Callable[[Any], list[int]]] = {
    "Masked": lambda check: [check.value, check.value | (check.mask & -check.mask), ~check.mask & (1 << 64) - 1],
    "OneOf": lambda check: [*check.values, max(check.values) + 1, check.values[0] | 1 << 32],
    "NotAll": lambda check: [check.mask, check.mask & (check.mask - 1), check.mask | 1 << 40, 0],
}


def worker_program(architecture: Architecture) -> bytes:
    return assemble(worker_rules(PID), architecture.numbers, architecture.audit, has_x32=architecture.has_x32)


@st.composite
def calls(draw: st.DrawFn, rules: tuple[Rule, ...], architecture: Architecture) -> Call:
    """Calls near the borders of the rules, and calls from anywhere."""
    known = [rule for rule in rules if rule.call in architecture.numbers]
    rule = draw(st.sampled_from(known)) if draw(st.integers(0, 9)) else None
    number = architecture.numbers[rule.call] if rule else draw(st.integers(0, 0xFFFF_FFFF))
    arguments = [draw(st.sampled_from([0, 1, 2, 1 << 32, (1 << 64) - 1]) | WIDE) for _ in range(6)]
    for check in rule.checks if rule else ():
        near = st.sampled_from(INFLUENCES[type(check).__name__](check))
        if draw(st.integers(0, 3)):
            arguments[check.argument] = draw(near) & (1 << 64) - 1
        if draw(st.integers(0, 5)) == 0:
            arguments[check.argument] ^= 1 << draw(st.integers(0, 63))
    audit = architecture.audit if draw(st.integers(0, 9)) else draw(st.integers(0, 0xFFFF_FFFF))
    return Call(audit, number, tuple(arguments))


@pytest.mark.parametrize("machine", ARCHITECTURES)
@EXAMPLES
@given(data=st.data())
def test_the_program_means_what_the_policy_says(machine: str, data: st.DataObject) -> None:
    architecture = ARCHITECTURES[machine]
    rules = worker_rules(PID)
    call = data.draw(calls(rules, architecture))
    verdict, _steps = execute(worker_program(architecture), call)
    wanted = meaning(rules, architecture.numbers, architecture.audit, call, has_x32=architecture.has_x32)
    assert verdict == wanted


def any_check() -> st.SearchStrategy[Check]:
    """Checks of every kind, on any argument."""
    argument = st.integers(0, 5)
    masked = st.builds(lambda place, mask, value: Masked(place, mask, value & mask), argument, WIDE, WIDE)
    one_of = st.builds(
        lambda place, values: OneOf(place, tuple(values)),
        argument,
        st.lists(st.integers(0, 0xFFFF_FFFF), min_size=1, max_size=20, unique=True),
    )
    not_all = st.builds(NotAll, argument, st.integers(1, 0xFFFF_FFFF))
    return masked | one_of | not_all


@EXAMPLES
@given(
    checks=st.lists(any_check(), max_size=6),
    action=st.sampled_from([ALLOW, errno(1)]),
    otherwise=st.sampled_from([KILL, errno(22)]),
    data=st.data(),
)
def test_any_rules_assemble_to_what_they_mean(
    checks: list[Check], action: int, otherwise: int, data: st.DataObject
) -> None:
    architecture = Architecture(0xC000_003E, has_x32=True, numbers={"one": 1, "two": 2}, seccomp=317)
    rules = (Rule("one", action, tuple(checks), otherwise), Rule("unknown", ALLOW), Rule("two", errno(5)))
    program = assemble(rules, architecture.numbers, architecture.audit, has_x32=True)
    call = data.draw(calls((rules[0], rules[2]), architecture))
    assert execute(program, call)[0] == meaning(rules, architecture.numbers, architecture.audit, call, has_x32=True)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_every_jump_lands_inside_and_every_path_ends(machine: str) -> None:
    instructions = decode(worker_program(ARCHITECTURES[machine]))
    for at, (code, if_true, if_false, _constant) in enumerate(instructions):
        if code & 0x07 == 0x05:
            assert at + 1 + max(if_true, if_false) < len(instructions)
        elif code != 0x06:
            assert at + 1 < len(instructions)
    assert instructions[-1] == (0x06, 0, 0, KILL)


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_nothing_that_is_not_listed_is_allowed(machine: str) -> None:
    architecture = ARCHITECTURES[machine]
    program = worker_program(architecture)
    listed = {architecture.numbers[rule.call] for rule in worker_rules(PID) if rule.call in architecture.numbers}
    let_through = {number for number in range(1024) if execute(program, Call(architecture.audit, number))[0] != KILL}
    assert let_through <= listed


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_another_architecture_is_refused_whatever_it_calls(machine: str) -> None:
    architecture = ARCHITECTURES[machine]
    program = worker_program(architecture)
    others = {0x4000_0003, *(other.audit for other in ARCHITECTURES.values())} - {architecture.audit}
    assert {execute(program, Call(audit, number))[0] for audit in others for number in range(1024)} == {KILL}


def test_numbers_of_the_x32_kind_are_refused_even_where_they_name_an_allowed_call() -> None:
    architecture = ARCHITECTURES["x86_64"]
    program = worker_program(architecture)
    for number in architecture.numbers.values():
        assert execute(program, Call(architecture.audit, number | X32_BIT))[0] == KILL
    assert execute(program, Call(architecture.audit, 0xFFFF_FFFF))[0] == KILL


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_most_frequent_calls_are_decided_early(machine: str) -> None:
    architecture = ARCHITECTURES[machine]
    program = worker_program(architecture)
    futex = Call(architecture.audit, architecture.numbers["futex"], (0, 128, 0, 0, 0, 0))
    assert execute(program, futex)[1] < 20


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_table_names_the_calls_of_the_policy_and_no_other(machine: str) -> None:
    named = {rule.call for rule in worker_rules(PID)}
    numbers = ARCHITECTURES[machine].numbers
    assert named - set(numbers) == ABSENT[machine]
    assert set(numbers) <= named
    assert len(set(numbers.values())) == len(numbers)


def test_a_rule_that_is_too_long_to_jump_over_is_refused() -> None:
    rule = Rule("one", ALLOW, tuple(OneOf(0, tuple(range(50))) for _ in range(6)))
    with pytest.raises(ValueError, match="rule for one"):
        assemble([rule], {"one": 1}, 0, has_x32=False)


def test_a_filter_that_the_kernel_would_refuse_is_refused() -> None:
    rules = [Rule("one", ALLOW, (OneOf(0, tuple(range(100))),))] * 50
    with pytest.raises(ValueError, match="instructions"):
        assemble(rules, {"one": 1}, 0, has_x32=False)


COMPILER = shutil.which("gcc") or shutil.which("cc")
HEADERS = {
    "x86_64": "#include <asm/unistd.h>",
    # What the headers of that architecture ask of the generic table.
    "aarch64": "#define __ARCH_WANT_NEW_STAT\n#define __ARCH_WANT_SYS_CLONE3\n#include <asm-generic/unistd.h>",
}


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_numbers_are_those_of_the_kernel_headers(machine: str, tmp_path: Path) -> None:
    if machine == "x86_64" and platform.machine() != machine:
        pytest.skip("the headers of this machine are another architecture's")
    wanted = {**ARCHITECTURES[machine].numbers, "seccomp": ARCHITECTURES[machine].seccomp}
    # The preprocessor alone is asked, so that the generic table can be read on any 64-bit machine.
    source = tmp_path / "numbers.c"
    source.write_text("\n".join([HEADERS[machine], *(f"{name} = __NR_{name};" for name in wanted)]))
    asked = [str(COMPILER), "-E", "-P", str(source)]
    ended = subprocess.run(asked, capture_output=True, text=True, timeout=50, check=True)
    told = re.findall(r"^(\w+) = (\d+);$", ended.stdout, re.MULTILINE)
    assert {name: int(number) for name, number in told} == wanted


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_the_audit_value_is_that_of_the_kernel_headers(machine: str, tmp_path: Path) -> None:
    source = tmp_path / "audit.c"
    value = f"AUDIT_ARCH_{machine.upper()}"
    source.write_text(f'#include <linux/audit.h>\n#include <stdio.h>\nint main(void) {{ printf("%u", {value}); }}')
    subprocess.run([str(COMPILER), str(source), "-o", str(tmp_path / "audit")], check=True, timeout=50)
    told = subprocess.run([str(tmp_path / "audit")], capture_output=True, text=True, check=True, timeout=10).stdout
    assert int(told) == ARCHITECTURES[machine].audit

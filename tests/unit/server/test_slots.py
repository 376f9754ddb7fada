"""Places for runs: none is ever lost, whoever gives up and whenever."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

import pytest

from codecage.server.errors import Busy, NotRun, Unavailable
from codecage.server.slots import Slots

LONG = 60.0


async def settle() -> None:
    """Lets every task that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


class Holder:
    """A task that takes a place and keeps it until it is told to let go."""

    def __init__(self, slots: Slots, caller: str = "") -> None:
        self.is_holding = False
        self.done = asyncio.Event()
        self.task = asyncio.create_task(self._hold(slots, caller))

    async def _hold(self, slots: Slots, caller: str) -> None:
        async with slots.acquire(caller):
            self.is_holding = True
            await self.done.wait()
        self.is_holding = False


@contextlib.asynccontextmanager
async def holders() -> AsyncGenerator[list[Holder]]:
    """Ends all that were put into the list."""
    made: list[Holder] = []
    yield made
    for holder in made:
        holder.task.cancel()
    await asyncio.gather(*(holder.task for holder in made), return_exceptions=True)


async def test_places_are_handed_on_in_order_and_all_come_back() -> None:
    slots = Slots(2, 10, LONG)
    async with holders() as made:
        for _ in range(5):
            made.append(Holder(slots))
        await settle()
        assert ([holder.is_holding for holder in made], slots.used, slots.queued) == (
            [True, True, False, False, False],
            2,
            3,
        )
        made[1].done.set()
        await settle()
        assert [holder.is_holding for holder in made] == [True, False, True, False, False]
        for holder in made:
            holder.done.set()
        await settle()
        assert (slots.used, slots.queued) == (0, 0)


async def test_callers_take_turns() -> None:
    slots = Slots(1, 10, LONG)
    async with holders() as made:
        for caller in ("a", "a", "a", "b", "c"):
            made.append(Holder(slots, caller))
        order: list[int] = []
        for _ in range(5):
            await settle()
            (index,) = (index for index, holder in enumerate(made) if holder.is_holding)
            order.append(index)
            made[index].done.set()
        assert order == [0, 1, 3, 4, 2]


@pytest.mark.parametrize("steps", range(6))
@pytest.mark.parametrize("is_handed_over", [True, False])
async def test_a_waiter_that_is_cancelled_at_any_moment_loses_no_place(steps: int, is_handed_over: bool) -> None:
    slots = Slots(1, 10, LONG)
    async with holders() as made:
        made += [Holder(slots), Holder(slots)]
        await settle()
        if is_handed_over:
            made[0].done.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        made[1].task.cancel()
        made[0].done.set()
        await settle()
        assert (slots.used, slots.queued) == (0, 0)


async def test_a_waiter_cancelled_at_its_handover_passes_the_place_on() -> None:
    slots = Slots(1, 10, LONG)
    async with holders() as made:
        made += [Holder(slots), Holder(slots), Holder(slots)]
        await settle()
        slots.give_back()  # stands for the holder that lets go: the second one is told, and has not run yet
        made[1].task.cancel()
        await settle()
        assert made[2].is_holding


async def test_whoever_waits_too_long_is_refused_and_leaves_the_queue() -> None:
    slots = Slots(1, 10, 0.01)
    async with slots.acquire():
        with pytest.raises(Busy):
            async with slots.acquire():
                pass
        assert (slots.used, slots.queued) == (1, 0)
    assert slots.used == 0


async def test_a_full_queue_refuses_at_once() -> None:
    slots = Slots(1, 1, LONG)
    async with holders() as made:
        made += [Holder(slots), Holder(slots)]
        await settle()
        with pytest.raises(Busy):
            async with slots.acquire():
                pass


async def test_a_caller_with_a_shorter_line_displaces_the_last_of_the_longest() -> None:
    slots = Slots(1, 3, LONG)
    async with holders() as made:
        made += [Holder(slots, "greedy") for _ in range(4)]
        await settle()
        made.append(Holder(slots, "modest"))
        await settle()
        displaced = made[3].task
        assert isinstance(displaced.exception(), Busy)
        assert slots.queued == 3


async def test_closing_refuses_those_who_wait_and_those_who_come() -> None:
    slots = Slots(1, 10, LONG)
    async with holders() as made:
        made += [Holder(slots), Holder(slots)]
        await settle()
        slots.close()
        await settle()
        assert isinstance(made[1].task.exception(), Unavailable)
        with pytest.raises(Unavailable):
            async with slots.acquire():
                pass
        assert made[0].is_holding


async def test_a_place_comes_back_only_once_what_it_waits_for_has_happened() -> None:
    slots = Slots(1, 10, LONG)
    reaped = asyncio.Event()
    async with slots.acquire() as slot:
        slot.release_after(reaped)
    await settle()
    assert slots.used == 1
    reaped.set()
    await settle()
    assert slots.used == 0


async def test_a_body_that_fails_gives_its_place_back() -> None:
    slots = Slots(1, 10, LONG)
    with pytest.raises(NotRun):
        async with slots.acquire():
            raise NotRun
    assert slots.used == 0

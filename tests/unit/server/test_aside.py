"""Work beside the loop: bounded, and no burden once nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
import weakref

import pytest

from codecage.server.aside import Aside
from codecage.server.errors import Busy


class Burden:
    """Something large that work is about."""


async def begun(aside: Aside, end: threading.Event) -> asyncio.Task[bool]:
    """Work that goes on until `end`."""
    begin = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work() -> bool:
        loop.call_soon_threadsafe(begin.set)
        return end.wait(60)

    task = asyncio.create_task(aside.do(work))
    await begin.wait()
    return task


async def test_work_is_done_in_order_and_what_it_raises_goes_through() -> None:
    aside = Aside(10, "busy")
    done: list[int] = []
    await asyncio.gather(*(aside.do(done.append, number) for number in range(9)))
    assert done == list(range(9))
    with pytest.raises(ZeroDivisionError):
        await aside.do(divmod, 1, 0)
    assert await aside.do(divmod, 7, 2) == (3, 1)


async def test_too_much_work_is_refused_and_what_has_begun_keeps_its_place() -> None:
    aside, end = Aside(2, "too much"), threading.Event()
    first = await begun(aside, end)
    first.cancel()
    await asyncio.wait([first])
    second = asyncio.create_task(aside.do(int))
    await asyncio.sleep(0)
    with pytest.raises(Busy, match="too much"):
        await aside.do(int)
    end.set()
    assert await second == 0
    assert await aside.do(int) == 0


async def test_work_that_nobody_waits_for_any_more_is_neither_done_nor_kept() -> None:
    aside, end = Aside(2, "too much"), threading.Event()
    first = await begun(aside, end)
    done: list[Burden] = []
    for _ in range(5):
        burden = Burden()
        kept = weakref.ref(burden)
        task = asyncio.create_task(aside.do(done.append, burden))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        del burden, task
        await asyncio.sleep(0)
        assert kept() is None
    end.set()
    assert await first
    assert await aside.do(int) == 0
    assert done == []

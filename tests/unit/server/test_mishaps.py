"""When workers that cannot be had are tried again, and who waits for that."""

from __future__ import annotations

from codecage.server.mishaps import Mishaps


def failed(times: int) -> Mishaps:
    mishaps = Mishaps()
    for _ in range(times):
        mishaps.add()
    return mishaps


def test_three_in_a_row_are_too_many_and_one_that_is_ready_clears_them() -> None:
    assert not failed(2).are_too_many
    mishaps = failed(3)
    assert mishaps.are_too_many
    mishaps.clear()
    assert not mishaps.are_too_many


def test_each_failed_try_doubles_the_pause_up_to_half_a_minute() -> None:
    mishaps = failed(3)
    assert [round(mishaps.pause(), 1) for _ in range(10)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0]
    mishaps.clear()
    assert mishaps.pause() == 0.1


def test_a_caller_waits_through_short_pauses_and_is_refused_in_long_ones() -> None:
    mishaps = failed(3)
    fates: list[bool] = []
    for _ in range(5):
        fates.append(mishaps.are_lasting)
        mishaps.pause()
        mishaps.forgive()
        assert not mishaps.are_too_many, "one more try is allowed"
        mishaps.add()
    assert fates == [False, False, False, False, True]
    assert mishaps.refusal().retry_after == 3.2

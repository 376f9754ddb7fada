"""A warmed engine gives the same answers."""

from __future__ import annotations

from tests.unit.worker.normalise.cases import FORMS
from tests.unit.worker.normalise.engine_process import EngineProcess, engine_process


def test_warm_engine_answers_as_a_cold_one(engine: EngineProcess) -> None:
    with engine_process("warm") as warm:
        for source, _value in FORMS:
            assert warm.run(source, run=False).found == engine.run(source, run=False).found

"""The claim behind the table of context cost, by the size of texts: the benchmark counts tokens."""

from __future__ import annotations

import json

import pytest
from benchmarks.context_cost import WAYS, with_code_mode, without_code_mode
from benchmarks.sixty_tools import TOOLS, call
from tests.support.service import ServiceProcess

from codecage.client import Client


@pytest.mark.parametrize("dialect", sorted(WAYS))
async def test_code_mode_takes_less_than_a_third_of_the_context_for_sixty_tools(
    shared_service: ServiceProcess, dialect: str
) -> None:
    plain = len(json.dumps(TOOLS)) + sum(len(text) for text in without_code_mode())
    async with Client.connect(shared_service.address) as client:
        toolkit = await client.toolkit(TOOLS, call=call, dialect=dialect, detail="signatures")
        texts = await with_code_mode(toolkit, WAYS[dialect])
        assert texts[-1].startswith("{")
        taken = len(json.dumps(toolkit.definitions("mcp"))) + sum(len(text) for text in texts)
        assert taken < plain / 3

"""The methods beside run."""

from dataclasses import replace

import pytest

from codecage.client import (
    Client,
    DialectInfo,
    IsolationLayer,
    Limits,
    Policy,
    Unimplemented,
)
from codecage.client.testing import FakeService


async def test_everything_that_a_server_says_of_itself_arrives(service: FakeService, client: Client) -> None:
    service.server_info = replace(
        service.server_info,
        dialects=(
            DialectInfo(
                name="goose",
                limits=Limits(script_time=1.25, cpu_time=0.0, calls=0),
                policy=Policy(entry_form="run_function", failure_form="reject"),
            ),
        ),
        isolation_layers=(
            IsolationLayer(name="seccomp", state="active", required=True, detail="42 calls"),
            IsolationLayer(name="landlock", state="unavailable"),
        ),
        features=("dry_run", "journal"),
    )
    assert await client.server_info() == service.server_info


async def test_what_a_server_does_not_serve_is_said_so(client: Client) -> None:
    for asking in (
        client.check("1", tools=[], dialect="standard"),
        client.describe(detail="names", max_tokens=10),
        client.register_catalog([]),
    ):
        with pytest.raises(Unimplemented, match="not served"):
            await asking


async def test_unknown_options_of_describe_are_refused(client: Client) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'details'"):
        await client.describe(details="names")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize("value", [-1, float("inf"), float("nan")])
def test_limits_are_finite_and_not_negative(value: float) -> None:
    with pytest.raises(ValueError, match="wall_time must be a finite number from 0 on"):
        Limits(wall_time=value)

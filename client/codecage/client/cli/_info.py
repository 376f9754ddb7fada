"""`codecage info`: what a server is."""

from typing import Annotated

import typer

from codecage.client.cli._server import ServerOption, client_of, told_errors


def info(
    server: ServerOption = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Say what a server is, what it allows and what shields its workers. Exits with 3 if there is none."""
    import asyncio
    import json
    from dataclasses import asdict

    from codecage.client import ServerInfo
    from codecage.client.cli._info_tables import print_info

    async def ask() -> ServerInfo:
        async with client_of(server) as client:
            return await client.server_info()

    with told_errors():
        answer = asyncio.run(ask())
    if as_json:
        print(json.dumps(asdict(answer)))
    else:
        print_info(answer)

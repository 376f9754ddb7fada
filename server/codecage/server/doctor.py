"""`codecage doctor`: the layers of this machine, and every forbidden thing tried from inside a worker."""

from __future__ import annotations

import asyncio
import os
import sys

from codecage.server.canary import CanaryError, check_service, run_probe
from codecage.server.config import Settings, load_settings
from codecage.server.errors import Unavailable
from codecage.server.logs import configure_logs
from codecage.server.orphans import adopt_orphans
from codecage.server.pool import Pool
from codecage.server.probes import ESCAPED, PROBES
from codecage.v1 import codecage_pb2 as pb

__all__ = ["main"]


async def examine(settings: Settings) -> int:
    """Prints two tables and a last line that sums up. 0 only if every required layer holds and every escape failed."""
    pool = Pool(settings.pool_options())
    try:
        await pool.start()
        system = os.uname()
        print(f"uid {os.getuid()}, {system.sysname} {system.release}, {system.machine}, {pool.engine.engine}\n")
        missing = _print_layers(pool)
        escaped = await _print_escapes(pool)
        await check_service(pool)
        print("\nA forbidden call, memory, a busy loop and a collection in real workers ended as promised.")
    except (Unavailable, CanaryError) as error:
        print(f"\ndoctor: FAILED: {error}")
        return 1
    finally:
        await pool.close()
    verdict = "FAILED" if missing or escaped else "ok"
    print(f"\ndoctor: {verdict}: {missing} required layers missing, {escaped} of {len(PROBES)} escapes succeeded")
    return 1 if missing or escaped else 0


def _print_layers(pool: Pool) -> int:
    missing = 0
    print(f"{'layer':<22}{'state':<13}{'required':<10}detail")
    for layer in pool.options.requirements.to_messages(pool.layers):
        state = pb.LayerState.Name(layer.state).removeprefix("LAYER_STATE_").lower()
        if layer.required and layer.state != pb.LAYER_STATE_ACTIVE:
            missing += 1
        print(f"{layer.name:<22}{state:<13}{'yes' if layer.required else 'no':<10}{layer.detail}")
    return missing


async def _print_escapes(pool: Pool) -> int:
    escaped = 0
    print(f"\n{'tried from inside a worker':<38}result")
    for probe in PROBES:
        how = await run_probe(pool, probe)
        escaped += how == ESCAPED
        print(f"{probe.name:<38}{'ESCAPED' if how == ESCAPED else f'stopped: {how}'}")
    return escaped


def main() -> int:
    """Takes the flags of `codecage serve`. Exit code 0, 1, or 2 for wrong arguments."""
    settings = load_settings(sys.argv[1:], "codecage doctor")
    configure_logs("error", settings.log_format)
    adopt_orphans()
    return asyncio.run(examine(settings))


if __name__ == "__main__":
    sys.exit(main())

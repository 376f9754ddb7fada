"""The service without a single layer of the lockdown, to measure what protection costs. Never serve with it."""

import sys
from typing import Any

from codecage.server import __main__ as service_main
from codecage.server import template
from codecage.server.isolation import KNOWN_LAYERS

BOOT = (
    "import sys; sys.path.extend(sys.argv[1].split(':')); from benchmarks.unprotected_worker import patch; patch(); "
    "from codecage.worker.template import main; main()"
)


def main() -> int:
    """Serves as the service does."""
    module: Any = template
    module._BOOT = BOOT  # noqa: SLF001
    sys.argv += ["--accept-missing", ",".join(sorted(KNOWN_LAYERS)), "--no-canary", "--uid-count", "0"]
    return service_main.main()


if __name__ == "__main__":
    sys.exit(main())

"""`python -m tests.chaos --files 1000 --seed 1`: 0 when the check finds nothing."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from local.supervisor.processes import PartFailedError
from tests.chaos.run import run_chaos
from tests.chaos.stack import chaos_stack
from tests.chaos.timing import FULL, REAL

LEAST_KILLS = 50
"""In flight: a run with fewer proves nothing."""


def main() -> int:
    """Run, print the report, and say by the exit code what it came to."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path, help="an empty folder: all data and logs stay there")
    options = parser.parse_args()
    begun = time.monotonic()

    def tell(line: str) -> None:
        sys.stdout.write(f"{time.monotonic() - begun:6.0f} s  {line}\n")
        sys.stdout.flush()

    with tempfile.TemporaryDirectory() as temporary:
        try:
            with chaos_stack(options.data or Path(temporary), REAL) as stack:
                report = run_chaos(stack, options.files, options.seed, FULL, tell, hanging=True)
        except PartFailedError as error:
            sys.stdout.write(f"{error}\n")
            return 1
    sys.stdout.write(f"{report}\n")
    if report.kills_in_flight < LEAST_KILLS:
        sys.stdout.write(f"fewer than {LEAST_KILLS} kills in flight: this proves nothing\n")
        return 1
    return 0 if report.findings.clean else 1


if __name__ == "__main__":
    sys.exit(main())

"""How long importing `function_app.py` takes, against the two libraries that it stands on.

An import is the largest part of a cold start that is ours. Each is made by a fresh interpreter and
timed inside it, so that the interpreter's own start does not count. Bytecode comes from a cache of
this run's own, which imports that are not counted have filled.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.report import ratio, show_circumstances, show_table

ROOT = Path(__file__).parents[1]
REPEATS = 15

LIBRARIES = "azure.functions, azure.durable_functions"
APP = "function_app"

_TIMED = "import time; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"


def main() -> None:
    """Take turns, so that whatever else the machine does meets both alike."""
    show_circumstances()
    with tempfile.TemporaryDirectory() as cache:
        for modules in (LIBRARIES, APP):
            seconds_to_import(modules, cache)
        turns = [
            (seconds_to_import(LIBRARIES, cache), seconds_to_import(APP, cache))
            for _ in range(REPEATS)
        ]
    libraries, app = zip(*turns, strict=True)
    show_table(
        f"Import time, {REPEATS} fresh interpreters each",
        ("import", "median", "shortest", "ratio"),
        [
            (LIBRARIES, _ms(median(libraries)), _ms(min(libraries)), ratio(1, 1)),
            (APP, _ms(median(app)), _ms(min(app)), ratio(median(app), median(libraries))),
        ],
    )


def seconds_to_import(modules: str, bytecode: str) -> float:
    """Seconds that a fresh interpreter takes to import the modules; `bytecode` is its cache."""
    environment = os.environ | {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    answer = subprocess.run(
        [sys.executable, "-c", _TIMED.format(modules)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return float(answer.stdout)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


if __name__ == "__main__":
    main()

"""`make snapshots`: writes what each environment would hold beside its parameters.

Refuses a change that could not be deployed without a loss; who means it removes the snapshot first.
"""

import json
import sys

from tests.contract.infra.compiler import (
    ENVIRONMENTS,
    MISSING,
    PARAMETERS,
    Compiler,
    CompilerError,
    find_compiler,
    read,
    snapshot_of,
)
from tests.contract.infra.create_only import lost


def main() -> None:
    if not find_compiler():
        sys.exit(MISSING)
    with Compiler() as compiler:
        for environment in ENVIRONMENTS:
            _write(compiler, environment)


def _write(compiler: Compiler, environment: str) -> None:
    parameters = PARAMETERS / f"{environment}.bicepparam"
    kept = snapshot_of(parameters)
    try:
        predicted = compiler.predict(parameters)
    except CompilerError as error:
        sys.exit(f"{parameters.name}: {error}")
    losses = lost(read(kept), predicted) if kept.exists() else []
    if losses:
        sys.exit("\n".join([f"{kept.name} is kept: remove it if you mean to lose this.", *losses]))
    # The compiler tells the outputs in another order each time.
    predicted["outputs"] = dict(sorted(predicted["outputs"].items()))
    kept.write_text(json.dumps(predicted, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"Wrote {kept.name}\n")


if __name__ == "__main__":
    main()

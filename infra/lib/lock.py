"""Writes the lock of the package: `python -m infra.lib.lock < report.json`, of pip's --report."""

import json
import sys
from collections.abc import Iterator

HEADER = """\
# What the package holds beside our own code: wheels for Python 3.13 on Linux, and their hashes.
# Written by infra/package.sh --lock from requirements.txt; not edited by hand.
"""


def lines(report: str) -> Iterator[str]:
    """One requirement a line, in order of names."""
    found = {
        item["metadata"]["name"].lower().replace("_", "-"): (
            item["metadata"]["version"],
            item["download_info"]["archive_info"]["hashes"]["sha256"],
        )
        for item in json.loads(report)["install"]
    }
    for name, (version, digest) in sorted(found.items()):
        yield f"{name}=={version} --hash=sha256:{digest}\n"


if __name__ == "__main__":
    sys.stdout.write(HEADER)
    sys.stdout.writelines(lines(sys.stdin.read()))

"""Which package to roll back to, from the list of blobs in the container of releases.

`python -m infra.lib.releases list|previous CURRENT < blobs.json`; each blob has a name, and may
have `provenAt` (its probe went well) and `withdrawnAt` (it was rolled back from).
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_NAME = re.compile(r"extractor-(?P<version>[0-9][0-9A-Za-z.+]*)-(?P<commit>[0-9a-f]{7,40})\.zip")


@dataclass(frozen=True)
class Release:
    """A package in the container."""

    name: str
    uploaded_at: str
    proven_at: str
    withdrawn_at: str

    @property
    def can_come_back(self) -> bool:
        """It worked here, and nobody has gone back from it since."""
        return bool(self.proven_at) and self.withdrawn_at < self.proven_at


def read(text: str) -> list[Release]:
    """The releases, the one that was proven or uploaded last first."""
    found = [
        Release(
            blob["name"],
            blob.get("uploadedAt") or "",
            blob.get("provenAt") or "",
            blob.get("withdrawnAt") or "",
        )
        for blob in json.loads(text)
        if _NAME.fullmatch(blob["name"])
    ]
    return sorted(found, key=lambda each: each.proven_at or each.uploaded_at, reverse=True)


def previous(releases: Sequence[Release], current: str) -> Release | None:
    """The one that worked last, other than the one that runs."""
    return next((each for each in releases if each.can_come_back and each.name != current), None)


def table(releases: Sequence[Release], current: str) -> Iterator[str]:
    """A line for each release."""
    for each in releases:
        state = "runs" if each.name == current else _state(each)
        yield f"  {each.name:<44} {each.proven_at or each.uploaded_at:<26} {state}"


def _state(release: Release) -> str:
    if release.can_come_back:
        return "worked"
    return "withdrawn" if release.withdrawn_at else "never proven"


def main(question: str, current: str) -> int:
    """Print the table, or the name of the previous release; 1 when there is none."""
    releases = read(sys.stdin.read())
    if question == "list":
        lines = list(table(releases, current))
    else:
        found = previous(releases, current)
        lines = [found.name] if found else []
    sys.stdout.writelines(f"{line}\n" for line in lines)
    return 0 if lines else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

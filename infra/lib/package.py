"""Writes a folder into a zip, each time the same: `python -m infra.lib.package FOLDER ZIP`."""

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can tell."""
PIPS_OWN = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}
"""Tells of this installation, and not of the wheel."""
READABLE = 0o100644 << 16


def members(folder: Path) -> Iterator[Path]:
    """The files that belong into the package, in one order for every machine."""
    for path in sorted(folder.rglob("*"), key=lambda each: each.as_posix()):
        if path.is_file() and "__pycache__" not in path.parts and not _is_pips(path):
            yield path


def write(folder: Path, package: Path) -> None:
    """Write the zip."""
    with zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in members(folder):
            member = zipfile.ZipInfo(path.relative_to(folder).as_posix(), LONG_AGO)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = READABLE
            archive.writestr(member, path.read_bytes())


def _is_pips(path: Path) -> bool:
    return path.name in PIPS_OWN and path.parent.suffix == ".dist-info"


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))

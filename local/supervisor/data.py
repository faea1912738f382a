"""The data folder: made, recognised, brought up to this version's layout, cleared."""

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from local.settings import LocalSettings
from local.supervisor.lock import hold, lock_path

Upgrade = Callable[[Path], None]

UPGRADES: Sequence[Upgrade] = ()
"""The first brings layout 1 to 2, the next 2 to 3, … The database upgrades itself."""


class DataFolderError(Exception):
    """The folder cannot be used, or not be cleared. The text names it and what to do."""


def make_folder(data: Path) -> None:
    """Make the folder where it is missing. Raises DataFolderError when others' files are in it."""
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not _version_path(data).exists() and any(_others(data)):
        raise DataFolderError(
            f"{data} holds other files; LOCAL_DATA must name a folder of its own, or an empty one"
        )


def bring_up_to_date(data: Path, upgrades: Sequence[Upgrade] = UPGRADES) -> None:
    """Mark a new folder, upgrade an older one. Raises DataFolderError for one it can't read."""
    current = len(upgrades) + 1
    version = _version(data, current)
    if version > current:
        raise DataFolderError(
            f"{data} was made by a newer version (layout {version}, this one reads up to"
            f" {current}); `make reset` clears it"
        )
    for number, upgrade in enumerate(upgrades[version - 1 :], start=version + 1):
        upgrade(data)
        _version_path(data).write_text(f"{number}\n")
    _version_path(data).write_text(f"{current}\n")


def clear(settings: LocalSettings) -> bool:
    """Delete the data folder; False when there is none.

    Raises AlreadyRunningError while a stack runs on it, and DataFolderError when the folder has no
    version file, because then it may be anyone's.
    """
    data = settings.data
    if not data.exists():
        return False
    if not _version_path(data).is_file():
        raise DataFolderError(f"{data} is not a data folder of this project: nothing was deleted")
    with hold(settings):
        shutil.rmtree(data)
    return True


def _version_path(data: Path) -> Path:
    return data / "version"


def _version(data: Path, current: int) -> int:
    path = _version_path(data)
    text = path.read_text().strip() if path.exists() else str(current)
    if not text.isdecimal() or int(text) < 1:
        raise DataFolderError(f"{path} does not hold a layout version; `make reset` clears {data}")
    return int(text)


def _others(data: Path) -> list[Path]:
    return [path for path in data.iterdir() if path != lock_path(data)]

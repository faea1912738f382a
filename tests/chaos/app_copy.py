"""A copy of the app for one run, patched where the run wants it so.

A run starts the host again and again: it must not meet code that is being worked on.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.supervisor.processes import ROOT

APP = ("function_app.py", "host.json", "shared")


@dataclass(frozen=True)
class Patch:
    """Text of a file of the app, letter for letter, and what stands there instead."""

    file: str
    old: str
    new: str


def copy_app(folder: Path, patches: Sequence[Patch] = ()) -> Path:
    """Copy the app into `folder`, which is made. Raises ValueError when a patch does not fit."""
    folder.mkdir(parents=True)
    for name in APP:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy2
        copy(source, folder / name)
    for patch in patches:
        _apply(patch, folder / patch.file)
    return folder


def _apply(patch: Patch, file: Path) -> None:
    text = file.read_text()
    found = text.count(patch.old)
    if found != 1:
        raise ValueError(f"{patch.file} holds this text {found} times instead of once: {patch.old}")
    file.write_text(text.replace(patch.old, patch.new))

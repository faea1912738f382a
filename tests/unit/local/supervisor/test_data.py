"""The data folder: whose it is, which layout it has, and how it is cleared."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from local.supervisor.data import DataFolderError, bring_up_to_date, clear, make_folder
from local.supervisor.lock import AlreadyRunningError, hold
from local.supervisor.ports import with_free_ports


def test_a_missing_folder_is_made_for_its_owner_only_and_marked(tmp_path: Path) -> None:
    data = tmp_path / "deep" / "data"

    make_folder(data)
    bring_up_to_date(data)

    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert (data / "version").read_text() == "1\n"


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").touch()

    with pytest.raises(DataFolderError, match=r"holds other files; LOCAL_DATA must name"):
        make_folder(tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["thesis.docx"]


def test_a_folder_of_a_newer_version_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("7\n")

    with pytest.raises(DataFolderError) as refusal:
        bring_up_to_date(tmp_path)

    assert str(refusal.value) == (
        f"{tmp_path} was made by a newer version (layout 7, this one reads up to 1);"
        " `make reset` clears it"
    )
    assert (tmp_path / "version").read_text() == "7\n"


def test_a_folder_of_an_older_version_goes_through_every_upgrade_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("2\n")
    done: list[str] = []
    upgrades = [lambda _: done.append("1 to 2"), lambda _: done.append("2 to 3")]

    bring_up_to_date(tmp_path, upgrades)

    assert done == ["2 to 3"]
    assert (tmp_path / "version").read_text() == "3\n"


def test_a_version_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("latest")

    with pytest.raises(DataFolderError, match=r"version does not hold a layout version"):
        bring_up_to_date(tmp_path)


def test_clearing_deletes_the_whole_folder(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path / "data")
    make_folder(settings.data)
    bring_up_to_date(settings.data)
    (settings.data / "logs").mkdir()

    assert clear(settings)

    assert not settings.data.exists()
    assert not clear(settings)


def test_clearing_refuses_a_folder_that_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").touch()

    with pytest.raises(DataFolderError, match="is not a data folder of this project"):
        clear(with_free_ports(tmp_path))

    assert (tmp_path / "thesis.docx").exists()


def test_clearing_refuses_while_a_stack_runs_on_it(tmp_path: Path) -> None:
    settings = with_free_ports(tmp_path)
    bring_up_to_date(tmp_path)

    with hold(settings), pytest.raises(AlreadyRunningError, match=f"process {os.getpid()}, "):
        clear(settings)

    assert (tmp_path / "version").exists()


def test_the_command_says_why_it_refuses_without_a_stack_trace(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").touch()

    result = subprocess.run(
        [sys.executable, "-m", "local.supervisor.reset"],
        env={**os.environ, "LOCAL_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert result.returncode == 1
    assert result.stderr == (
        f"reset refused: {tmp_path} is not a data folder of this project: nothing was deleted\n"
    )

"""The scripts keep to the rules of their language, and to their own."""

import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.infra.delivery.subscription import ROOT

SCRIPTS = sorted((ROOT / "infra").glob("*.sh"))
PARTS = sorted((ROOT / "infra" / "lib").glob("*.sh"))


def test_shellcheck_has_nothing_to_say() -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run(
        [shellcheck, "--external-sources", "--check-sourced", *SCRIPTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_run_and_stops_at_the_first_error(path: Path) -> None:
    text = path.read_text()

    assert path.stat().st_mode & stat.S_IXUSR
    assert text.startswith("#!/usr/bin/env bash\n")
    assert re.search(r"^set -euo pipefail$", text, re.MULTILINE)


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.name)
def test_every_part_is_used(path: Path) -> None:
    line = f"source infra/lib/{path.name}\n"

    assert any(line in script.read_text() for script in SCRIPTS)


def test_no_key_or_token_is_an_argument() -> None:
    """Arguments are seen by everybody on a machine."""
    text = "\n".join(path.read_text() for path in [*SCRIPTS, *PARTS])

    assert "--value" not in text
    assert "--account-key" not in text
    assert "--sas-token" not in text
    assert "set -x" not in text

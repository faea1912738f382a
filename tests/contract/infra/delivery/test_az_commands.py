"""Every az command that the scripts run, or tell people to run, is one that the real CLI takes."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.contract.infra.delivery.subscription import PACKAGE, ROOT, Azure, head, shown

REAL = ROOT / ".venv-azure" / "bin" / "python"
HERE = Path(__file__).parent
SCRIPTS = [*ROOT.glob("infra/*.sh"), *ROOT.glob("infra/lib/*.sh")]
TOLD = re.compile(r"""^(?:.*')?  (az [^\\\n'|]*)(?:$|\\n')""", re.MULTILINE)
"""A line of a message that is a command."""

pytestmark = [
    pytest.mark.xdist_group("azure-cli"),
    pytest.mark.skipif(
        not REAL.exists(), reason="the Azure CLI is not installed: run make infra-tools"
    ),
]


def complaints(commands: list[list[str]], folder: Path) -> list[str]:
    """What the CLI has against each command."""
    done = subprocess.run(
        [REAL, "-I", HERE / "parse_az.py"],
        input="".join(f"{json.dumps(words)}\n" for words in commands),
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "AZURE_CONFIG_DIR": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def refused(commands: list[list[str]], folder: Path) -> dict[str, str]:
    """The commands that the CLI does not take, with what it says."""
    said = zip(commands, complaints(commands, folder), strict=True)
    return {shlex.join(words): complaint for words, complaint in said if complaint}


def distinct(commands: list[list[str]]) -> list[list[str]]:
    """One of each kind: the same command with the same options."""
    kinds = {tuple(word for word in words if not word[:1].isdigit()): words for words in commands}
    return list(kinds.values())


def told_to_people() -> list[list[str]]:
    """The commands in what the scripts say, and in the pages on operations."""
    scripts = "\n".join(path.read_text() for path in SCRIPTS)
    pages = "\n".join(path.read_text() for path in ROOT.glob("docs/operations/*.md"))
    said = [line.rstrip('"') for line in TOLD.findall(scripts)]
    return [shlex.split(line)[1:] for line in [*said, *fenced(pages)]]


def fenced(page: str) -> list[str]:
    """Lines of code blocks that begin with az, or keep its answer; a backslash continues one."""
    blocks = re.findall(r"```[a-z ]*\n(.*?)```", page, re.DOTALL)
    joined = "\n".join(blocks).replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines()]
    kept = re.findall(r"\$\((az [^\n]*)\)$", "\n".join(lines), re.MULTILINE)
    return [*(line for line in lines if line.startswith("az ")), *kept]


def test_what_the_scripts_run_is_what_the_cli_takes(azure: Azure, tmp_path: Path) -> None:
    azure.serve(version="1.2.3", commit=head())
    runs = [
        azure.deploy(FIREWALL="yes"),
        azure.run("rotate-callback-key.sh", "dev", "--yes"),
        azure.run("rollback.sh", "dev", "--yes", "--to", PACKAGE),
        azure.run("what-if.sh", "dev"),
        azure.run("what-if.sh", "dev", "--drift"),
        azure.run("destroy.sh", "dev", answers="dev\nrg-extractor-dev\n"),
    ]
    assert [run.code for run in runs] == [0] * len(runs), runs

    commands = distinct(azure.calls)

    assert len(commands) > 25
    assert refused(commands, tmp_path) == {}


def test_what_a_dry_run_shows_is_what_the_cli_takes(azure: Azure, tmp_path: Path) -> None:
    words = [line[1:] for line in shown(azure.deploy("--dry-run")) if line[0] == "az"]

    assert len(words) > 15
    assert refused(words, tmp_path) == {}


def test_what_people_are_told_to_run_is_what_the_cli_takes(tmp_path: Path) -> None:
    said = told_to_people()

    assert len(said) > 5
    assert refused(distinct(said), tmp_path) == {}


def test_the_cli_would_complain(tmp_path: Path) -> None:
    wrong = [
        ["storage", "blob", "upload", "--file", "x", "--colour", "blue"],
        ["functionapp", "deploy-everything"],
        ["keyvault", "secret", "set", "--name", "callback-keys"],
        ["group", "list", "--query", "[?"],
    ]

    assert all(complaints(wrong, tmp_path))

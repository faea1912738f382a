"""`--dry-run` needs no Azure: it builds what it can, and shows each command that it would run."""

import shlex

import pytest

from tests.contract.infra.delivery.conftest import Deployed
from tests.contract.infra.delivery.subscription import Azure, shown


def command(words: list[str]) -> tuple[str, ...]:
    """What is run: `az group create`, say, or the module of this repository."""
    if words[0] == "env":
        return tuple(word for word in words[1:] if "=" not in word)[-2:]
    options = next((i for i, word in enumerate(words) if word.startswith("-")), len(words))
    return tuple(words[:options])


def test_nothing_is_asked_of_azure(azure: Azure) -> None:
    run = azure.deploy("--dry-run")

    assert run.code == 0, run.text
    assert azure.calls == []
    assert azure.pythons == []
    assert "Nothing was changed" in run.out


def test_az_need_not_be_installed(azure: Azure) -> None:
    (azure.folder / "bin" / "az").unlink()

    run = azure.deploy("--dry-run")

    assert run.code == 0, run.text


def test_it_shows_what_a_first_deployment_runs(azure: Azure, deployed: Deployed) -> None:
    seen = {command(words) for words in shown(azure.deploy("--dry-run"))}

    ran = {command(["az", *words]) for words in deployed.azure.calls}
    checks = {words for words in ran if words[-1].startswith("check-name") or words[-1] == "exists"}
    assert ran - checks <= seen


def test_what_is_not_known_yet_stands_in_angles(azure: Azure) -> None:
    run = azure.deploy("--dry-run")

    [put] = [words for words in shown(run) if "config-zip" in words]
    assert put[put.index("--name") + 1] == "<functionAppName>"
    assert shlex.join(put)


def test_no_key_is_left_behind(azure: Azure) -> None:
    azure.deploy("--dry-run")

    assert not list(azure.folder.glob("tmp.*"))


@pytest.mark.parametrize(
    ("script", "last"),
    [
        ("rollback.sh", "az storage blob metadata update"),
        ("rotate-callback-key.sh", "az rest"),
        ("destroy.sh", "az group delete"),
        ("what-if.sh", "az deployment group what-if"),
    ],
)
def test_the_other_scripts_have_it_too(azure: Azure, script: str, last: str) -> None:
    run = azure.run(script, "dev", "--dry-run")

    assert run.code == 0, run.text
    assert azure.calls == []
    assert last in {" ".join(command(words)) for words in shown(run)}

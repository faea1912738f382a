"""`infra/rollback.sh` puts the package back that worked last, and never one that did not."""

from typing import Any

import pytest

from tests.contract.infra.delivery.subscription import Azure

OLD = "extractor-1.0.0-aaaaaaaaaaaa.zip"
BETTER = "extractor-1.1.0-bbbbbbbbbbbb.zip"
RUNNING = "extractor-1.2.0-cccccccccccc.zip"
BROKEN = "extractor-1.1.5-dddddddddddd.zip"


def blob(name: str, day: int, **notes: str) -> dict[str, Any]:
    return {name: {"name": name, "uploadedAt": f"2026-01-{day:02}T00:00:00Z", **notes}}


@pytest.fixture
def azure(azure: Azure) -> Azure:
    """Two packages that worked, one that never did, and one that runs."""
    azure.set_state(
        deployed=True,
        blobs=blob(OLD, 1, provenAt="2026-01-01T10:00:00Z")
        | blob(BETTER, 2, provenAt="2026-01-02T10:00:00Z")
        | blob(BROKEN, 3)
        | blob(RUNNING, 4, provenAt="2026-01-04T10:00:00Z")
        | blob("notes.txt", 5),
        settings={
            "BUILD_VERSION": "1.2.0",
            "BUILD_COMMIT": "cccccccccccc",
            "AUTH_AUDIENCES": "api://extractor",
        },
    )
    return azure


def test_the_package_that_worked_last_comes_back_and_is_probed(azure: Azure) -> None:
    run = azure.run("rollback.sh", "dev", "--yes")

    assert run.code == 0, run.text
    assert azure.state["running"] == BETTER
    assert azure.state["settings"]["BUILD_VERSION"] == "1.1.0"
    assert azure.state["settings"]["BUILD_COMMIT"] == "bbbbbbbbbbbb"
    assert "PROBE_COMMIT=bbbbbbbbbbbb" in azure.environment_of("infra.probe")


def test_the_database_is_left_as_it_is(azure: Azure) -> None:
    azure.run("rollback.sh", "dev", "--yes")

    assert azure.pythons == ["-m infra.database reach", "-m infra.probe"]


def test_a_second_rollback_does_not_go_back_to_what_was_withdrawn(azure: Azure) -> None:
    azure.run("rollback.sh", "dev", "--yes")
    run = azure.run("rollback.sh", "dev", "--yes")

    assert run.code == 0, run.text
    assert azure.state["running"] == OLD


def test_when_no_other_has_worked_nothing_is_done(azure: Azure) -> None:
    azure.set_state(blobs=blob(BROKEN, 1) | blob(RUNNING, 2, provenAt="2026-01-02T10:00:00Z"))

    run = azure.run("rollback.sh", "dev", "--yes")

    assert run.code == 1
    assert "No other package has worked in dev" in run.err
    assert "--to NAME" in run.err
    assert "running" not in azure.state


def test_the_list_tells_which_worked(azure: Azure) -> None:
    run = azure.run("rollback.sh", "dev", "--list")

    states = {line.split()[0]: " ".join(line.split()[2:]) for line in run.out.splitlines()}
    assert states == {RUNNING: "runs", BETTER: "worked", OLD: "worked", BROKEN: "never proven"}
    assert "running" not in azure.state


def test_any_package_may_be_named(azure: Azure) -> None:
    run = azure.run("rollback.sh", "dev", "--yes", "--to", OLD)

    assert run.code == 0, run.text
    assert azure.state["running"] == OLD


def test_it_asks_before_it_changes_anything(azure: Azure) -> None:
    run = azure.run("rollback.sh", "dev", answers="no\n", ANSWERS_COME_BY_PIPE="yes")

    assert run.code == 1
    assert f"Put {BETTER} back in place of {RUNNING}?" in run.out
    assert "running" not in azure.state


def test_without_a_deployment_it_says_so(azure: Azure) -> None:
    azure.set_state(deployed=False)

    run = azure.run("rollback.sh", "dev", "--yes")

    assert run.code == 1
    assert "run infra/deploy.sh dev first" in run.err


@pytest.mark.parametrize(
    "step",
    [
        "storage blob list",
        "storage blob download",
        "functionapp config appsettings set",
        "functionapp deployment source config-zip",
        "storage blob metadata update",
    ],
)
def test_a_step_that_fails_ends_it(azure: Azure, step: str) -> None:
    run = azure.run("rollback.sh", "dev", "--yes", AZ_FAIL=step)

    assert run.code == 1
    assert "Done" not in run.out
    assert run.err.strip().splitlines()[-1] != ""
    assert azure.steps[-1].startswith(step)

"""Rotating the key, looking for changes, migrating, and removing an environment."""

import pytest

from tests.contract.infra.delivery.subscription import Azure, Run, head

RESOURCE = "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Web/sites/func-test"


@pytest.fixture
def azure(azure: Azure) -> Azure:
    """A subscription with a deployed environment."""
    azure.set_state(deployed=True, group="westeurope", keys="first-key")
    return azure


def test_a_rotated_key_comes_first_and_the_one_before_stays(azure: Azure) -> None:
    run = azure.run("rotate-callback-key.sh", "dev", "--yes")

    assert run.code == 0, run.text
    key, before = azure.state["keys"].split(",")
    assert before == "first-key"
    assert len(key) == 64
    assert azure.steps[-1].startswith("rest --method post")


def test_rotating_again_drops_the_oldest_key(azure: Azure) -> None:
    azure.set_state(keys="second-key,first-key")

    azure.run("rotate-callback-key.sh", "dev", "--yes")

    assert azure.state["keys"].split(",")[1:] == ["second-key"]


def test_no_key_is_shown_or_given_on_a_command_line(azure: Azure) -> None:
    run = azure.run("rotate-callback-key.sh", "dev", "--yes")

    for key in azure.state["keys"].split(","):
        assert key not in run.text
        assert key not in " ".join(azure.steps)


def test_a_vault_that_refuses_keeps_its_key(azure: Azure) -> None:
    run = azure.run("rotate-callback-key.sh", "dev", "--yes", AZ_FAIL="keyvault secret set")

    assert run.code == 1
    assert azure.state["keys"] == "first-key"
    assert "private endpoint" in run.err


def test_an_environment_is_removed_when_both_names_are_typed(azure: Azure) -> None:
    run = azure.run("destroy.sh", "dev", answers="dev\nrg-extractor-dev\n")

    assert run.code == 0, run.text
    assert azure.steps[-1] == "group delete --name rg-extractor-dev --yes"


@pytest.mark.parametrize("answers", ["", "yes\n", "dev\n", "dev\nyes\n", "dev\ndev\n", "qa\n"])
def test_anything_else_removes_nothing(azure: Azure, answers: str) -> None:
    run = azure.run("destroy.sh", "dev", answers=answers)

    assert run.code == 1
    assert "nothing was deleted" in run.err
    assert "group delete" not in " ".join(azure.steps)


def test_a_group_that_holds_what_others_made_is_not_removed(azure: Azure) -> None:
    azure.set_parameters(existing={"sqlServer": "sql-of-others"})

    run = azure.run("destroy.sh", "dev", answers="dev\nrg-extractor-dev\n")

    assert run.code == 1
    assert "sql-of-others" in run.err
    assert "group delete" not in " ".join(azure.steps)


def test_without_drift_the_environment_is_as_it_was_deployed(azure: Azure) -> None:
    run = what_if(azure, "--drift")

    assert run.code == 0, run.text
    assert "dev is as it was deployed" in run.out


def test_drift_is_told_resource_by_resource(azure: Azure) -> None:
    azure.set_state(drift=[{"changeType": "Modify", "resourceId": RESOURCE}])

    run = what_if(azure, "--drift")

    assert run.code == 2
    assert "Modify Microsoft.Web/sites/func-test" in run.out


def test_drift_compares_with_the_commit_that_runs(azure: Azure) -> None:
    what_if(azure, "--drift")

    assert f"buildVersion=1.2.3 buildCommit={head()}" in azure.steps[-1]
    [parameters] = [word for word in azure.calls[-1] if word.endswith(".bicepparam")]
    assert parameters.endswith("/tree/infra/environments/dev.bicepparam")


def test_a_commit_that_is_not_in_the_clone_is_named(azure: Azure) -> None:
    run = what_if(azure, "--drift", commit="0123456789ab")

    assert run.code == 1
    assert "0123456789ab, is not in this clone" in run.err


def test_a_preview_changes_nothing(azure: Azure) -> None:
    run = what_if(azure)

    assert run.code == 0, run.text
    assert "3 to create" in run.out
    assert len(azure.steps) == 1


def what_if(azure: Azure, *arguments: str, commit: str = "") -> Run:
    """Where curl gets the answer of an app that runs this commit."""
    azure.serve(version="1.2.3", commit=commit or head())
    return azure.run("what-if.sh", "dev", *arguments)


def test_the_schema_is_migrated_in_an_environment_that_is_named(azure: Azure) -> None:
    run = azure.run("migrate.sh", "dev")

    assert run.code == 0, run.text
    assert "-m alembic upgrade head" in azure.pythons
    url = "DATABASE_URL=mssql+pyodbc://@sql-test.database.windows.net/sqldb-test"
    assert url in azure.environment_of("alembic")


def test_where_the_database_is_given_azure_is_not_asked(azure: Azure) -> None:
    run = azure.run("migrate.sh", DATABASE_URL="mssql+pyodbc://@server/database")

    assert run.code == 0, run.text
    assert azure.calls == []
    assert "DATABASE_URL=mssql+pyodbc://@server/database" in azure.environment_of("alembic")


def test_without_either_it_asks_which(azure: Azure) -> None:
    run = azure.run("migrate.sh")

    assert run.code == 1
    assert "infra/migrate.sh ENV, or set DATABASE_URL" in run.err


def test_where_tables_of_others_are_missing_nothing_is_migrated(azure: Azure) -> None:
    run = azure.run("migrate.sh", "dev", PYTHON_FAIL="infra.database check")

    assert run.code == 1
    assert "-m alembic upgrade head" not in azure.pythons


@pytest.mark.parametrize(
    "script",
    [
        *("deploy.sh", "destroy.sh", "migrate.sh", "package.sh"),
        *("rollback.sh", "rotate-callback-key.sh", "what-if.sh"),
    ],
)
def test_every_script_tells_how_it_is_used(azure: Azure, script: str) -> None:
    run = azure.run(script, "--help")

    assert run.code == 0, run.text
    assert run.out.startswith(f"infra/{script}")
    assert azure.calls == []

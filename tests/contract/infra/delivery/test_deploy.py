"""`infra/deploy.sh` takes its steps in order, may be run again, and shows no secret."""

import re

import pytest

from tests.contract.infra.delivery.conftest import Deployed
from tests.contract.infra.delivery.subscription import PACKAGE, PROVIDERS, Azure


def positions(steps: list[str], *beginnings: str) -> list[int]:
    """Where the first command is that begins with each."""
    return [next(i for i, step in enumerate(steps) if step.startswith(b)) for b in beginnings]


def test_an_empty_subscription_gets_the_whole_service(deployed: Deployed) -> None:
    assert deployed.run.code == 0, deployed.run.text
    assert deployed.azure.state["running"] == PACKAGE
    assert deployed.azure.state["group"] == "westeurope"
    assert "Done: dev runs extractor-1.2.3-0123456789ab.zip" in deployed.run.out
    assert "https://func-test.azurewebsites.net" in deployed.run.out


def test_the_steps_come_in_the_order_that_keeps_the_running_release_safe(
    deployed: Deployed,
) -> None:
    order = positions(
        deployed.azure.steps,
        "account show",
        "provider list",
        "group create",
        "deployment group what-if",
        "deployment group create",
        "keyvault secret set",
        "storage blob upload",
        "functionapp deployment source config-zip",
        "storage blob metadata update",
    )
    assert order == sorted(order)
    modules = [re.sub(r" --.*", "", each.removeprefix("-m ")) for each in deployed.azure.pythons]
    assert modules == [
        "infra.database reach",
        "infra.database roles",
        "infra.database check",
        "infra.database revision",
        "alembic upgrade head",
        "infra.database revision",
        "infra.probe",
    ]


def test_the_version_goes_into_the_settings_of_the_app(deployed: Deployed) -> None:
    assert deployed.azure.state["settings"]["BUILD_VERSION"] == "1.2.3"
    assert deployed.azure.state["settings"]["BUILD_COMMIT"] == "0123456789ab"


def test_the_probe_is_told_where_everything_is(deployed: Deployed) -> None:
    told = deployed.azure.environment_of("infra.probe").splitlines()
    assert "PROBE_URL=https://func-test.azurewebsites.net" in told
    assert "PROBE_API_SCOPE=api://extractor/.default" in told
    assert "PROBE_COMMIT=0123456789ab" in told
    assert "PROBE_SERVICE_BUS_NAMESPACE=sbns-test.servicebus.windows.net" in told
    assert "PROBE_BLOB_ACCOUNT_URL=https://stdocstest.blob.core.windows.net" in told
    assert "PROBE_EXTRACTOR_URL=https://extractor.example/extract" in told


def test_the_call_back_key_is_long_and_shown_nowhere(deployed: Deployed) -> None:
    key = deployed.azure.state["keys"]
    assert len(key) >= 64
    assert key not in deployed.run.text
    assert key not in "".join(deployed.azure.steps)
    assert not list(deployed.azure.folder.glob("tmp.*"))


def test_no_token_is_shown(deployed: Deployed) -> None:
    assert "eyJ" not in deployed.run.text
    assert "eyJ" not in "".join(deployed.azure.steps)


def test_the_subscription_is_shown_before_anything_is_changed(azure: Azure) -> None:
    run = azure.deploy(AZ_FAIL="provider list")

    assert "A subscription (sub-id)" in run.out
    assert "me@example.com" in run.out
    assert not [step for step in azure.steps if " create" in step]


def test_where_accepted_files_are_switched_off_the_probe_only_looks(azure: Azure) -> None:
    azure.set_state(settings={"AzureWebJobs_on_file_accepted_Disabled": "true"})

    run = azure.deploy()

    assert run.code == 0, run.text
    assert "PROBE_ONLY_LOOK=true" in azure.environment_of("infra.probe")


def test_twice_is_as_good_as_once(azure: Azure) -> None:
    azure.deploy()
    keys, first = azure.state["keys"], len(azure.steps)

    run = azure.deploy()

    assert run.code == 0, run.text
    again = azure.steps[first:]
    assert azure.state["keys"] == keys
    assert not [
        step for step in again if step.startswith(("keyvault secret set", "storage blob up"))
    ]
    assert not [step for step in again if "check-name" in step]
    assert "is kept already" in run.out


def test_a_deployer_who_is_not_listed_is_told_the_line_to_add(azure: Azure) -> None:
    azure.set_parameters(deployerPrincipals=[])

    run = azure.deploy()

    assert run.code == 1
    assert "Add yourself to deployerPrincipals" in run.err
    assert "11111111-2222-3333-4444-555555555555" in run.err
    assert "group create" not in " ".join(azure.steps)


def test_placeholders_are_named_with_where_to_set_them(azure: Azure) -> None:
    nobody = "00000000-0000-0000-0000-000000000000"
    azure.set_parameters(sqlAdministrators={"name": "g", "objectId": nobody})

    run = azure.deploy()

    assert run.code == 1
    assert "placeholders: sqlAdministrators" in run.err
    assert "infra/environments/dev.env" in run.err


def test_only_the_steps_that_are_asked_for_are_done(azure: Azure) -> None:
    azure.deploy("--steps", "infrastructure")
    assert azure.pythons == []
    before = len(azure.steps)

    run = azure.deploy("--steps", "upload,release,probe")

    assert run.code == 0, run.text
    assert not [step for step in azure.steps[before:] if "what-if" in step or "keyvault" in step]
    assert azure.state["running"] == PACKAGE


def test_steps_that_need_no_package_build_none(azure: Azure) -> None:
    azure.set_state(deployed=True)

    run = azure.run("deploy.sh", "dev", "--steps", "roles")

    assert run.code == 0, run.text
    assert "package" not in run.out
    assert "Done: roles" in run.out


def test_a_machine_that_the_firewall_stops_is_let_in_and_shut_out_again(azure: Azure) -> None:
    run = azure.deploy(FIREWALL="yes")

    assert run.code == 0, run.text
    assert azure.state["rules"] == []
    order = positions(
        azure.steps,
        "sql server firewall-rule create",
        "functionapp deployment source config-zip",
        "sql server firewall-rule delete",
    )
    assert order == sorted(order)
    assert "--start-ip-address 203.0.113.7" in azure.steps[order[0]]


def test_a_machine_that_was_let_in_is_shut_out_when_a_step_fails(azure: Azure) -> None:
    run = azure.deploy(FIREWALL="yes", PYTHON_FAIL="alembic")

    assert run.code == 1
    assert azure.state["rules"] == []


def test_a_role_that_is_on_its_way_is_waited_for(azure: Azure) -> None:
    run = azure.deploy(AZ_REFUSE="storage blob exists")

    assert run.code == 0, run.text
    assert len([step for step in azure.steps if step.startswith("storage blob exists")]) == 2


def test_a_release_whose_probe_fails_is_not_noted_as_proven(azure: Azure) -> None:
    run = azure.deploy(PYTHON_FAIL="infra.probe")

    assert run.code == 1
    assert "infra/rollback.sh dev" in run.err
    assert "provenAt" not in azure.state["blobs"][PACKAGE]


def test_without_someone_to_ask_nothing_is_deployed(azure: Azure) -> None:
    run = azure.run("deploy.sh", "dev", "--location", "westeurope", "--package", PACKAGE)

    assert run.code == 1
    assert "--yes" in run.err
    assert "deployment group create" not in " ".join(azure.steps)


def test_where_no_region_is_known_it_is_asked_for(azure: Azure) -> None:
    run = azure.run("deploy.sh", "dev", "--yes", "--package", PACKAGE)

    assert run.code == 1
    assert "--location REGION" in run.err


def test_a_group_that_is_there_tells_its_region(azure: Azure) -> None:
    azure.set_state(group="northeurope")

    run = azure.run("deploy.sh", "dev", "--yes", "--package", PACKAGE)

    assert run.code == 0, run.text
    assert "northeurope, Flex Consumption" in run.out


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (["nowhere"], "There is no environment 'nowhere'"),
        (["dev", "--fast"], "What is --fast?"),
        (["dev", "--steps", "keys,dance"], "There is no step dance"),
        (["dev", "--package", "absent.zip"], "There is no package"),
    ],
)
def test_a_mistake_on_the_command_line_is_named(
    azure: Azure, parameters: list[str], said: str
) -> None:
    run = azure.run("deploy.sh", *parameters)

    assert run.code == 1
    assert said in run.err


def test_a_package_needs_the_name_that_tells_its_commit(azure: Azure) -> None:
    (azure.folder / "app.zip").write_bytes(b"x")

    run = azure.deploy("--package", "app.zip")

    assert run.code == 1
    assert "extractor-VERSION-COMMIT.zip" in run.err


def test_a_provider_that_is_not_registered_is_named_with_its_command(azure: Azure) -> None:
    azure.set_state(providers="\n".join(each for each in PROVIDERS if each != "Microsoft.App"))

    run = azure.deploy()

    assert run.code == 1
    assert "az provider register --wait --namespace Microsoft.App" in run.err
    assert "Microsoft.Web" not in run.err


def test_a_region_without_flex_consumption_is_refused_with_those_that_have_it(azure: Azure) -> None:
    run = azure.run("deploy.sh", "dev", "--location", "moon", "--package", PACKAGE)

    assert run.code == 1
    assert "moon has no Flex Consumption plan. There is one in: northeurope westeurope" in run.err


def test_a_name_that_is_taken_is_told_with_what_helps(azure: Azure) -> None:
    azure.set_state(**{"vault name is free": "false"})

    run = azure.deploy()

    assert run.code == 1
    assert "az keyvault recover --name kv-test" in run.err
    assert "deployment group create" not in " ".join(azure.steps)


STEPS = {
    "account show": "az login",
    "provider list": "",
    "group create": "Contributor",
    "deployment group what-if": "does not take the template",
    "deployment group create": "az deployment operation group list",
    "keyvault secret list": "private endpoint",
    "keyvault secret set": "roles take up to ten minutes",
    "rest --method post --output none": "restart it in the portal",
    "storage blob upload": "private endpoint",
    "functionapp deployment source config-zip": "infra/rollback.sh dev",
    "storage blob metadata update": "container of releases",
}


@pytest.mark.parametrize(("step", "advice"), STEPS.items())
def test_a_step_that_fails_ends_the_run_and_says_what_to_do(
    azure: Azure, step: str, advice: str
) -> None:
    run = azure.deploy(AZ_FAIL=step)

    assert run.code != 0
    assert advice in run.err
    assert "Done" not in run.out
    after = azure.steps[positions(azure.steps, step)[0] :]
    assert {" ".join(each.split()[:2]) for each in after} == {" ".join(step.split()[:2])}


@pytest.mark.parametrize(
    ("module", "advice"),
    [
        ("infra.database reach", "The database cannot be reached"),
        ("infra.database roles", "sqlAdministrators"),
        ("infra.database check", "Nothing was migrated"),
        ("alembic upgrade", "one transaction"),
    ],
)
def test_a_database_that_refuses_ends_the_run_before_the_new_code_is_deployed(
    azure: Azure, module: str, advice: str
) -> None:
    run = azure.deploy(PYTHON_FAIL=module)

    assert run.code == 1
    assert advice in run.err
    assert "running" not in azure.state

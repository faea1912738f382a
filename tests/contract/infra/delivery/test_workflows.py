"""The workflows call what exists, may do no more than they need, and know no secret."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.infra.delivery.subscription import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
IDS = {
    "AZURE_CLIENT_ID",
    "AZURE_MIGRATION_CLIENT_ID",
    "AZURE_TENANT_ID",
    "AZURE_SUBSCRIPTION_ID",
}
ENVIRONMENTS = ["dev", "qa", "uat", "prod"]

CALLED = re.compile(r"(?<![\w/.])((?:infra/|\.ci/)[\w./-]+)((?: \S+)*)")
"""A file of this repository, and the words behind it."""

Workflow = dict[Any, Any]


def read(name: str) -> Workflow:
    workflow: Workflow = yaml.safe_load((FOLDER / name).read_text())
    return workflow


def jobs() -> list[tuple[str, Workflow]]:
    return [
        (f"{path.name} {name}", job)
        for path in WORKFLOWS
        for name, job in read(path.name)["jobs"].items()
    ]


def steps(job: Workflow) -> list[Workflow]:
    found: list[Workflow] = job.get("steps", [])
    return found


def runs(job: Workflow) -> str:
    return "\n".join(step.get("run", "") for step in steps(job))


every_job = pytest.mark.parametrize(
    "job", [job for _, job in jobs()], ids=[name for name, _ in jobs()]
)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_secret_is_used(path: Path) -> None:
    text = path.read_text()

    assert "secrets." not in text
    assert "secrets: inherit" not in text
    assert "creds:" not in text


def test_azure_is_entered_with_ids_only() -> None:
    logins = [
        step["with"]
        for _, job in jobs()
        for step in steps(job)
        if step.get("uses", "").startswith("azure/login@")
    ]

    assert len(logins) == 6
    for login in logins:
        used = set(re.findall(r"vars\.(\w+)", json.dumps(login)))
        assert used <= IDS
        assert used >= {"AZURE_TENANT_ID"}


@every_job
def test_a_job_may_do_no_more_than_it_needs(job: Workflow) -> None:
    needed = {"contents": "read"}
    if "azure/login@" in json.dumps(job) or "deploy.yml" in job.get("uses", ""):
        needed["id-token"] = "write"
    if "gh pr comment" in runs(job):
        needed["pull-requests"] = "write"

    assert job["permissions"] == needed


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_is_permitted_that_a_job_does_not_name(path: Path) -> None:
    assert read(path.name)["permissions"] == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_with_their_version_beside(path: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", path.read_text())
    others = [(action, comment) for action, comment in used if not action.startswith("./")]

    assert others
    for action, comment in others:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


def test_one_version_of_an_action_is_used_everywhere() -> None:
    text = "\n".join(path.read_text() for path in WORKFLOWS)
    versions: dict[str, set[str]] = {}
    for action, commit in re.findall(r"uses: ([\w/-]+)@(\S+)", text):
        versions.setdefault(action, set()).add(commit)

    assert [action for action, commits in versions.items() if len(commits) > 1] == []


@every_job
def test_what_a_job_calls_exists_and_knows_its_options(job: Workflow) -> None:
    for script, rest in CALLED.findall(runs(job)):
        path = ROOT / script
        assert path.exists() or path.suffix in {".lock", ".env"}, script
        if path.suffix == ".sh":
            assert set(re.findall(r"--[a-z-]+", rest)) <= options(path), script


def options(script: Path) -> set[str]:
    """The options that a script's own words tell of."""
    head = script.read_text().split("\n\n")[0]
    return set(re.findall(r"--[a-z-]+", head))


@every_job
def test_what_comes_from_outside_reaches_the_shell_as_a_variable(job: Workflow) -> None:
    assert "${{" not in runs(job)


def test_the_steps_that_are_asked_for_are_all_and_in_order() -> None:
    asked = re.findall(r"--steps ([a-z,]+)", runs(read("deploy.yml")["jobs"]["deploy"]))
    known = re.search(r"ALL_STEPS=\((.*)\)", (ROOT / "infra" / "deploy.sh").read_text())

    assert known
    first, last = asked
    assert [*first.split(","), "migrate", *last.split(",")] == known[1].split()


def test_the_schema_is_migrated_by_the_migration_identity() -> None:
    names = [step.get("name") for step in steps(read("deploy.yml")["jobs"]["deploy"])]
    deploy = {step.get("name"): step for step in steps(read("deploy.yml")["jobs"]["deploy"])}

    place = names.index("Database schema")
    login = deploy[names[place - 1]]
    assert login["with"]["client-id"] == "${{ vars.AZURE_MIGRATION_CLIENT_ID }}"
    assert deploy["Database schema"]["run"] == "infra/migrate.sh"


def test_a_failed_probe_brings_the_release_before_back() -> None:
    last = steps(read("deploy.yml")["jobs"]["deploy"])[-1]

    assert last["run"] == 'infra/rollback.sh "$ENVIRONMENT" --yes'
    assert last["if"] == "failure() && steps.release.outcome == 'failure'"


def test_one_package_goes_through_the_environments_in_turn() -> None:
    delivery = read("delivery.yml")["jobs"]

    order = ["test", "package", *ENVIRONMENTS]
    assert [delivery[name].get("needs") for name in order[1:]] == order[:-1]
    packaged = [name for name, job in jobs() if "infra/package.sh" in runs(job)]
    assert packaged == ["delivery.yml package"]


def test_every_environment_has_its_parameters() -> None:
    files = sorted(path.stem for path in (ROOT / "infra" / "environments").glob("*.bicepparam"))

    assert files == sorted(ENVIRONMENTS)
    for job in (read("delivery.yml")["jobs"]["preview"], read("drift.yml")["jobs"]["drift"]):
        assert job["strategy"]["matrix"]["environment"] == ENVIRONMENTS


def test_a_deployment_waits_for_its_environment() -> None:
    deploy = read("deploy.yml")["jobs"]["deploy"]

    assert deploy["environment"] == "${{ inputs.environment }}"
    assert deploy["needs"] == "preview"


def test_zizmor_has_nothing_to_say() -> None:
    zizmor = Path(sys.executable).with_name("zizmor")
    done = subprocess.run(
        [zizmor, "--offline", "--no-progress", "--format=plain", FOLDER],
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stdout


def test_the_development_container_installs_what_it_names() -> None:
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text()
    container = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))

    assert "3.13" in container["image"]
    assert (ROOT / container["onCreateCommand"]).exists()
    features = " ".join(container["features"])
    assert "azure-cli" in features
    assert "node" in features


def test_the_file_for_azd_points_to_what_exists_and_says_that_it_is_untested() -> None:
    text = (ROOT / "azure.yaml").read_text()
    azd = yaml.safe_load(text)

    assert "UNTESTED" in text
    assert (ROOT / azd["infra"]["path"] / f"{azd['infra']['module']}.bicepparam").exists()

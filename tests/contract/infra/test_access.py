"""Who may do what is written in infra/README.md; the template gives that, and nothing above it."""

import re
from collections.abc import Callable, Iterator

import pytest

from tests.contract.infra.compiler import ENVIRONMENTS, INFRA
from tests.contract.infra.predicted import Predicted, Resource, last_name, scope_of
from tests.contract.infra.variants import DEPLOYER, EXTRACTOR, FILE_SERVICE, STATUS_SERVICE

Find = Callable[[str], Predicted]

ASSIGNMENT = "Microsoft.Authorization/roleAssignments"
ROLES = {
    "0ad04412-c4d5-4796-b79c-f76d14c8d402": "Durable Task Data Contributor",
    "b86a8fe4-44ce-4948-aee5-eccb2c155cd7": "Key Vault Secrets Officer",
    "4633458b-17de-408a-b874-0445c86b69e6": "Key Vault Secrets User",
    "3913510d-42f4-4e42-8a64-420c390055eb": "Monitoring Metrics Publisher",
    "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0": "Azure Service Bus Data Receiver",
    "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39": "Azure Service Bus Data Sender",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": "Storage Blob Data Reader",
    "db58b8e5-c6ad-4a2a-8342-4190687cbf4a": "Storage Blob Delegator",
    "974c5e8b-45b9-4653-ba55-5f855dd0fb88": "Storage Queue Data Contributor",
    "0a9a7e1f-b9d0-4cc4-a60d-0319b160aaa3": "Storage Table Data Contributor",
}
"""Azure's built-in roles by id, as deployed templates have them."""

OTHERS = {
    EXTRACTOR: "extractors",
    FILE_SERVICE: "file service",
    STATUS_SERVICE: "Status service",
    DEPLOYER: "deployers",
}
Grant = tuple[str, str, str]
"""Who, the role, and what it is on."""


def written() -> list[Grant]:
    """The table of infra/README.md."""
    text = (INFRA / "README.md").read_text(encoding="utf-8")
    section = text.split("## Who may do what, and why")[1].split("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("| ").split("|")]
        for line in section.splitlines()
        if line.startswith("| ") and not line.startswith(("| who ", "| ---"))
    ]
    assert all(len(row) == 4 and row[3] for row in rows), "each row has a reason"
    return [(who, role, on) for who, role, on, _ in rows]


def given(deployment: Predicted) -> Iterator[Grant]:
    """What the template gives, in the words of the table."""
    for each in deployment.of(ASSIGNMENT):
        role = ROLES[last_name(each["properties"]["roleDefinitionId"])]
        yield _who(each["properties"]["principalId"]), role, _on(each)


def test_the_template_gives_what_the_table_says(predicted: Find) -> None:
    of_the_storage = set(given(predicted("prod")))
    of_the_scheduler = set(given(predicted("dev.scheduler")))

    table = written()
    assert len(table) == len(set(table))
    assert of_the_storage | of_the_scheduler == set(table)


def test_the_scheduler_takes_the_place_of_queues_and_tables(predicted: Find) -> None:
    roles = {role for _, role, _ in given(predicted("dev.scheduler"))}

    assert "Durable Task Data Contributor" in roles
    assert not roles & {"Storage Queue Data Contributor", "Storage Table Data Contributor"}


@pytest.mark.parametrize("environment", [*ENVIRONMENTS, "dev.scheduler", "dev.given"])
def test_no_role_is_on_more_than_one_resource(predicted: Find, environment: str) -> None:
    """A role on the resource group, or on a whole namespace, would reach what it need not."""
    scopes = {scope_of(each) for each in predicted(environment).of(ASSIGNMENT)}

    too_wide = [scope for scope in scopes if "/providers/" not in scope]
    namespaces = [
        scope for scope in scopes if re.search(r"Microsoft.ServiceBus/[^/]+/[^/]+$", scope)
    ]
    assert too_wide == []
    assert namespaces == []


@pytest.mark.parametrize("environment", [*ENVIRONMENTS, "dev.scheduler", "dev.given"])
def test_every_assignment_says_what_kind_its_principal_is(
    predicted: Find, environment: str
) -> None:
    """Otherwise Azure looks an identity up that it may not know yet, and fails."""
    kinds = {each["properties"]["principalType"] for each in predicted(environment).of(ASSIGNMENT)}

    assert kinds <= {"ServicePrincipal", "Group", "User"}


@pytest.mark.parametrize("environment", [*ENVIRONMENTS, "dev.scheduler", "dev.given"])
def test_no_role_is_made_up(predicted: Find, environment: str) -> None:
    """A role of our own might allow more than Azure's, and nobody would know it by its name."""
    assert predicted(environment).of("Microsoft.Authorization/roleDefinitions") == []


def test_assignments_are_named_by_scope_principal_and_role(predicted: Find) -> None:
    """The same name at each deployment, and another one for everything else."""
    names = [each["name"] for each in predicted("dev.scheduler").of(ASSIGNMENT)]

    assert all(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", name) for name in names)
    assert len(names) == len(set(names))


def test_the_migration_identity_has_no_role_in_azure(predicted: Find) -> None:
    holders = {
        each["properties"]["principalId"]
        for environment in ENVIRONMENTS
        for each in predicted(environment).of(ASSIGNMENT)
    }

    assert [holder for holder in holders if "id-migration" in holder] == []


def test_in_a_given_account_the_app_reads_every_container_and_nobody_writes(
    predicted: Find,
) -> None:
    on_documents = {
        (who, role, last_name(scope_of(each)))
        for each in predicted("dev.given").of(ASSIGNMENT)
        if "theirdocuments" in scope_of(each)
        for who, role, _ in given(Predicted({"predictedResources": [each], "outputs": {}}))
    }

    assert on_documents == {
        ("app", "Storage Blob Delegator", "theirdocuments"),
        ("app", "Storage Blob Data Reader", "invoices"),
        ("app", "Storage Blob Data Reader", "letters"),
    }


def _who(principal_id: str) -> str:
    if principal_id in OTHERS:
        return OTHERS[principal_id]
    assert "userAssignedIdentities/id-extractor-" in principal_id
    return "app"


def _on(assignment: Resource) -> str:
    scope = scope_of(assignment)
    kind, name = scope.rsplit("/", 2)[1:]
    match kind:
        case "storageAccounts":
            return f"storage account of the {'host' if name.startswith('sthost') else 'documents'}"
        case "containers":
            return "container releases" if name == "releases" else "containers of the documents"
        case "topics" | "subscriptions":
            return f"{kind.removesuffix('s')} {name}"
        case "vaults":
            return "Key Vault"
        case "components":
            return "Application Insights"
        case "taskHubs":
            return "task hub"
    raise AssertionError(f"a role on {scope}, which the table has no words for")

"""What `docs/operations/` names is there: endpoints, settings, functions, roles, links."""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from infra.probe.settings import ProbeSettings
from shared.auth import ADMINISTRATOR, READ, RULES, USER, WRITE, Access
from shared.functions.operations import CALLBACK_TOKEN, OPERATIONS
from shared.settings import Settings
from tests.pages import DOCS, ROOT, anchors, blocks, links, name_of, pages
from tests.unit.functions.app_functions import functions

OF_INFRA = {"monitoring.md", "releases.md"}
"""What these name is in infra/, and held to it by the tests of infra/."""

PAGES = [page for page in pages(DOCS / "operations") if page.name not in OF_INFRA]
EVERY_PAGE = [*pages(), ROOT / "README.md", *(ROOT / "local").rglob("README.md")]
ALERTS = ROOT / "infra/modules/alerts.bicep"
NAMES = {each.get_function_name() for each in functions()}
REGISTRATION_READ = "REGISTRATION_READ"

ACCESS = {
    None: "nothing",
    Access.READ: "READ",
    Access.WRITE: "WRITE",
    Access.ADMINISTRATOR: "ADMIN",
    CALLBACK_TOKEN: "the job's own token",
    REGISTRATION_READ: REGISTRATION_READ,
}

_CALL = re.compile(
    r"\b(GET|POST|get|post) \"?(/(?:v1|health|registration|openapi|docs)[^\s`\"'?)]*)"
)
_SETTING = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")
_PATH = re.compile(r"\b((?:infra|tests|docs|shared|local|migrations)/[\w/-]+(?:\.\w+)?)")
_CAMEL_CASE = re.compile(r"`(?:\w+\.)?([a-z]+(?:[A-Z][a-zA-Z]+)+)`")
_FLAG = re.compile(r"AzureWebJobs_(\w+)_Disabled")


def table(page: str, first: str) -> Iterator[list[str]]:
    """The rows of a page's table whose first heading is this, without Markdown."""
    lines = iter((DOCS / "operations" / page).read_text().splitlines())
    assert any(line.startswith(f"| {first} |") for line in lines), f"{page} has no such table"
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip().replace("`", "").replace("*", "") for cell in line.split("|")[1:-1]]


def is_an_operation(method: str, path: str) -> bool:
    return any(
        operation.method == method.upper()
        and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", operation.path), path)
        for operation in OPERATIONS
    )


def test_every_endpoint_stands_in_the_table_with_what_it_asks_for() -> None:
    rows = {(method, path): needs for method, path, needs, *_ in table("README.md", "method")}
    assert rows == {(each.method, each.path): ACCESS[each.access] for each in OPERATIONS}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_call_on_a_page_is_one_that_there_is(page: Path) -> None:
    text = re.sub(r"\$\{?[A-Z_]+\}?", "x", page.read_text())
    calls = [(method, path.rstrip(".,:;/…")) for method, path in _CALL.findall(text)]
    assert [call for call in calls if not is_an_operation(*call)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_setting_on_a_page_is_one_that_there_is(page: Path) -> None:
    known = {*Settings.model_fields, READ, WRITE, REGISTRATION_READ, *shell_variables(page)}
    known |= deployers_variables() | probes_variables() | pipelines_variables()
    named = _SETTING.findall(page.read_text())
    assert [name for name in named if name not in known and not name.startswith("LOCAL_")] == []


def deployers_variables() -> set[str]:
    """What the parameter files read from the environment of whoever deploys."""
    files = (ROOT / "infra/environments").glob("*.bicepparam")
    texts = "".join(path.read_text() for path in files)
    return set(re.findall(r"readEnvironmentVariable\('(\w+)'", texts))


def probes_variables() -> set[str]:
    """What the post-deployment probe is told."""
    return {f"PROBE_{name}" for name in ProbeSettings.model_fields}


def pipelines_variables() -> set[str]:
    """What the workflows read from the settings of the repository and its environments."""
    files = (ROOT / ".github/workflows").glob("*.yml")
    return set(re.findall(r"vars\.(\w+)", "".join(path.read_text() for path in files)))


def shell_variables(page: Path) -> set[str]:
    """What the page's own commands set or use."""
    return set(re.findall(r"\$\{?([A-Z_]+)", page.read_text()))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_function_that_a_page_switches_off_is_one_that_there_is(page: Path) -> None:
    assert set(_FLAG.findall(page.read_text())) <= NAMES


def test_it_is_said_of_every_function_how_long_it_may_be_off() -> None:
    assert sorted(row[0] for row in table("roll-out.md", "function")) == sorted(NAMES)


def test_the_registration_has_the_roles_and_scopes_that_tokens_are_checked_for() -> None:
    registration = json.loads((DOCS / "operations" / "app-registration.json").read_text())
    roles = {each["value"]: set(each["allowedMemberTypes"]) for each in registration["appRoles"]}
    scopes = {each["value"] for each in registration["api"]["oauth2PermissionScopes"]}
    assert scopes == {scope for rule in RULES.values() for scope in rule.scopes}
    assert roles == {
        ADMINISTRATOR: {"User", "Application"},
        USER: {"User"},
        READ: {"Application"},
        WRITE: {"Application"},
        REGISTRATION_READ: {"Application"},
    }
    assert set(roles) - {REGISTRATION_READ} == {
        role for rule in RULES.values() for role in (*rule.user_roles, *rule.own_roles)
    }


def test_the_table_of_rights_says_what_the_code_asks_for() -> None:
    rows = {
        access: (person, own) for access, person, own, _ in table("app-registration.md", "access")
    }
    for access, rule in RULES.items():
        person, own = rows[ACCESS[access]]
        scopes, roles = person.split(", and ")
        assert scopes == f"scope {' or '.join(rule.scopes)}"
        assert roles == f"role {' or '.join(rule.user_roles)}"
        assert own == f"role {' or '.join(rule.own_roles)}"
    assert rows[REGISTRATION_READ] == ("nobody", f"role {REGISTRATION_READ}")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_of_the_repository_that_a_page_names_is_there(page: Path) -> None:
    assert [path for path in _PATH.findall(page.read_text()) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_field_and_parameter_on_a_page_is_one_that_there_is(page: Path) -> None:
    shown = "".join(block.text for block in blocks(page))
    known = words() | set(re.findall(r"\w+", shown))
    assert [name for name in _CAMEL_CASE.findall(page.read_text()) if name not in known] == []


@cache
def words() -> set[str]:
    """Every word in the code, the infrastructure and the description of the endpoints."""
    files = [
        *(ROOT / "shared").rglob("*.py"),
        *(ROOT / "infra").rglob("*.bicep"),
        DOCS / "openapi.json",
    ]
    return {word for file in files for word in re.findall(r"\w+", file.read_text())}


def test_every_alert_leads_to_the_section_that_says_what_to_do() -> None:
    rows = [
        (name, severity, _anchor(cell)) for name, severity, cell in table("runbook.md", "alert")
    ]
    sources = [*(ROOT / "infra/monitoring").glob("*-alerts.bicep"), ALERTS]
    found = {alert for source in sources for alert in _alerts(source.read_text())}
    assert sorted(rows) == sorted(found)


def _anchor(cell: str) -> str:
    return cell.partition("(#")[2].rstrip(")")


def _alerts(bicep: str) -> list[tuple[str, str, str]]:
    """Name, severity and section of every alert in a Bicep file: data, or a resource of its own."""
    as_data = re.findall(
        r"name: '([\w-]+)'\n +severity: (\d)\n.*?runbook: '([\w-]+)'", bicep, re.DOTALL
    )
    as_resource = re.findall(
        r"name: alertName\(\w+, '([\w-]+)'\)[^@]*?description: explain\('[^']*', '([\w-]+)'\)"
        r"\n +severity: (\d)",
        bicep,
    )
    return as_data + [(name, severity, section) for name, section, severity in as_resource]


@pytest.mark.parametrize("page", EVERY_PAGE, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    assert [link for link in links(page) if not leads_somewhere(page, link)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    if "://" in path:
        return True
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))

"""What Checkov finds in an environment has a reason in infra/checkov.json, or is a fault."""

import json
import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.contract.infra.compiler import ENVIRONMENTS, INFRA
from tests.contract.infra.predicted import Predicted

Find = Callable[[str], Predicted]

CHECKOV = INFRA.parent / ".venv-checkov" / "bin" / "checkov"
REASONS = INFRA / "checkov.json"
SCHEMA = "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#"
SECONDS = 100
Finding = tuple[str, str, str]
"""The environment, the check, the type of the resource."""


@pytest.fixture(scope="session")
def findings(predicted: Find, tmp_path_factory: pytest.TempPathFactory) -> dict[Finding, str]:
    """Each finding, with what it is about.

    Checkov gets what the template comes to: in the template itself it sees neither through
    modules nor through parameters.
    """
    if not CHECKOV.exists():
        pytest.skip("Checkov is missing: run `make infra-tools`")
    folder = tmp_path_factory.mktemp("checkov")
    for environment in ENVIRONMENTS:
        (folder / f"{environment}.json").write_text(_template(predicted(environment)))
    report = _report(folder)
    assert report["summary"]["parsing_errors"] == 0
    assert report["summary"]["passed"] > 100
    return {
        (Path(each["file_path"]).stem, each["check_id"], _type(each["resource"])): (
            f"{each['check_name']}: {each['resource']}"
        )
        for each in report["results"]["failed_checks"]
    }


def test_every_finding_has_a_reason(findings: dict[Finding, str]) -> None:
    excused = set(exceptions())

    assert {finding: what for finding, what in findings.items() if finding not in excused} == {}


def test_every_reason_is_still_needed(findings: dict[Finding, str]) -> None:
    assert [each for each in exceptions() if each not in findings] == []


def test_reasons_are_sentences() -> None:
    reasons = [each["reason"] for each in _written()]

    assert [reason for reason in reasons if len(reason) < 20 or not reason.endswith(".")] == []


def exceptions() -> Iterator[Finding]:
    """The findings that have a reason."""
    for each in _written():
        for environment, check in product(each.get("in", ENVIRONMENTS), each["checks"]):
            yield environment, check, each["on"]


def _written() -> list[dict[str, Any]]:
    written: list[dict[str, Any]] = json.loads(REASONS.read_text(encoding="utf-8"))["exceptions"]
    return written


def _type(resource: str) -> str:
    """Checkov names a resource `Microsoft.Web/sites.func-extractor`."""
    return ".".join(resource.split(".")[:2])


def _template(deployment: Predicted) -> str:
    resources = [
        {name: value for name, value in each.items() if name != "id"}
        for each in deployment.resources
    ]
    return json.dumps({"$schema": SCHEMA, "contentVersion": "1.0.0.0", "resources": resources})


def _report(folder: Path) -> Any:
    done = subprocess.run(
        [
            str(CHECKOV),
            f"--directory={folder}",
            "--framework=arm",
            "--output=json",
            "--quiet",
            "--compact",
            "--skip-download",
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)

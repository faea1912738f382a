"""The compiler finds no fault with the Bicep; the template refuses what contradicts itself."""

import json

import pytest

from tests.contract.infra.compiler import (
    ENVIRONMENTS,
    INFRA,
    PARAMETERS,
    Compiler,
    CompilerError,
    compile_quietly,
)
from tests.contract.infra.conftest import Compiled


@pytest.mark.usefixtures("compiler")
def test_no_file_has_a_warning() -> None:
    assert compile_quietly("lint", f"--pattern={INFRA}/**/*.bicep") == ""


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_parameters_of_an_environment_compile(compiler: Compiler, environment: str) -> None:
    parameters = compiler.parameters(PARAMETERS / f"{environment}.bicepparam")

    assert parameters["environmentName"]["value"] == environment


def test_every_file_is_laid_out_as_the_compiler_does_it(compiler: Compiler) -> None:
    files = [path for path in INFRA.rglob("*.bicep*") if path.suffix != ".json"]

    otherwise = [
        path.name for path in files if compiler.formatted(path) != path.read_text(encoding="utf-8")
    ]

    assert otherwise == [], "bicep format"


def test_every_rule_of_the_linter_is_an_error() -> None:
    config = json.loads((INFRA / "bicepconfig.json").read_text(encoding="utf-8"))
    core = config["analyzers"]["core"]

    assert core["enabled"]
    assert {rule["level"] for rule in core["rules"].values()} == {"error"}


def test_no_line_switches_a_rule_off() -> None:
    switched_off = [
        path.name
        for path in INFRA.rglob("*.bicep*")
        if "#disable" in path.read_text(encoding="utf-8")
    ]

    assert switched_off == []


def test_the_template_composes_in_less_than_200_lines() -> None:
    lines = (INFRA / "main.bicep").read_text(encoding="utf-8").splitlines()

    assert len(lines) < 200
    assert [line for line in lines if line.startswith("resource ")] == []


@pytest.mark.parametrize(
    ("variant", "rule"),
    [
        ("dev.private-standard", "privateNetwork needs serviceBusSku Premium"),
        ("dev.database-without-server", "existing.sqlDatabase needs existing.sqlServer"),
    ],
)
def test_a_contradiction_is_refused_by_name(compiled: Compiled, variant: str, rule: str) -> None:
    assert isinstance(error := compiled[variant], CompilerError)
    assert rule in str(error)

"""What is made once: a day of lines, the queries read, the rules predicted."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from tests.contract.infra.compiler import Compiler
from tests.contract.infra.monitoring.a_day import Line, a_day
from tests.contract.infra.monitoring.predicted import predict
from tests.contract.infra.monitoring.queries import QUERIES, WRONG, Analysis, analyze
from tests.contract.infra.monitoring.workspace import Workspace


@pytest.fixture(scope="session")
def analyses() -> Mapping[str, Analysis]:
    return analyze(QUERIES | WRONG)


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    return asyncio.run(a_day(tmp_path_factory.mktemp("day")))


@pytest.fixture
def workspace() -> Workspace:
    return Workspace()


@pytest.fixture(scope="session")
def alerts(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The resources of alerts.bicep."""
    return predict(compiler, "alerts", tmp_path_factory.mktemp("alerts"))


@pytest.fixture(scope="session")
def workbook(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The one resource of workbook.bicep."""
    (resource,) = predict(compiler, "workbook", tmp_path_factory.mktemp("workbook"))
    return resource

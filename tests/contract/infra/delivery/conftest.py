"""Subscriptions for tests: empty ones, and one to look at after a deployment."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.infra.delivery.subscription import Azure, Run


@dataclass(frozen=True)
class Deployed:
    """What a first deployment has done, and what it said. Not to be changed."""

    azure: Azure
    run: Run


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    """An empty subscription in which the deployer may do everything."""
    return _subscription(tmp_path)


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Deployed:
    """The whole of `infra/deploy.sh` on an empty subscription, once."""
    azure = _subscription(tmp_path_factory.mktemp("deployed"))
    extractor = "https://extractor.example/extract"
    return Deployed(azure, azure.deploy(PROBE_EXTRACTOR_URL=extractor))


def _subscription(folder: Path) -> Azure:
    azure = Azure(folder / "azure")
    azure.set_parameters(
        deployerPrincipals=[_deployer()],
        fileServicePrincipals=[_deployer()],
    )
    return azure


def _deployer() -> dict[str, str]:
    return {
        "name": "deployer",
        "principalId": "11111111-2222-3333-4444-555555555555",
        "principalType": "User",
    }

"""What an environment would hold stands beside its parameters: a change of it shows as a diff."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.contract.infra.compiler import ENVIRONMENTS, PARAMETERS, read, snapshot_of
from tests.contract.infra.create_only import lost
from tests.contract.infra.predicted import Predicted

pytestmark = pytest.mark.parametrize("environment", ENVIRONMENTS)
Find = Callable[[str], Predicted]


def kept(environment: str) -> dict[str, Any]:
    return read(snapshot_of(PARAMETERS / f"{environment}.bicepparam"))


def test_the_snapshot_is_that_of_the_template(predicted: Find, environment: str) -> None:
    changed = [
        f"{place}: kept {before!r}, compiled {after!r}"
        for place, before, after in differences(
            _by_id(kept(environment)), _by_id(predicted(environment).prediction)
        )
    ]

    assert changed == [], "run `make snapshots`, look at the difference, and commit it"


def test_nothing_is_lost_by_deploying_over_the_snapshot(predicted: Find, environment: str) -> None:
    assert lost(kept(environment), predicted(environment).prediction) == []


def test_every_name_can_be_foretold(predicted: Find, environment: str) -> None:
    """A name that only a deployment knows might change, and a what-if could not show it."""
    unknown = [
        each["name"]
        for each in predicted(environment).resources
        if "reference(" in each["name"] or "utcNow" in each["name"] or "newGuid" in each["name"]
    ]

    assert unknown == []


def differences(before: Any, after: Any, place: str = "") -> Iterator[tuple[str, object, object]]:
    """The places in which two JSON values differ, with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() | after.keys()):
            yield from differences(before.get(name), after.get(name), f"{place}/{name}")
    elif before != after:
        yield place, before, after


def _by_id(prediction: dict[str, Any]) -> dict[str, Any]:
    resources = {each["id"]: each for each in prediction["predictedResources"]}
    return {**prediction, "predictedResources": resources}

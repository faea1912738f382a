import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HOST_JSON = Path(__file__).parents[3] / "host.json"


@pytest.fixture
def host_json() -> Callable[[str], Any]:
    """A value of host.json by its dotted path."""

    def value(path: str) -> Any:
        found = json.loads(HOST_JSON.read_text())
        for key in path.split("."):
            found = found[key]
        return found

    return value

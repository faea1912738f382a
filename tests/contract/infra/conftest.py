"""What the deployments would hold, each compiled once for all tests."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.contract.infra.compiler import (
    ENVIRONMENTS,
    INFRA,
    MISSING,
    Compiler,
    CompilerError,
    copy_of_infra,
    find_compiler,
)
from tests.contract.infra.predicted import Predicted
from tests.contract.infra.variants import VARIANTS

Compiled = dict[str, Predicted | CompilerError]


@pytest.fixture(scope="session")
def compiler() -> Iterator[Compiler]:
    """A compiler; without one these tests say what is missing."""
    if not find_compiler():
        pytest.skip(MISSING)
    with Compiler() as compiler:
        yield compiler


@pytest.fixture(scope="session")
def compiled(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Every environment and variant."""
    copy = copy_of_infra(tmp_path_factory.mktemp("infra")) / "environments"
    for name, text in VARIANTS.items():
        (copy / f"{name}.bicepparam").write_text(text, encoding="utf-8")
    names = (*ENVIRONMENTS, *VARIANTS)
    return {name: _predicted(compiler, copy / f"{name}.bicepparam") for name in names}


@pytest.fixture(scope="session")
def predicted(compiled: Compiled) -> Callable[[str], Predicted]:
    """Gives what an environment or a variant would hold, by its name."""

    def find(name: str) -> Predicted:
        found = compiled[name]
        if isinstance(found, CompilerError):
            raise found
        return found

    return find


@pytest.fixture(scope="session")
def template(compiler: Compiler) -> Any:
    """The compiled template."""
    return compiler.template(INFRA / "main.bicep")


def _predicted(compiler: Compiler, parameters: Path) -> Predicted | CompilerError:
    try:
        return Predicted(compiler.predict(parameters))
    except CompilerError as error:
        return error

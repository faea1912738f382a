"""The page that says where each requirement is met names nothing that is gone."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "acceptance.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
PATHS = sorted(set(re.findall(r"`((?:shared|docs|tests|benchmarks|local)/[\w./-]*)", PAGE)))


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in tree.body if isinstance(node, kinds)}


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_a_test_that_is_named_is_there(path: str, name: str) -> None:
    assert name in functions(path)


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_is_named_is_there(path: str) -> None:
    assert (ROOT / path).exists()


def test_every_test_of_the_endpoints_examples_is_named() -> None:
    examples = {
        name for name in functions("tests/unit/functions/test_restart.py") if "example" in name
    }
    assert examples <= {name for _, name in TESTS}

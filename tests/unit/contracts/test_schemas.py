"""The published schemas are those of the models."""

from pathlib import Path

import pytest

from shared.contracts.schemas import as_text, message_schemas, write

MESSAGES = Path(__file__).parents[3] / "docs" / "messages"


@pytest.mark.parametrize("name", message_schemas())
def test_the_published_schema_has_not_drifted(name: str) -> None:
    published = (MESSAGES / f"{name}.json").read_text(encoding="utf-8")
    assert published == as_text(message_schemas()[name]), "run: make schemas"


def test_no_schema_is_published_that_no_model_makes() -> None:
    assert {path.stem for path in MESSAGES.glob("*.json")} == set(message_schemas())


def test_the_schemas_are_written_one_file_each(tmp_path: Path) -> None:
    write(tmp_path / "messages")
    assert len(list((tmp_path / "messages").iterdir())) == len(message_schemas())

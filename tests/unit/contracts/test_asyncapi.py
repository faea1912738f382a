"""The AsyncAPI document is that of the models and of the topology."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.contracts.asyncapi import CHANNELS, asyncapi_document
from shared.contracts.schemas import as_text, message_schemas

PUBLISHED = Path(__file__).parents[3] / "docs" / "asyncapi.json"
SETTINGS = Path(__file__).parents[3] / "local.settings.json.example"


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            yield from references(each)


def resolve(document: Any, reference: str) -> Any:
    for key in reference.removeprefix("#/").split("/"):
        document = document[key]
    return document


def test_the_published_document_has_not_drifted() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == as_text(asyncapi_document()), "make schemas"


def test_every_reference_leads_somewhere() -> None:
    document = asyncapi_document()
    found = [each for each in references(document) if not each.startswith("#/$defs")]
    assert found
    assert all(resolve(document, each) for each in found)


def test_every_message_is_on_a_topic() -> None:
    on_topics = {name for _, names in CHANNELS.values() for name in names}
    assert on_topics == set(message_schemas()) - {"RegisteredExtractors"}


def test_the_topics_are_those_of_the_settings() -> None:
    values = json.loads(SETTINGS.read_text())["Values"]
    topics = {value for name, value in values.items() if name.startswith("TOPIC_")}
    assert set(CHANNELS) == topics

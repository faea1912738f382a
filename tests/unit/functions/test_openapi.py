"""The description of the HTTP endpoints is that of the functions and of the models they use."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import azure.functions as func
import pytest
from pydantic import BaseModel, TypeAdapter

from shared import wiring
from shared.auth import Access, Caller, ForbiddenError
from shared.contracts.http import Body
from shared.contracts.http_answers import Answer
from shared.contracts.http_examples import EXAMPLES
from shared.contracts.schemas import as_text
from shared.functions.docs_page import VIEWER
from shared.functions.openapi import get_docs, get_openapi
from shared.functions.openapi_document import document, write
from shared.functions.operations import CALLBACK_TOKEN, OPERATIONS, Operation
from tests.database import empty_database
from tests.unit.functions.app_functions import http_functions
from tests.unit.services.world import World

PUBLISHED = Path(__file__).parents[3] / "docs" / "openapi.json"
DOCUMENT = document()
BY_NAME = {operation.function: operation for operation in OPERATIONS}


FUNCTIONS = http_functions()


def called(operation: Operation) -> func.HttpResponse:
    """What the function behind an operation answers to a request without anything."""
    user_function, _ = FUNCTIONS[operation.function]
    names = re.findall(r"{(\w+)}", operation.path)
    params = dict.fromkeys(names, "11111111-2222-4333-8444-555555555555")
    headers = {"authorization": "Bearer one.that.is-refused"}
    request = func.HttpRequest(
        operation.method, "/", headers=headers, route_params=params, body=b""
    )
    response: func.HttpResponse = user_function(request)
    return response


def references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        yield from [node["$ref"]] if "$ref" in node else []
        node = list(node.values())
    for child in node if isinstance(node, list) else []:
        yield from references(child)


DESCRIBED = {
    f"{method.upper()} {path}": operation
    for path, methods in DOCUMENT["paths"].items()
    for method, operation in methods.items()
}


# The table and the app


def test_every_route_of_the_app_is_described_and_no_other() -> None:
    routes = {
        name: ([method.value for method in trigger["methods"]], f"/{trigger['route']}")
        for name, (_, trigger) in FUNCTIONS.items()
    }
    assert routes == {each.function: ([each.method], each.path) for each in OPERATIONS}


def test_the_platforms_keys_guard_nothing() -> None:
    levels = {trigger["authLevel"].value for _, trigger in FUNCTIONS.values()}
    assert levels == {"anonymous"}


def test_the_name_of_the_batch_comes_before_that_of_the_single_file() -> None:
    assert BY_NAME["retry_batch"].path == "/v1/retry/batch"
    assert BY_NAME["retry_file"].path == "/v1/retry/{fileId}"
    assert sorted(BY_NAME).index("retry_batch") < sorted(BY_NAME).index("retry_file")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Access | str]:
    """What the functions ask of a token; every token is refused."""
    asked: list[Access | str] = []

    def refuse(authorization: str | None, access: Access | str) -> Caller:
        asked.append(access)
        raise ForbiddenError("refused")

    world = World(empty_database(tmp_path))
    monkeypatch.setattr(world, "authorize", refuse)
    monkeypatch.setattr(world, "authorize_service", refuse)
    monkeypatch.setattr(
        world.callbacks, "check", lambda token, job_id: refuse(token, CALLBACK_TOKEN)
    )
    monkeypatch.setattr(wiring, "_app", world.as_app)
    return asked


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.function)
def test_an_operation_asks_for_the_access_that_is_described_before_anything_else(
    asked: list[Access | str], operation: Operation
) -> None:
    response = called(operation)
    assert asked == ([operation.access] if operation.access else [])
    assert response.status_code == (403 if operation.access else 200)


# The document


def test_the_published_document_has_not_drifted() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == as_text(DOCUMENT), "run: make schemas"


def test_the_document_is_written_into_a_file(tmp_path: Path) -> None:
    write(tmp_path / "openapi.json")
    assert json.loads((tmp_path / "openapi.json").read_text()) == DOCUMENT


def test_every_reference_leads_somewhere() -> None:
    for reference in set(references(DOCUMENT)):
        found = DOCUMENT
        assert reference.startswith("#/")
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        assert found


@pytest.mark.parametrize(("place", "operation"), DESCRIBED.items(), ids=DESCRIBED)
def test_an_operation_has_what_openapi_asks_for(place: str, operation: dict[str, Any]) -> None:
    in_path = re.findall(r"{(\w+)}", place)
    parameters = operation.get("parameters", [])
    assert [each["name"] for each in parameters if each["in"] == "path"] == in_path
    assert all(each["required"] for each in parameters if each["in"] == "path")
    assert all(each["schema"] for each in parameters)
    assert ("requestBody" in operation) == place.startswith("POST")
    assert operation["operationId"] in BY_NAME
    assert {"200", "202"} & set(operation["responses"])


def test_operations_are_named_once() -> None:
    names = [operation["operationId"] for operation in DESCRIBED.values()]
    assert len(names) == len(set(names)) == len(OPERATIONS)


REFUSED = {"401", "403"}
SECURED = {*REFUSED, "503"}
WITH_BODY = {"400", "411", "413", "415"}


@pytest.mark.parametrize(("place", "operation"), DESCRIBED.items(), ids=DESCRIBED)
def test_the_answers_that_come_from_the_form_are_described(
    place: str, operation: dict[str, Any]
) -> None:
    statuses = set(operation["responses"])
    assert "500" in statuses
    assert (statuses >= SECURED) == ("security" in operation)
    assert ("security" in operation) == bool(statuses & REFUSED)
    assert (statuses >= WITH_BODY) == ("requestBody" in operation)


def test_who_may_call_is_told_by_the_rule_that_decides() -> None:
    restart = DOCUMENT["paths"]["/v1/extracted_entities/restart"]["post"]
    assert restart["security"] == [{"bearer": ["EXTRACTED_ENTITIES_WRITE"]}]
    assert restart["description"] == (
        "For users with the scope EXTRACTED_ENTITIES_WRITE and the role Administrator or User,"
        " and for applications with the role EXTRACTED_ENTITIES_WRITE."
    )
    registration = DOCUMENT["paths"]["/registration/{clientAppId}/extractors"]["get"]
    assert registration["description"] == "For applications with the role REGISTRATION_READ."


def test_a_restart_is_described_as_it_is_validated() -> None:
    schema = DOCUMENT["components"]["schemas"]["RestartRequest"]
    assert schema["required"] == ["extractedEntityIds"]
    assert schema["properties"] == {
        "extractedEntityIds": {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": 2**63 - 1},
            "minItems": 1,
            "maxItems": 100,
        },
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": 500,
            "default": "manual_restart",
        },
    }


def test_what_may_be_absent_is_never_null() -> None:
    assert '"null"' not in as_text(DOCUMENT)
    schema = DOCUMENT["components"]["schemas"]["RestartAnswer"]
    assert "errors" in schema["properties"]
    assert "errors" not in schema["required"]


# The examples


@pytest.mark.parametrize("model", EXAMPLES, ids=lambda model: model.__name__)
def test_an_example_is_valid_and_shown(model: type[BaseModel]) -> None:
    example = EXAMPLES[model]
    assert DOCUMENT["components"]["schemas"][model.__name__]["examples"] == [example]
    if issubclass(model, Body):
        assert model.read(json.dumps(example).encode()).model_dump(exclude_unset=True) == example
    else:
        read = TypeAdapter(model).validate_json(json.dumps(example))
        document = read.document() if isinstance(read, Answer) else read.model_dump()
        assert document == example


def test_every_body_and_every_good_answer_has_an_example() -> None:
    models = [each.body for each in OPERATIONS if each.body]
    answers = [kind for each in OPERATIONS for kind in each.all_answers.values()]
    models += [kind for kind in answers if isinstance(kind, type) and issubclass(kind, Answer)]
    assert [model for model in models if model not in EXAMPLES] == []


# The endpoints


def served(function: Any) -> func.HttpResponse:
    response: func.HttpResponse = function._function.get_user_function()(
        func.HttpRequest("GET", "/", body=b"")
    )
    return response


def test_the_document_is_served_to_anyone() -> None:
    response = served(get_openapi)
    assert (response.status_code, response.mimetype) == (200, "application/json")
    assert json.loads(response.get_body()) == DOCUMENT


def test_the_page_shows_the_document_of_this_app_in_the_viewer() -> None:
    response = served(get_docs)
    shown = response.get_body().decode()
    assert (response.status_code, response.mimetype) == (200, "text/html")
    assert 'SwaggerUIBundle({url: "/openapi.json"' in shown
    assert (VIEWER / "swagger-ui.css").read_text() in shown


def test_the_viewer_is_the_released_one() -> None:
    released = Path("node_modules/swagger-ui-dist")
    for kept in VIEWER.iterdir():
        assert kept.read_bytes() == (released / kept.name).read_bytes(), kept.name


def test_the_page_runs_its_own_scripts_only_and_reaches_this_app_only() -> None:
    response = served(get_docs)
    shown = response.get_body().decode()
    policy = dict(
        rule.strip().split(" ", 1)
        for rule in response.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    for kind in ("script", "style"):
        inline = re.findall(rf"<{kind}>(.*?)</{kind}>", shown, re.DOTALL)
        assert policy[f"{kind}-src"] == " ".join(map(sha256_source, inline))
    assert "<!--" not in shown, "it would hide where a script ends"


def sha256_source(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

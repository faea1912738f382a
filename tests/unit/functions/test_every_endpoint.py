"""Whatever is sent, an endpoint answers with a status and a body that are described."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import azure.functions as func
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from shared import wiring
from shared.contracts.http_examples import EXAMPLES
from shared.functions.operations import OPERATIONS, Operation
from tests.database import empty_database
from tests.unit.functions.app_functions import http_functions
from tests.unit.services.world import World

FUNCTIONS = http_functions()
TAKING = [each for each in OPERATIONS if each.path_parameters or each.query or each.body]


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(empty_database(Path(tmp_path_factory.mktemp("world"))))
    world.accepted()
    world.retried()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wiring, "_app", world.as_app)
        yield world


TEXT = st.one_of(
    st.text(st.characters()),
    st.integers(-(10**40), 10**40).map(str),
    st.datetimes().map(lambda at: f"{at.isoformat()}Z"),
    st.sampled_from(["\ud800", "\x00", str(2**31), str(2**63)]),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def known(world: World) -> st.SearchStrategy[str]:
    job = world.jobs()[0]
    return st.sampled_from([str(job.job_id), str(job.file_id), world.file.document_hash, "r1"])


def bodies(operation: Operation) -> st.SearchStrategy[bytes]:
    if operation.body is None:
        return st.just(b"")
    example = EXAMPLES[operation.body]
    good = st.fixed_dictionaries({}, optional={name: st.just(example[name]) for name in example})
    bad = st.fixed_dictionaries({}, optional=dict.fromkeys(operation.body.model_fields, JSON))
    return st.binary(max_size=50) | (good | bad | JSON).map(
        lambda value: json.dumps(value).encode()
    )


@pytest.mark.parametrize("operation", TAKING, ids=lambda operation: operation.function)
@settings(max_examples=40)
@given(data=st.data())
def test_the_answer_is_one_that_is_described(
    world: World, operation: Operation, data: st.DataObject
) -> None:
    value = TEXT | known(world)
    names = re.findall(r"{(\w+)}", operation.path)
    path = data.draw(st.fixed_dictionaries(dict.fromkeys(names, value)))
    fields = operation.query.model_fields if operation.query else {}
    query = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, value)))
    request = func.HttpRequest(
        operation.method, "/", params=query, route_params=path, body=data.draw(bodies(operation))
    )
    user_function, _ = FUNCTIONS[operation.function]
    response: func.HttpResponse = user_function(request)
    described = {int(status): kind for status, kind in operation.all_answers.items()}
    assert response.status_code in described
    assert response.status_code < 500, response.get_body()
    TypeAdapter(described[response.status_code]).validate_json(response.get_body())

"""The service does what its OpenAPI document says, whatever is sent to it.

schemathesis makes requests from the document that the service serves, good ones and broken ones,
and holds every answer to it: never a 5xx, status, content type, headers and body as documented,
what is valid taken, what is not refused. Each request is sent with a token and without one.

What is not checked, and why:
- a wrong method: the platform answers it with 404, not with 405, before the app sees it;
- `ignored_auth`: the answer without a token is asserted of every request instead;
- whole numbers as `1.0`, integers for JSON Schema but not for the service: `1` is sent instead;
- that an empty query value is refused: the platform drops it, so the app is asked without it;
- that null is refused for what may be absent: it is read as absent, which is not promised;
- that any text is taken as a cursor: only what the service gave out is one;
- that any body is taken to resubmit: it names messages or asks for all, never both or neither.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.checks import CheckFunction, load_all_checks
from schemathesis.config import CoveragePhaseConfig
from schemathesis.generation.hypothesis.builder import (
    HypothesisTestConfig,
    HypothesisTestMode,
    create_test,
)
from schemathesis.schemas import APIOperation, BaseSchema
from schemathesis.specs.openapi import checks

from local.demo.operator import Operator
from local.identity.claims import Issuer, application_claims, user_claims
from local.identity.keys import sign
from local.supervisor.environment import AUDIENCE, TOPICS, host_url, identity_url
from shared.callbacks import Callbacks
from shared.functions.operations import OPERATIONS
from tests.integration.whole_stack import WholeStack

type Json = dict[str, Any]

SEED = 20240101
EXAMPLES = 100
EVERY_ACCESS = {"scopes": ["EXTRACTED_ENTITIES_WRITE"], "roles": ["Administrator"]}
RECEIVING = {"resubmit_dead_letters", "discard_dead_letters"}
"""They open a receiver each time, which is slow: they are asked about unknown subscriptions."""
NAMES_ITS_TOKEN = "report_job_status"
"""Its path says of which job the token must be, so a path that can't be read is refused first."""


@pytest.fixture(scope="module")
def schema(stack: WholeStack) -> Iterator[BaseSchema]:
    """The served document; among its examples are things that exist, so that some are found."""
    document = requests.get(f"{host_url(stack.stack.settings)}/openapi.json", timeout=10).json()
    _add_examples(document, stack)
    schema = schemathesis.openapi.from_dict(document)
    schema.config.phases.update(phases=["examples", "coverage", "fuzzing"])
    schema.config.phases.coverage = CoveragePhaseConfig(unexpected_methods=set())
    schema.config.generation.update(with_security_parameters=False)
    schema.hook("map_body")(lambda _, body: _without_whole_floats(body))
    load_all_checks()
    yield schema
    _resume_all(stack)
    stack.wait_until_drained(
        TOPICS["TOPIC_EXTRACTION_RETRY"], TOPICS["SUBSCRIPTION_EXTRACTION_RETRY"]
    )


def _resume_all(stack: WholeStack) -> None:
    """The extractors that were paused on the way serve the next tests again."""
    administrator = {"Authorization": f"Bearer {_user_token(stack)}"}
    extractors = f"{host_url(stack.stack.settings)}/v1/extractors"
    for each in requests.get(extractors, headers=administrator, timeout=10).json()["extractors"]:
        if "pause" in each:
            address = f"{extractors}/{each['extractorId']}/resume"
            resumed = requests.post(
                address, headers=administrator, json={"reason": "tested"}, timeout=10
            )
            resumed.raise_for_status()


def _add_examples(document: Json, stack: WholeStack) -> None:
    file = stack.submit(f"Invoice {uuid4()}".encode())
    stack.wait_for_end(file.job_id)
    silent = stack.client_with(f"{stack.extraction_url}?behaviour=silent")
    never_ends = stack.submit(f"Invoice {uuid4()}".encode(), client=silent)
    stack.wait_for_job(never_ends.job_id, lambda _: True)
    operator = Operator(stack.stack.settings)
    asked = operator.post("/v1/retry/batch", {"fileIds": [file.document_hash]}).json()
    entity_id = stack.services.documents.add_entity(file.document_hash)

    known = {
        "fileId": str(file.file_id),
        "jobId": str(file.job_id),
        "requestId": asked["requestId"],
        "subscription": TOPICS["SUBSCRIPTION_ACCEPTED_FILE"],
        "cursor": operator.get("/v1/jobs", limit="1").json()["nextCursor"],
    }
    for described in [each for item in document["paths"].values() for each in item.values()]:
        cancels = described["operationId"] == "cancel_job"
        values = known | ({"jobId": str(never_ends.job_id)} if cancels else {})
        for parameter in described.get("parameters", []):
            if parameter["name"] in values and described["operationId"] not in RECEIVING:
                parameter["examples"] = {"known": {"value": values[parameter["name"]]}}
    models = document["components"]["schemas"]
    models["RestartRequest"]["examples"] = [{"extractedEntityIds": [entity_id]}]
    models["RetryBatchRequest"]["examples"] = [{"fileIds": [file.document_hash]}]


def _without_whole_floats(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_whole_floats(each) for name, each in value.items()}
        case list():
            return [_without_whole_floats(each) for each in value]
        case float() if value.is_integer():
            return int(value)
    return value


def test_every_operation_of_the_document_is_asked(schema: BaseSchema) -> None:
    served = {operation.definition.raw["operationId"] for operation in _operations(schema)}
    assert served == {operation.function for operation in OPERATIONS}


@pytest.mark.parametrize("name", [operation.function for operation in OPERATIONS])
def test_an_operation_answers_as_documented(
    stack: WholeStack, schema: BaseSchema, name: str
) -> None:
    operation = _find(schema, name)
    with_token, without_token = Counter[int](), Counter[int]()
    with requests.Session() as session:
        session.trust_env = False

        def ask(case: schemathesis.Case) -> None:
            bearer = {"Authorization": f"Bearer {_token(stack, case)}"}
            with_token[_ask(stack, session, case, bearer)] += 1
            without_token[_ask(stack, session, case, {})] += 1

        _test(operation, ask)()

    assert {404 if name in RECEIVING else 200, 202} & set(with_token), with_token
    if "security" in operation.definition.raw:
        first = {400} if name == NAMES_ITS_TOKEN else set()
        assert set(without_token) - first == {401}
    if operation.definition.raw.keys() & {"parameters", "requestBody"}:
        assert with_token.total() >= EXAMPLES


def _operations(schema: BaseSchema) -> list[APIOperation]:
    return [found.ok() for found in schema.get_all_operations()]


def _find(schema: BaseSchema, name: str) -> APIOperation:
    found = [each for each in _operations(schema) if each.definition.raw["operationId"] == name]
    return found[0]


def _test(operation: APIOperation, ask: Any) -> Any:
    settings = hypothesis.settings(
        max_examples=EXAMPLES,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    config = HypothesisTestConfig(
        project=operation.schema.config,
        modes=list(HypothesisTestMode),
        settings=settings,
        seed=SEED,
    )
    return create_test(operation=operation, test_func=ask, config=config)


def _ask(
    stack: WholeStack, session: requests.Session, case: schemathesis.Case, headers: dict[str, str]
) -> int:
    """The status of the answer, which is held to the document."""
    response = case.call(host_url(stack.stack.settings), session, headers, timeout=10)
    case.validate_response(response, excluded_checks=_not_checked(case))
    return response.status_code


def _not_checked(case: schemathesis.Case) -> list[CheckFunction]:
    excluded = [checks.ignored_auth]
    query = case.query or {}
    body = case.body if isinstance(case.body, dict) else {}
    if "" in query.values() or None in body.values():
        excluded.append(checks.negative_data_rejection)
    if "cursor" in query or case.operation.path.endswith("/resubmit"):
        excluded.append(checks.positive_data_acceptance)
    return excluded


def _token(stack: WholeStack, case: schemathesis.Case) -> str:
    """One that allows all that the operation asks for; a call-back's is of the job in its path."""
    settings = stack.stack.settings
    if case.operation.path.endswith("/status"):
        return _callback_token(stack, case.path_parameters["jobId"])
    if not case.operation.path.startswith("/registration/"):
        return _user_token(stack)
    issuer, roles = Issuer(identity_url(settings)), ["REGISTRATION_READ"]
    claims = application_claims(issuer, audience=AUDIENCE, client_id="service", roles=roles)
    return sign(settings.data, claims)


def _user_token(stack: WholeStack) -> str:
    settings = stack.stack.settings
    claims = user_claims(
        Issuer(identity_url(settings)),
        audience=AUDIENCE,
        client_id="web-console",
        email="operator@example.com",
        **EVERY_ACCESS,
    )
    return sign(settings.data, claims)


def _callback_token(stack: WholeStack, job_id: Any) -> str:
    settings = stack.stack.settings
    keys = stack.stack.parts["host"].part.environment["CALLBACK_KEYS"].split(",")
    callbacks = Callbacks(host_url(settings), keys, timedelta(hours=1), lambda: datetime.now(UTC))
    try:
        return callbacks.for_job(UUID(str(job_id))).token
    except ValueError:
        return callbacks.for_job(uuid4()).token

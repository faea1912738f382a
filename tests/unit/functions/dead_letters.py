"""Dead letters put into a world, and the endpoints that deal with them."""

import json
from datetime import timedelta
from typing import Any

import azure.functions as func

from shared.contracts.incoming import DeadLetter, Incoming, Source
from shared.contracts.outgoing import OutgoingMessage
from shared.functions import dead_letters
from shared.functions.holding import Patience
from tests.unit.functions.fakes import DurableClient
from tests.unit.services.world import World

SHORT = Patience(afterwards=timedelta(milliseconds=20), first_pause=timedelta(milliseconds=5))
FILES, STATUSES = Source.ACCEPTED_FILE.value, Source.JOB_STATUS.value
RETRIES, RESULTS = Source.EXTRACTION_RETRY.value, Source.EXTRACTION_RESULT.value

resubmit_function = dead_letters.resubmit_dead_letters._function.get_user_function().client_function


def request(
    body: Any = None, params: dict[str, str] | None = None, **route: str
) -> func.HttpRequest:
    return func.HttpRequest(
        "POST" if body is not None else "GET",
        "/",
        headers={"authorization": "Bearer good"},
        params=params or {},
        route_params=route,
        body=json.dumps(body).encode() if body is not None else b"",
    )


def answered(response: func.HttpResponse) -> tuple[int, Any]:
    return response.status_code, json.loads(response.get_body())


def call(function: Any, *args: Any, **kwargs: Any) -> tuple[int, Any]:
    return answered(function._function.get_user_function()(request(*args, **kwargs)))


def counts() -> dict[str, int]:
    _, answer = call(dead_letters.list_dead_letters)
    return {each["subscription"]: each["count"] for each in answer["subscriptions"]}


def looked_at(name: str, **params: str) -> Any:
    status, answer = call(dead_letters.get_dead_letters, params=params, subscription=name)
    assert status == 200
    return answer


def explained(name: str) -> tuple[str, str]:
    """Code and text of the one dead letter that there is."""
    [letter] = looked_at(name)["deadLetters"]
    return letter["explanation"]["code"], letter["explanation"]["text"]


async def resubmitted(client: DurableClient, name: str, **body: Any) -> list[tuple[int, str, str]]:
    """Sequence number, outcome and code of every answer."""
    status, answer = answered(await resubmit_function(request(body, subscription=name), client))
    assert status == 200, answer
    return [(each["sequenceNumber"], each["outcome"], each["code"]) for each in answer["results"]]


def discarded(name: str, *numbers: int, reason: str = "of no use") -> list[tuple[int, str]]:
    body = {"sequenceNumbers": list(numbers), "reason": reason}
    status, answer = call(dead_letters.discard_dead_letters, body, subscription=name)
    assert status == 200
    return [(each["sequenceNumber"], each["outcome"]) for each in answer["results"]]


def put(world: World, source: Source, body: Any, **properties: object) -> int:
    """Another dead letter; its sequence number."""
    queue = world.dead[source].letters
    number = queue[-1].sequence_number + 3 if queue else 7
    text = body if isinstance(body, str) else json.dumps(body)
    message = Incoming(text.encode(), properties, world.now)
    letter = DeadLetter(
        number, message, 10, f"m{number}", "Subject", "corr", "MaxDeliveryCountExceeded", "tried"
    )
    queue.append(letter)
    return number


def put_file(world: World, **fields: Any) -> int:
    document = {"FileID": str(world.file.file_id), "Timestamp": world.now.isoformat()}
    return put(world, Source.ACCEPTED_FILE, document | fields)


def put_status(world: World, job_id: object, type_: str) -> int:
    data = {"JobID": str(job_id), "Timestamp": world.now.isoformat()}
    return put(world, Source.JOB_STATUS, {"specversion": "1.0", "type": type_, "data": data})


def put_sent(world: World, source: Source, message: OutgoingMessage | None) -> int:
    """What the service itself sent has become a dead letter."""
    assert message
    return put(world, source, message.body, **message.properties)


def left(world: World, source: Source = Source.ACCEPTED_FILE) -> list[int]:
    return [letter.sequence_number for letter in world.dead[source].letters]


def events(world: World) -> list[Any]:
    """The events of dead letters of the file."""
    found = world.sql.run(lambda tx: tx.events.of_file(world.file.file_id))
    return [event for event in found if event.kind.value == "dead letter"]


def ended(world: World) -> None:
    """An attempt of a request has failed."""
    (job,) = world.retried().jobs
    world.reported(job, "JobFailed")
    world.send_outbox(job.job_id)
    for kept_by in world.sql.run(lambda tx: tx.outbox.overdue(world.now + timedelta(1), 9)):
        world.send_outbox(kept_by)

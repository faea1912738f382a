"""What the durable engine's calls look like to the worker, as recorded."""

import json

import pytest

from local.durable.engine import FunctionFailed
from local.host.durable import WorkerFunctions
from local.host.invoker import Invoker
from local.host.protocol import TypedData
from local.host.worker import CallFailed
from tests.unit.local.host.fakes import FakeWorker, make_function


def functions_on(worker: FakeWorker) -> WorkerFunctions:
    return WorkerFunctions(
        [make_function("orchestrationTrigger", "context", "Extraction")],
        [make_function("activityTrigger", "payload", "call_extractor")],
        Invoker(worker, None, {}),  # type: ignore[arg-type]  # a stand-in worker
    )


def test_names_ignore_case() -> None:
    functions = functions_on(FakeWorker())
    assert functions.has_orchestrator("extraction")
    assert functions.has_activity("Call_Extractor")
    assert not functions.has_activity("Extraction")
    assert functions.names() == ["Extraction"]


async def test_an_activity_gets_the_json_text_of_its_input() -> None:
    worker = FakeWorker(answer=TypedData(json='"done"'))
    result = await functions_on(worker).run_activity("call_extractor", "i-1", '{"a": 1}')
    assert result == '"done"'
    assert worker.calls == [
        (
            "id of call_extractor",
            {"payload": TypedData(string='{"a": 1}')},
            {
                "payload": TypedData(string='{"a": 1}'),
                "data": TypedData(json=json.dumps('{"a": 1}')),
                "a": TypedData(string="1"),
                "instanceId": TypedData(string="i-1"),
            },
        )
    ]


async def test_an_orchestrator_gets_the_document_with_its_history() -> None:
    document = '{"history":[],"instanceId":"i-1","isReplaying":false}'
    worker = FakeWorker(answer=TypedData(json='{"isDone":true}'))
    result = await functions_on(worker).run_orchestrator("Extraction", "i-1", document)
    assert result == '{"isDone":true}'
    ((_, inputs, metadata),) = worker.calls
    assert inputs == {"context": TypedData(string=document)}
    assert metadata["context"] == TypedData(string=document)
    assert metadata["instanceId"] == TypedData(string="i-1")


async def test_a_failure_keeps_the_workers_message_and_stack() -> None:
    worker = FakeWorker(failure=CallFailed("ValueError: boom", "Traceback: where"))
    with pytest.raises(FunctionFailed, match=r"^ValueError: boom$") as failed:
        await functions_on(worker).run_activity("call_extractor", "i-1", "null")
    assert failed.value.stack == "Traceback: where"

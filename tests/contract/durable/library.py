"""Functions that run on Microsoft's durable library, called as the worker calls them."""

import asyncio
import json
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import azure.durable_functions as df
from azure.functions.durable_functions import ActivityTriggerConverter
from azure.functions.meta import Datum

from local.durable.engine import FunctionFailed


class LibraryFunctions:
    """Orchestrators and activities by the names of the Python functions given.

    `documents` holds every document that an orchestrator got, `activity_calls` every activity call.
    """

    def __init__(
        self,
        orchestrators: Iterable[Callable[..., Any]] = (),
        activities: Iterable[Callable[..., Any]] = (),
    ) -> None:
        self._orchestrators = {one.__name__: one for one in orchestrators}
        self._activities = {one.__name__: one for one in activities}
        self.documents: list[dict[str, Any]] = []
        self.activity_calls: list[tuple[str, str]] = []

    def has_orchestrator(self, name: str) -> bool:
        return name.lower() in self._orchestrators

    def has_activity(self, name: str) -> bool:
        return name.lower() in self._activities

    def names(self) -> list[str]:
        return list(self._orchestrators)

    async def run_orchestrator(self, name: str, instance_id: str, document: str) -> str:
        self.documents.append(json.loads(document))
        handle = df.Orchestrator.create(self._orchestrators[name.lower()])
        try:
            return handle(document)
        except Exception as error:
            raise _failed(error) from error

    async def run_activity(self, name: str, instance_id: str, input_json: str) -> str:
        self.activity_calls.append((name, input_json))
        value = ActivityTriggerConverter.decode(Datum(input_json, "string"), trigger_metadata=None)
        try:
            result = self._activities[name.lower()](value)
            if asyncio.iscoroutine(result):
                result = await result
            return str(ActivityTriggerConverter.encode(result, expected_type=None).value)
        except Exception as error:
            raise _failed(error) from error

    def documents_of(self, instance_id: str) -> list[dict[str, Any]]:
        """What the orchestrator of one instance got, call by call."""
        return [one for one in self.documents if one["instanceId"] == instance_id]


def _failed(error: Exception) -> FunctionFailed:
    stack = "".join(traceback.format_tb(error.__traceback__))
    return FunctionFailed(f"{type(error).__name__}: {error}", stack)

"""What the durable engine calls: the app's orchestrators and activities, on the worker."""

import json
from collections.abc import Mapping, Sequence

from local.durable.engine import FunctionFailed
from local.host.functions import Function
from local.host.invoker import Invoker
from local.host.metadata import members
from local.host.protocol import TypedData
from local.host.worker import CallFailed

REASON = "(null)"
"""The real host gives no reason for a durable call."""


class WorkerFunctions:
    """The engine's view of the app; names ignore case."""

    def __init__(
        self, orchestrators: Sequence[Function], activities: Sequence[Function], invoker: Invoker
    ) -> None:
        self._orchestrators = {function.name.lower(): function for function in orchestrators}
        self._activities = {function.name.lower(): function for function in activities}
        self._invoker = invoker

    def has_orchestrator(self, name: str) -> bool:
        """Whether there is an orchestrator of this name that is not disabled."""
        return name.lower() in self._orchestrators

    def has_activity(self, name: str) -> bool:
        """Whether there is an activity of this name that is not disabled."""
        return name.lower() in self._activities

    def names(self) -> list[str]:
        """The orchestrators, as the app spells them."""
        return [function.name for function in self._orchestrators.values()]

    async def run_orchestrator(self, name: str, instance_id: str, document: str) -> str:
        """Give the worker the document with the history; answers the document of actions.

        Raises FunctionFailed.
        """
        function = self._orchestrators[name.lower()]
        context = {function.trigger.name: TypedData(string=document)}
        return await self._call(function, context, {**members(document), **context})

    async def run_activity(self, name: str, instance_id: str, input_json: str) -> str:
        """Call an activity with the JSON text of its input; answers the JSON text of its result.

        Raises FunctionFailed.
        """
        function = self._activities[name.lower()]
        inputs = {function.trigger.name: TypedData(string=input_json)}
        metadata = {
            **members(input_json),
            **inputs,
            "data": TypedData(json=json.dumps(input_json)),
            "instanceId": TypedData(string=instance_id),
        }
        return await self._call(function, inputs, metadata)

    async def _call(
        self,
        function: Function,
        inputs: Mapping[str, TypedData],
        metadata: Mapping[str, TypedData],
    ) -> str:
        try:
            value = await self._invoker.call(function, inputs, metadata, REASON)
        except CallFailed as failure:
            raise FunctionFailed(str(failure), failure.stack) from None
        return (value.json if value else None) or "null"

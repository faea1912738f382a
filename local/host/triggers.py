"""Sorts the app's functions by what starts them, and sets aside those that can't run."""

import logging
from collections.abc import Iterable, Mapping
from pathlib import Path

from local.durable.clock import Clock
from local.host.config import HostConfig
from local.host.errors import HostError
from local.host.functions import Function, FunctionInError
from local.host.invoker import Invoker
from local.host.routes import Route, is_reserved, make_route
from local.host.servicebus import TopicListener, make_call
from local.host.timers import ScheduleStatuses, Timer

logger = logging.getLogger(__name__)


class Triggers:
    """Routes, timers, listeners and durable functions; all of them in load order.

    `functions` can be called, `found` names the disabled ones too.
    """

    def __init__(
        self,
        config: HostConfig,
        settings: Mapping[str, str],
        data: Path,
        invoker: Invoker,
        clock: Clock,
    ) -> None:
        self.functions: dict[str, Function] = {}
        self.found: list[str] = []
        self.routes: list[Route] = []
        self.timers: dict[str, Timer] = {}
        self.listeners: list[TopicListener] = []
        self._config = config
        self._settings = settings
        self._statuses = ScheduleStatuses(data / "timers.json")
        self._invoker = invoker
        self._clock = clock

    def add(self, functions: Iterable[Function]) -> None:
        """Take the functions in load order. One in error, or disabled, is logged and left out.

        Raises HostError for what stops the whole host: a route that can't be read, a Service Bus
        connection that is not set.
        """
        adders = {
            "httpTrigger": self._add_route,
            "timerTrigger": self._add_timer,
            "serviceBusTrigger": self._add_listener,
        }
        for function in functions:
            if function.disabled:
                logger.info("Function 'Functions.%s' is disabled", function.name)
                self.found.append(function.name)
                continue
            try:
                if add := adders.get(function.trigger.type):
                    add(function)
            except FunctionInError as error:
                log_in_error(function.name, error)
            else:
                self.found.append(function.name)
                self.functions[function.name] = function

    def started_by(self, trigger: str) -> list[Function]:
        """The functions with this type of trigger."""
        return [f for f in self.functions.values() if f.trigger.type == trigger]

    def _add_route(self, function: Function) -> None:
        settings = function.trigger.settings
        template = settings.get("route") or function.name
        if is_reserved(template):
            raise FunctionInError("The specified route conflicts with one or more built in routes.")
        prefix = self._config.route_prefix
        route = make_route(function.name, template, settings.get("methods"), prefix)
        for other in self.routes:
            if route.conflicts_with(other):
                raise FunctionInError(
                    f"The route specified conflicts with the route of '{other.function}'."
                )
        self.routes.append(route)

    def _add_timer(self, function: Function) -> None:
        timer = Timer(function, self._statuses, self._invoker, self._clock)
        self.timers[function.name] = timer

    def _add_listener(self, function: Function) -> None:
        connection = self._connection_string(function.trigger.text("connection"))
        call = make_call(function, self._invoker)
        try:
            listener = TopicListener(function, connection, self._config.service_bus, call)
        except ValueError as error:
            logger.error(
                "The listener for function 'Functions.%s' was unable to start: %s",
                function.name,
                error,
            )
        else:
            self.listeners.append(listener)

    def _connection_string(self, name: str) -> str:
        value = self._settings.get(name, "")
        if value:
            return value
        if self._settings.get(f"{name}__fullyQualifiedNamespace"):
            raise HostError(
                f"'{name}__fullyQualifiedNamespace' asks for an identity-based connection, which"
                f" the local host does not have: set '{name}' to a connection string."
            )
        raise HostError(
            f"Microsoft Azure WebJobs SDK ServiceBus connection string '{name}'"
            " is missing or empty."
        )


def log_in_error(name: str, error: FunctionInError) -> None:
    """Say on the console that only this function can't run, and why."""
    logger.error("The '%s' function is in error: %s", name, error)

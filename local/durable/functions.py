"""What the engine needs of the host: the app's functions, and a way to call them."""

from typing import Protocol


class FunctionFailed(Exception):
    """A function call that the worker answered with a failure.

    `str()` is the worker's message, "TypeName: text"; `stack` is where it came from.
    """

    def __init__(self, message: str, stack: str = "") -> None:
        super().__init__(message)
        self.stack = stack


class KnownFunctions(Protocol):
    """Which orchestrators and activities the app has; names are compared without case."""

    def has_orchestrator(self, name: str) -> bool:
        """Whether there is an orchestrator of that name."""
        ...

    def has_activity(self, name: str) -> bool:
        """Whether there is an activity of that name."""
        ...

    def names(self) -> list[str]:
        """The orchestrators, for the text that says that one doesn't exist."""
        ...


class Functions(KnownFunctions, Protocol):
    """The app's functions, ready to be called."""

    async def run_orchestrator(self, name: str, instance_id: str, document: str) -> str:
        """Call an orchestrator with the JSON document that holds its history.

        Answers the JSON document of its actions. Raises FunctionFailed, whose message may hold that
        document too, behind the marker `$OutOfProcData$:`.
        """
        ...

    async def run_activity(self, name: str, instance_id: str, input_json: str) -> str:
        """Call an activity with the JSON text of its input; answers the JSON text of its result.

        Raises FunctionFailed.
        """
        ...

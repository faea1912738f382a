"""The two families of failure that every edge understands, and the one in between.

The edge turns them into answers: a message is dead-lettered, held or given seconds; a request
gets 4xx or 503.
"""


class PermanentError(Exception):
    """What was asked can never be done: it cannot be read, breaks the contract, or is too old.

    `code` is a stable reason code for logs and the dead-letter view; the text is for people.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class TransientError(Exception):
    """A part that we need is out of reach. `part` names it; trying again later is right."""

    def __init__(self, part: str, message: str) -> None:
        super().__init__(f"{part}: {message}")
        self.part = part


class NotFoundError(Exception):
    """What was asked for is not there. `retry_after` seconds when it may be on its way."""

    def __init__(self, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ConflictingStateError(Exception):
    """What was asked does not fit the state that it is in. The text names that state."""


class NotYetError(Exception):
    """What only this one message waits for may be on its way: worth seconds, not minutes."""

"""The `$cbs` node: clients hand in a token for every entity that they use. Any token is taken."""

from proton import Message, int32

ADDRESS = "$cbs"


def take_token(request: Message) -> Message:
    """Answer put-token; the status is a 32-bit int, the .NET client refuses any other type."""
    return Message(properties={"status-code": int32(202), "status-description": "Accepted"})

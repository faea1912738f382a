"""`FileAccepted`: the file service has stored a file that may be extracted."""

from uuid import UUID

from pydantic import AwareDatetime

from shared.contracts.wire import Contract, check_schema_version, read_json_object


class FileAccepted(Contract):
    """`FileID` names the row of `[file].[File]`; `Timestamp` is when the file was accepted."""

    FileID: UUID
    Timestamp: AwareDatetime


def read_file_accepted(body: bytes, schema_version: object = None) -> FileAccepted:
    """Read a message of the `accepted-file` topic. Raises ContractError."""
    check_schema_version(schema_version)
    return FileAccepted.read(read_json_object(body))

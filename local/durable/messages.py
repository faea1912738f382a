"""Events on their way to an instance, and the start of one: rows that the engine picks up."""

import json

from local.durable.database import Database
from local.durable.events import Event, RuntimeStatus, compact


def deliver(database: Database, instance_id: str, execution_id: str | None, event: Event) -> bool:
    """Put an event into an instance's inbox.

    Answers False, and drops the event, when the instance is gone or finished, or when the event is
    for an execution that is not the current one; None stands for whichever is.
    """
    return bool(
        database.execute(
            """
            INSERT INTO inbox (instance_id, execution_id, event)
            SELECT instance_id, ?2, ?3 FROM instances
            WHERE instance_id = ?1 AND NOT finished AND (?2 IS NULL OR execution_id = ?2)
            """,
            instance_id,
            execution_id,
            compact(event),
        )
    )


def create_instance(database: Database, started: Event) -> RuntimeStatus | None:
    """Store a new run that waits for its first episode, in place of a finished one of that id.

    Answers the status of an unfinished one that is in the way; then nothing is changed.
    """
    instance = started["OrchestrationInstance"]
    instance_id = instance["InstanceId"]
    in_the_way = database.value(
        "SELECT status FROM instances WHERE instance_id = ? AND NOT finished", instance_id
    )
    if in_the_way:
        return RuntimeStatus[in_the_way]
    delete_instance(database, instance_id)
    parent = started["ParentInstance"]
    database.execute(
        """
        INSERT INTO instances (instance_id, execution_id, generation, name, status, input,
                               parent_id, created_at, updated_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        instance_id,
        instance["ExecutionId"],
        started["Generation"] or 0,
        started["Name"],
        RuntimeStatus.Pending.name,
        started["Input"],
        parent and parent["OrchestrationInstance"]["InstanceId"],
        started["Timestamp"],
        started["Timestamp"],
    )
    deliver(database, instance_id, instance["ExecutionId"], started)
    return None


def delete_instance(database: Database, instance_id: str) -> None:
    """Forget an instance; activities that are under way or queued still run, unheard."""
    forget_pending(database, instance_id)
    database.execute("DELETE FROM history WHERE instance_id = ?", instance_id)
    database.execute("DELETE FROM instances WHERE instance_id = ?", instance_id)


def forget_pending(database: Database, instance_id: str) -> None:
    """Drop what was still to come for an instance: messages and timers."""
    database.execute("DELETE FROM inbox WHERE instance_id = ?", instance_id)
    database.execute("DELETE FROM timers WHERE instance_id = ?", instance_id)


def read_history(database: Database, instance_id: str) -> list[Event]:
    """The stored events of the current run, in order."""
    rows = database.rows(
        "SELECT event FROM history WHERE instance_id = ? ORDER BY sequence", instance_id
    )
    events: list[Event] = json.loads("[" + ",".join(row["event"] for row in rows) + "]")
    return events

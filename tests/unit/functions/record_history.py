"""Record a job's orchestration: `record_history DURABLE_SQLITE JOBID NAME`; see histories/."""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.unit.functions.orchestration import context, handle

HISTORIES = Path(__file__).with_name("histories")
EPISODE_ENDED = 13
DECIDED = {4, 7, 10, 14, EPISODE_ENDED}
"""Events that the engine writes because of what was decided: not yet there when it is decided."""


def read_history(store: Path, job_id: str) -> list[dict[str, Any]]:
    """All events of an instance, in order."""
    statement = "SELECT event FROM history WHERE instance_id = ? ORDER BY sequence"
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return [json.loads(event) for (event,) in connection.execute(statement, (job_id,))]


def episodes(history: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The history that each call was given: all before it, and what had come in."""
    given = []
    incoming = True
    for position, event in enumerate(history):
        if event["EventType"] in DECIDED:
            if incoming:
                given.append(history[:position])
            incoming = event["EventType"] == EPISODE_ENDED
    return given


def record(store: Path, job_id: str, name: str) -> None:
    """Write `histories/NAME.json`: the documents given, and the answers to them."""
    recorded = []
    for history in episodes(read_history(store, job_id)):
        document = context(job_id, history)
        recorded.append({"given": document, "answered": json.loads(handle(json.dumps(document)))})
    (HISTORIES / f"{name}.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2], sys.argv[3])

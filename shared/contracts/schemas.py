"""JSON Schemas of everything that crosses a boundary, from the models that validate it.

`python -m shared.contracts.schemas docs/messages` writes them; a test holds the files to them.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from shared.contracts.file_accepted import FileAccepted
from shared.contracts.job_status import MESSAGE_TYPES
from shared.contracts.registration import RegisteredExtractor
from shared.contracts.retry import ExtractionRetryEvent, ExtractionRetryResult
from shared.contracts.wire import SCHEMA_VERSION

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def message_schemas() -> dict[str, dict[str, Any]]:
    """A schema for each message and answer, by the name of its file without `.json`."""
    status_messages = {model.__name__: _enveloped(model) for model in MESSAGE_TYPES.values()}
    plain = (FileAccepted, ExtractionRetryEvent, ExtractionRetryResult)
    registered = TypeAdapter(list[RegisteredExtractor]).json_schema()
    return {
        **{model.__name__: _titled(model.__name__, model.model_json_schema()) for model in plain},
        **status_messages,
        "RegisteredExtractors": _titled("RegisteredExtractors", registered),
    }


def write(folder: Path) -> None:
    """Write every schema into a folder, one file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in message_schemas().items():
        (folder / f"{name}.json").write_text(as_text(schema), encoding="utf-8")


def as_text(schema: dict[str, Any]) -> str:
    """A schema as its file holds it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _enveloped(model: type[BaseModel]) -> dict[str, Any]:
    return _titled(
        model.__name__,
        {
            "type": "object",
            "description": f"CloudEvents 1.0 envelope around {model.__name__}",
            "properties": {
                "specversion": {"const": "1.0"},
                "id": {"type": "string", "description": "the message id, `jobId:Status`"},
                "source": {"type": "string"},
                "type": {"const": model.__name__},
                "subject": {"type": "string", "description": "the JobID"},
                "time": {"type": "string", "format": "date-time"},
                "datacontenttype": {"const": "application/json"},
                "schemaversion": {"type": "string", "default": SCHEMA_VERSION},
                "data": model.model_json_schema(),
            },
            "required": ["specversion", "id", "source", "type", "data"],
        },
    )


def _titled(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"$schema": DIALECT, **schema, "title": name}


if __name__ == "__main__":
    write(Path(sys.argv[1]))

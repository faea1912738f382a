"""The OpenAPI 3.1 document, from the table of operations and the models that validate.

`python -m shared.functions.openapi_document docs/openapi.json` writes it; a test holds the file
to it.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from shared.auth import RULES, Access
from shared.contracts.http_answers import ErrorAnswer
from shared.contracts.http_examples import EXAMPLES
from shared.contracts.schemas import as_text
from shared.functions.operations import OPERATIONS, Operation

Json = dict[str, Any]
Use = tuple[str, str]
"""Where a schema is used: an operation's function, and `body`, `path`, `query` or a status."""

_INTRODUCTION = """\
Restarts extractions that failed, and tells what became of them.

Errors are always `error` and `message`, with `details` where single fields are wrong. Every answer
carries `x-request-id`; what is sent in this header and in `traceparent` is taken over. Bodies are
JSON in UTF-8, with or without a byte-order mark, of 64 KB at most, sent with a Content-Length; `1`
is an integer, `1.0` is none. Unknown fields are ignored."""

_HEADERS: dict[str, Json] = {
    "x-request-id": {
        "description": "Names this request in the log",
        "schema": {"type": "string"},
    },
    "Retry-After": {"description": "Seconds", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"schema": {"const": "Bearer"}},
}
_MORE_HEADERS = {
    HTTPStatus.UNAUTHORIZED: ["WWW-Authenticate"],
    HTTPStatus.NOT_FOUND: ["Retry-After"],
    HTTPStatus.SERVICE_UNAVAILABLE: ["Retry-After"],
}


@cache
def document() -> Json:
    """The document. Its paths, methods and access are those of `OPERATIONS`."""
    schemas = _collect()
    paths: Json = {}
    for operation in OPERATIONS:
        described = _operation(operation, schemas)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {"title": "Extractor Service", "version": "1.0.0", "description": _INTRODUCTION},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas.shared,
            "responses": {
                _name(status): _response(status, "application/json", _reference(ErrorAnswer))
                for status in sorted(_plain_errors())
            },
            "headers": _HEADERS,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
            },
        },
    }


def write(path: Path) -> None:
    """Write the document into a file."""
    path.write_text(as_text(document()), encoding="utf-8")


class _Generator(GenerateJsonSchema):
    """Optional means absent, never null; and names need no titles."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        if schema.get("default") is None:
            described.pop("default", None)
        return described

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


@dataclass(frozen=True)
class _Schemas:
    """Every use's schema, the fields of every parameter model, and what they share."""

    of: dict[Use, Json]
    shared: Json
    parameters: Json

    def fields(self, use: Use) -> Json:
        """A parameter model's own description, looked up by its reference."""
        name = self.of[use]["$ref"].rpartition("/")[2]
        described: Json = self.parameters[name]
        return described


def _collect() -> _Schemas:
    uses = [use for operation in OPERATIONS for use in _uses(operation)]
    by_use, rest = TypeAdapter.json_schemas(
        [(use, mode, TypeAdapter(kind)) for use, mode, kind in uses],
        ref_template="#/components/schemas/{model}",
        schema_generator=_Generator,
    )
    named: Json = dict(sorted(rest["$defs"].items()))
    for model, example in EXAMPLES.items():
        named[model.__name__]["examples"] = [example]
    parameters = {kind.__name__ for (_, where), _, kind in uses if where in {"path", "query"}}
    return _Schemas(
        of={use: schema for (use, _), schema in by_use.items()},
        shared={name: schema for name, schema in named.items() if name not in parameters},
        parameters={name: named[name] for name in parameters},
    )


def _uses(operation: Operation) -> Iterator[tuple[Use, JsonSchemaMode, Any]]:
    received = {
        "path": operation.path_parameters,
        "query": operation.query,
        "body": operation.body,
    }
    for where, kind in received.items():
        if kind:
            yield (operation.function, where), "validation", kind
    for status, kind in operation.all_answers.items():
        yield (operation.function, str(int(status))), "serialization", kind


def _operation(operation: Operation, schemas: _Schemas) -> Json:
    described: Json = {
        "operationId": operation.function,
        "tags": [operation.tag],
        "summary": operation.summary,
    }
    if operation.access:
        described["description"] = _who(operation.access)
        described["security"] = [{"bearer": _needed(operation.access)}]
    if parameters := list(_parameters(operation, schemas)):
        described["parameters"] = parameters
    if operation.body:
        described["requestBody"] = {
            "required": not operation.body.may_be_absent,
            "content": {"application/json": {"schema": schemas.of[operation.function, "body"]}},
        }
    described["responses"] = {
        str(int(status)): _answer(operation, status, schemas) for status in operation.all_answers
    }
    return described


def _who(access: Access | str) -> str:
    if isinstance(access, str):
        return f"For applications with the role {access}."
    rule = RULES[access]
    return (
        f"For users with the scope {_any(rule.scopes)} and the role {_any(rule.user_roles)},"
        f" and for applications with the role {_any(rule.own_roles)}."
    )


def _needed(access: Access | str) -> list[str]:
    return [access] if isinstance(access, str) else [RULES[access].scopes[0]]


def _any(names: tuple[str, ...]) -> str:
    return " or ".join(names)


def _parameters(operation: Operation, schemas: _Schemas) -> Iterator[Json]:
    for where, model in (("path", operation.path_parameters), ("query", operation.query)):
        fields = schemas.fields((operation.function, where)) if model else {"properties": {}}
        required = fields.get("required", [])
        for name, schema in fields["properties"].items():
            yield {"name": name, "in": where, "required": name in required, "schema": schema}
    for name, text in operation.headers.items():
        yield {"name": name, "in": "header", "description": text, "schema": {"type": "string"}}


def _answer(operation: Operation, status: HTTPStatus, schemas: _Schemas) -> Json:
    if operation.all_answers[status] is ErrorAnswer:
        return {"$ref": f"#/components/responses/{_name(status)}"}
    media_type = operation.media_type if status < HTTPStatus.BAD_REQUEST else "application/json"
    return _response(status, media_type, schemas.of[operation.function, str(int(status))])


def _plain_errors() -> set[HTTPStatus]:
    answers = [answer for operation in OPERATIONS for answer in operation.all_answers.items()]
    return {status for status, kind in answers if kind is ErrorAnswer}


def _response(status: HTTPStatus, media_type: str, schema: Json) -> Json:
    headers = ["x-request-id", *_MORE_HEADERS.get(status, [])]
    return {
        "description": status.phrase,
        "headers": {name: {"$ref": f"#/components/headers/{name}"} for name in headers},
        "content": {media_type: {"schema": schema}},
    }


def _reference(model: type[BaseModel]) -> Json:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _name(status: HTTPStatus) -> str:
    return "".join(filter(str.isalpha, status.phrase))


if __name__ == "__main__":
    write(Path(sys.argv[1]))

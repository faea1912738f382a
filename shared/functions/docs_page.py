"""The OpenAPI document as one page for people: no script, no asset from anywhere else."""

import base64
import hashlib
import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

Json = dict[str, Any]

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; }
h2 { margin-top: 3rem; border-bottom: 1px solid; }
h3 { margin: 2.5rem 0 .5rem; font-size: 1.1rem; }
h3 code { font-size: 1.1rem; }
h4 { margin: 1rem 0 .25rem; font-size: 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem 1rem .25rem 0;
  border-bottom: 1px solid #8885; }
pre { overflow-x: auto; padding: .75rem 1rem; background: #8882; border-radius: .25rem; }
.method { padding: .1rem .5rem; border: 1px solid; border-radius: .25rem; font-weight: bold; }
"""

POLICY = "; ".join(
    [
        "default-src 'none'",
        f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
"""The Content-Security-Policy of the page: its own style and nothing else."""


def page(document: Json) -> str:
    """The page, in HTML: the operations by their tags, then the schemas that they share."""
    info = document["info"]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(info['title'])}</title><style>{STYLE}</style></head><body>"
        f'<h1>{escape(info["title"])}</h1><p><a href="/openapi.json">openapi.json</a></p>'
        + _paragraphs(info["description"])
        + "".join(_tag(tag, operations) for tag, operations in _by_tag(document).items())
        + "<h2>Schemas</h2>"
        + "".join(_schema(*item) for item in document["components"]["schemas"].items())
        + "</body></html>\n"
    )


def _by_tag(document: Json) -> dict[str, list[str]]:
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            rendered = _operation(path, method, operation, document)
            by_tag.setdefault(operation["tags"][0], []).append(rendered)
    return by_tag


def _tag(tag: str, operations: Iterable[str]) -> str:
    return f"<h2>{escape(tag)}</h2>{''.join(operations)}"


def _operation(path: str, method: str, operation: Json, document: Json) -> str:
    who = operation.get("description", "For anyone, without a token.")
    return (
        f'<section id="{operation["operationId"]}"><h3>'
        f'<span class="method">{method.upper()}</span> <code>{escape(path)}</code></h3>'
        f"<p><strong>{escape(operation['summary'])}.</strong> {escape(who)}</p>"
        + _parameters(operation.get("parameters", []))
        + _body(operation.get("requestBody"), document["components"])
        + _answers(operation["responses"], document["components"])
        + "</section>"
    )


def _parameters(parameters: list[Json]) -> str:
    rows = (
        [
            f"<code>{escape(each['name'])}</code>",
            each["in"] + (", required" if each.get("required") else ""),
            _type(each["schema"]),
            escape(each.get("description") or each["schema"].get("description", "")),
        ]
        for each in parameters
    )
    return f"<h4>Parameters</h4>{_table(rows)}" if parameters else ""


def _body(body: Json | None, components: Json) -> str:
    if body is None:
        return ""
    needed = "required" if body["required"] else "may be left out"
    return f"<h4>Body</h4><p>{_content(body)}, {needed}</p>{_examples(body, components)}"


def _answers(responses: Json, components: Json) -> str:
    resolved = {
        status: components["responses"][_last(response["$ref"])] if "$ref" in response else response
        for status, response in responses.items()
    }
    rows = (
        [f"{status} {escape(response['description'])}", _content(response)]
        for status, response in resolved.items()
    )
    good = next(iter(resolved.values()))
    return f"<h4>Answers</h4>{_table(rows)}{_examples(good, components)}"


def _content(described: Json) -> str:
    ((media_type, media),) = described["content"].items()
    return f"{_type(media['schema'])} <small>{escape(media_type)}</small>"


def _examples(described: Json, components: Json) -> str:
    (media,) = described["content"].values()
    name = _last(media["schema"].get("$ref", ""))
    examples = components["schemas"].get(name, {}).get("examples", [])
    return "".join(
        f"<pre>{escape(json.dumps(example, indent=2, ensure_ascii=False))}</pre>"
        for example in examples
    )


def _schema(name: str, schema: Json) -> str:
    required = schema.get("required", [])
    rows = (
        [
            f"<code>{escape(field)}</code>",
            "required" if field in required else "",
            _type(described),
            escape(described.get("description", "")),
        ]
        for field, described in schema.get("properties", {}).items()
    )
    fields = _table(rows) if "properties" in schema else f"<p>{_type(schema)}</p>"
    return (
        f'<section id="{escape(name)}"><h3><code>{escape(name)}</code></h3>'
        f"{_paragraphs(schema.get('description', ''))}{fields}</section>"
    )


def _type(schema: Json) -> str:
    """A schema in a few words, with links to those that have names."""
    if reference := schema.get("$ref"):
        name = escape(_last(reference))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "items" in schema:
        return f"{_range(schema, 'Items') or 'array'} of {_type(schema['items'])}"
    if "enum" in schema:
        return escape(", ".join(map(str, schema["enum"])))
    if "const" in schema:
        return f"<code>{escape(str(schema['const']))}</code>"
    return _range(schema, "Length") or escape(schema.get("format") or schema.get("type", "any"))


def _range(schema: Json, unit: str) -> str:
    """The type with its bounds, as in `array (1 to 100)`; nothing when it has none."""
    low = schema.get(f"min{unit}", schema.get("minimum"))
    high = schema.get(f"max{unit}", schema.get("maximum"))
    if low is None and high is None:
        return ""
    start = "" if low is None else f"{low} "
    bounds = f"from {low}" if high is None else f"{start}to {high}"
    return f"{schema['type']} ({bounds})"


def _table(rows: Iterable[list[str]]) -> str:
    cells = ("".join(f"<td>{cell}</td>" for cell in row) for row in rows)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def _paragraphs(text: str) -> str:
    paragraphs = (_code(escape(part)) for part in text.split("\n\n") if part)
    return "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def _code(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", text)


def _last(reference: str) -> str:
    return reference.rpartition("/")[2]

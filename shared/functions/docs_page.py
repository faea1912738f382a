"""The OpenAPI document in Swagger UI, as one page that loads nothing from anywhere else.

`swagger_ui/` holds the released files of Swagger UI, unchanged; package.json says their version.
"""

from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

VIEWER = Path(__file__).with_name("swagger_ui")

START = 'SwaggerUIBundle({url: "/openapi.json", dom_id: "#viewer", deepLinking: true});'


@dataclass(frozen=True)
class Page:
    """HTML, and the Content-Security-Policy under which it works."""

    html: str
    policy: str


def page() -> Page:
    """The page; its policy lets nothing run but its own scripts, and nothing reach but this app."""
    style = (VIEWER / "swagger-ui.css").read_text(encoding="utf-8")
    # "<!--" within a script would change where HTML sees its end; "<\!--" means the same to it.
    viewer = (VIEWER / "swagger-ui-bundle.js").read_text(encoding="utf-8").replace("<!--", "<\\!--")
    html = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Extractor Service</title><style>{style}</style></head>"
        '<body><div id="viewer"><a href="/openapi.json">openapi.json</a></div>'
        f"<script>{viewer}</script><script>{START}</script></body></html>\n"
    )
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(viewer)} {_hash(START)};"
        " connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'"
    )
    return Page(html, policy)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

"""HTTP: the description of the HTTP endpoints, for programs and for people."""

from functools import cache

import azure.functions as func

from shared.functions import docs_page
from shared.functions.http import answer, endpoint
from shared.functions.openapi_document import document

bp = func.Blueprint()


@bp.function_name("get_openapi")
@bp.route("openapi.json", methods=["GET"])
@endpoint
def get_openapi(req: func.HttpRequest) -> func.HttpResponse:
    """200 with the OpenAPI document, to anyone."""
    return answer(document())


@bp.function_name("get_docs")
@bp.route("docs", methods=["GET"])
@endpoint
def get_docs(req: func.HttpRequest) -> func.HttpResponse:
    """200 with the same as a page, to anyone."""
    page = _page()
    headers = {"Content-Security-Policy": page.policy, "X-Content-Type-Options": "nosniff"}
    return func.HttpResponse(page.html, headers=headers, mimetype="text/html")


@cache
def _page() -> docs_page.Page:
    return docs_page.page()

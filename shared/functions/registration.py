"""HTTP: the registration service's list of a client's active extractors."""

import azure.functions as func

from shared.contracts.http import ClientPath
from shared.contracts.registration import write_extractors
from shared.functions.http import answer, endpoint
from shared.wiring import app

bp = func.Blueprint()

ROLE = "REGISTRATION_READ"


@bp.function_name("get_extractors")
@bp.route("registration/{clientAppId}/extractors", methods=["GET"])
@endpoint
def get_extractors(req: func.HttpRequest) -> func.HttpResponse:
    """200 with a possibly empty array of the client's active extractors. Service tokens only."""
    app().authorize_service(req.headers.get("Authorization"), ROLE)
    client = ClientPath.read(req.route_params).clientAppId
    return answer(write_extractors(app().active_extractors(client)))

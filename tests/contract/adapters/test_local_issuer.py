"""The service's own token, from the local issuer, as the service itself verifies it."""

from pathlib import Path

from local.identity.clients import Client, clients_path, write_clients
from shared.adapters.service_tokens import ClientCredentialsTokens
from shared.auth import TokenVerifier, require_service
from tests.contract.parts import running_part

AUDIENCE = "api://registration"


def test_a_token_by_client_credentials_passes_the_verifier_with_its_role(tmp_path: Path) -> None:
    client = Client("extractor-service", "s%cret: +1", ("REGISTRATION_READ",))
    write_clients(clients_path(tmp_path), [client])
    with running_part("local.identity", "--port", 0, "--data", tmp_path) as issuer:
        tokens = ClientCredentialsTokens(
            f"{issuer.url}/local/oauth2/v2.0/token",
            client.client_id,
            client.secret,
            f"{AUDIENCE}/.default",
        )
        verifier = TokenVerifier(
            [(f"{issuer.url}/local/v2.0", AUDIENCE)],
            f"{issuer.url}/local/discovery/v2.0/keys",
            tenant="local",
        )
        caller = verifier.verify(tokens())
    assert caller.client_application_id == "extractor-service"
    require_service(caller, "REGISTRATION_READ")

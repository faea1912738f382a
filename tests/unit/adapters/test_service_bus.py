"""Clients of Service Bus, of which none connects by being made."""

from azure.core.credentials import AccessToken

from shared.adapters.service_bus import client_from_connection_string, client_with_identity

EMULATOR = (
    "Endpoint=sb://localhost:5677;SharedAccessKeyName=any;SharedAccessKey=any;"
    "UseDevelopmentEmulator=true;"
)


class FakeCredential:
    def get_token(self, *scopes: str, **_: object) -> AccessToken:
        raise AssertionError("asked for a token too early")


def test_a_connection_string_keeps_the_port_of_the_emulator() -> None:
    with client_from_connection_string(EMULATOR) as client:
        assert client.fully_qualified_namespace == "localhost:5677"


def test_an_identity_connects_to_a_namespace() -> None:
    with client_with_identity("name.servicebus.windows.net", FakeCredential()) as client:
        assert client.fully_qualified_namespace == "name.servicebus.windows.net"


def test_the_sdk_s_own_retries_are_off_so_that_only_one_layer_retries() -> None:
    with client_from_connection_string(EMULATOR) as client:
        assert client._config.retry_total == 0
    with client_with_identity("name.servicebus.windows.net", FakeCredential()) as client:
        assert client._config.retry_total == 0

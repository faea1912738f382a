"""Authorization headers, roles, and what a verifier refuses to be built with."""

from datetime import timedelta

import pytest

from shared.auth import (
    Access,
    Caller,
    ForbiddenError,
    TokenVerifier,
    UnauthorizedError,
    bearer_token,
    require,
    require_service,
)

ISSUER = "https://issuer.example/v2.0"
AUDIENCE = "api://extractor-service"
KEYS_URL = "https://issuer.example/keys"


@pytest.mark.parametrize(
    "header", ["Bearer a.b-c_d.e", "bearer a.b-c_d.e", "BEARER   a.b-c_d.e", "Bearer a.b-c_d.e "]
)
def test_the_token_of_a_bearer_header_is_taken(header: str) -> None:
    assert bearer_token(header) == "a.b-c_d.e"


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "a.b.c",
        "Basic dXNlcjpzZWNyZXQ=",
        "Bearer a.b.c d.e.f",
        "Bearer a.b.c,Bearer d.e.f",
        "Bearer a.b.c, Bearer d.e.f",
        "Bearertoken",
        "Bearer tök.en",
        "Bearer a.b.c\n",
        " Bearer a.b.c",
    ],
)
def test_any_other_header_is_unauthorized(header: str | None) -> None:
    with pytest.raises(UnauthorizedError, match="A valid bearer token is required"):
        bearer_token(header)


R, W = "EXTRACTED_ENTITIES_READ", "EXTRACTED_ENTITIES_WRITE"
ADMINISTRATOR, USER = "Administrator", "User"
NEITHER: tuple[str, ...] = ()
APPLICATION = None

ALLOWED = [
    # scopes of the token, its roles, what it may do
    ((W,), (USER,), {Access.WRITE, Access.READ}),
    ((W,), (ADMINISTRATOR,), {Access.WRITE, Access.READ, Access.ADMINISTRATOR}),
    ((W, R), (USER, "Guest"), {Access.WRITE, Access.READ}),
    ((R,), (USER,), {Access.READ}),
    ((R,), (ADMINISTRATOR,), {Access.READ}),
    ((W,), NEITHER, set()),
    ((W,), (W,), set()),
    ((W,), ("Guest",), set()),
    (NEITHER, (ADMINISTRATOR, USER), set()),
    (NEITHER, (W, R, ADMINISTRATOR), set()),
    (("openid",), (USER,), set()),
    (NEITHER, NEITHER, set()),
    (APPLICATION, (W,), {Access.WRITE, Access.READ}),
    (APPLICATION, (R,), {Access.READ}),
    (APPLICATION, (ADMINISTRATOR,), {Access.ADMINISTRATOR}),
    (APPLICATION, (W, ADMINISTRATOR), {Access.WRITE, Access.READ, Access.ADMINISTRATOR}),
    (APPLICATION, (USER,), set()),
    (APPLICATION, ("REGISTRATION_READ",), set()),
    (APPLICATION, NEITHER, set()),
    # whole values only
    (("EXTRACTED_ENTITIES_WRITEX",), (USER,), set()),
    (("EXTRACTED_ENTITIES",), (USER,), set()),
    ((W.lower(),), (USER,), set()),
    ((f"{W} {R}",), (USER,), set()),
    ((W,), ("Users",), set()),
    ((W,), ("user",), set()),
    ((W,), (f"{ADMINISTRATOR} {USER}",), set()),
    (APPLICATION, (f"{W}_ALL",), set()),
    (APPLICATION, ("Admin",), set()),
]


@pytest.mark.parametrize(("scopes", "roles", "allowed"), ALLOWED)
@pytest.mark.parametrize("access", Access)
def test_one_table_decides(
    scopes: tuple[str, ...] | None, roles: tuple[str, ...], allowed: set[Access], access: Access
) -> None:
    caller = Caller(scopes=scopes, roles=roles)
    if access in allowed:
        require(caller, access)
    else:
        with pytest.raises(ForbiddenError):
            require(caller, access)


@pytest.mark.parametrize(
    ("scopes", "roles", "access", "missing"),
    [
        ((), (USER,), Access.WRITE, f"the scope {W}"),
        ((), (USER,), Access.READ, f"the scope {R} or {W}"),
        ((W,), (), Access.READ, "the role Administrator or User"),
        ((R,), (USER,), Access.ADMINISTRATOR, f"the scope {W} and the role Administrator"),
        (APPLICATION, (R,), Access.WRITE, f"the role {W}"),
        (APPLICATION, (W,), Access.ADMINISTRATOR, "the role Administrator"),
    ],
)
def test_a_refusal_names_what_is_missing(
    scopes: tuple[str, ...] | None, roles: tuple[str, ...], access: Access, missing: str
) -> None:
    with pytest.raises(ForbiddenError) as refused:
        require(Caller(scopes=scopes, roles=roles), access)
    assert str(refused.value) == f"The token lacks {missing}"


def test_an_application_with_the_role_may_use_a_service_endpoint() -> None:
    require_service(Caller(roles=("OTHER", "REGISTRATION_READ")), "REGISTRATION_READ")


@pytest.mark.parametrize(
    "roles", [(), ("REGISTRATION",), ("REGISTRATION_READ_ALL",), ("registration_read",), ("",)]
)
def test_only_the_whole_role_counts_and_the_answer_names_what_is_missing(
    roles: tuple[str, ...],
) -> None:
    with pytest.raises(ForbiddenError, match="lacks the role REGISTRATION_READ"):
        require_service(Caller(roles=roles), "REGISTRATION_READ")


def test_a_user_may_not_use_a_service_endpoint_whatever_the_roles() -> None:
    with pytest.raises(ForbiddenError, match="only applications"):
        require_service(Caller(roles=("REGISTRATION_READ",), scopes=()), "REGISTRATION_READ")


@pytest.mark.parametrize("value", ["", "  "])
def test_a_verifier_with_nothing_to_check_against_is_not_built(value: str) -> None:
    with pytest.raises(ValueError, match="issuer must not be blank"):
        TokenVerifier([(ISSUER, AUDIENCE), (value, AUDIENCE)], KEYS_URL)
    with pytest.raises(ValueError, match="audience must not be blank"):
        TokenVerifier([(ISSUER, value)], KEYS_URL)
    with pytest.raises(ValueError, match="issuer must not be blank"):
        TokenVerifier([], KEYS_URL)


def test_a_blank_tenant_is_refused_because_it_would_match_tokens_without_one() -> None:
    with pytest.raises(ValueError, match="tenant must not be blank"):
        TokenVerifier([(ISSUER, AUDIENCE)], KEYS_URL, tenant=" ")


def test_building_a_verifier_fetches_nothing() -> None:
    TokenVerifier([(ISSUER, AUDIENCE)], "http://127.0.0.1:9/keys", leeway=timedelta(0))

"""Print a token signed with the local key, for trying the service by hand.

`python -m local.identity.token --data DIR [--scope S ...] [--role R ...] [--audience A]`

With a scope it is a person's token, without one an application's. Who may read the data folder may
sign; over the network nobody gets a token without a client's secret.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from local.identity.claims import DEFAULT_TENANT, Issuer, application_claims, user_claims
from local.identity.keys import sign
from local.identity.server import url_path


def main(arguments: Sequence[str] | None = None) -> None:
    """Sign what the command line asks for, in the name of the issuer of that data folder."""
    parser = argparse.ArgumentParser(prog="python -m local.identity.token")
    parser.add_argument("--data", type=Path, required=True, help="the issuer's data folder")
    parser.add_argument("--role", action="append", default=[], help="may be given several times")
    parser.add_argument("--scope", action="append", default=[], help="may be given several times")
    parser.add_argument("--audience", default="api://extractor-service")
    parser.add_argument("--minutes", type=int, default=60, help="how long the token is valid")
    parser.add_argument(
        "--user", default="operator@example.com", help="the person's e-mail address"
    )
    parser.add_argument("--client", default="local-console", help="the application's id")
    parser.add_argument("--tenant", default=DEFAULT_TENANT)
    options = parser.parse_args(arguments)
    if not url_path(options.data).exists():
        parser.error(f"no issuer has been started with --data {options.data}")
    sys.stdout.write(sign(options.data, _claims(options)) + "\n")


def _claims(options: argparse.Namespace) -> dict[str, Any]:
    issuer = Issuer(url_path(options.data).read_text(), options.tenant)
    common = {
        "audience": options.audience,
        "client_id": options.client,
        "roles": options.role,
        "seconds": options.minutes * 60,
    }
    if options.scope:
        return user_claims(issuer, email=options.user, scopes=options.scope, **common)
    return application_claims(issuer, **common)


if __name__ == "__main__":
    main()

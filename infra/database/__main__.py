"""`DATABASE_URL=… python -m infra.database reach | check | revision | roles | stand-ins`.

- `reach`: logs in; 3 and this machine's address on standard output where a firewall stops it
- `check`: `reach`, and the tables of other services are there
- `revision`: the revision of the schema
- `roles --app NAME --migration NAME`: runs roles.sql
- `stand-ins`: makes the tables of other services that are missing, for an environment without them
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from azure.identity import DefaultAzureCredential
from sqlalchemy import Engine, text
from sqlalchemy.exc import SQLAlchemyError

from infra.database import reach
from infra.database.script import batches
from migrations.local_tables import create_read_only_tables
from shared.adapters.database import create_engine
from shared.adapters.database.sql_server import TOKEN_SCOPE, DriverMissingError
from shared.adapters.database.tables import EXTRACTOR, metadata

ROLES = Path(__file__).with_name("roles.sql")
FIREWALL = 3


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when it went well; 1 with the reason; 3 when a firewall is in the way."""
    options = _options(arguments)
    try:
        engine = create_engine(options.url, 1, _token)
    except (DriverMissingError, ValueError) as error:
        return _complain(str(error))
    try:
        reach.look(engine)
        DOERS[options.what](engine, options)
    except reach.StoppedByFirewallError as error:
        sys.stdout.write(f"{error.address}\n")
        return FIREWALL
    except (reach.UnreachableError, ValueError) as error:
        return _complain(str(error))
    except SQLAlchemyError as error:
        return _complain(f"the database refuses: {getattr(error, 'orig', None) or error}")
    finally:
        engine.dispose()
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m infra.database")
    parser.add_argument("what", choices=DOERS)
    parser.add_argument("--app", default="", help="name of the app's identity")
    parser.add_argument("--migration", default="", help="name of the migration identity")
    options = parser.parse_args(arguments)
    options.url = os.environ.get("DATABASE_URL") or parser.error("set DATABASE_URL")
    return options


def _token() -> str:
    return DefaultAzureCredential().get_token(TOKEN_SCOPE).token


def _reach(_engine: Engine, _options: argparse.Namespace) -> None:
    """`main` has logged in already."""


def _check(engine: Engine, _options: argparse.Namespace) -> None:
    missing = reach.missing_tables(engine)
    if missing:
        raise reach.UnreachableError(
            f"tables of other services are missing: {', '.join(missing)}. Deploy those services"
            " first or name their database in `existing` of the parameter file; in an environment"
            " without them: python -m infra.database stand-ins"
        )


def _revision(engine: Engine, _options: argparse.Namespace) -> None:
    sys.stdout.write(f"{reach.revision(engine)}\n")


def _roles(engine: Engine, options: argparse.Namespace) -> None:
    _check(engine, options)
    names = {"AppIdentity": options.app, "MigrationIdentity": options.migration}
    script = batches(ROLES.read_text(encoding="utf-8"), names)
    with closing(engine.raw_connection()) as connection:
        driver: Any = connection.driver_connection
        driver.autocommit = True  # each batch stands by itself, as with sqlcmd
        try:
            _run(driver.cursor(), script)
        except engine.dialect.loaded_dbapi.Error as error:
            raise reach.UnreachableError(f"the database refuses: {error}") from None


def _run(cursor: Any, script: Sequence[str]) -> None:
    for batch in script:
        cursor.execute(batch)
        while cursor.nextset():  # an error of a later statement comes with its result
            pass


def _stand_ins(engine: Engine, _options: argparse.Namespace) -> None:
    if engine.dialect.name == "mssql":
        schemas = {table.schema for table in metadata.sorted_tables} - {EXTRACTOR, None}
        with engine.begin() as connection:
            for name in sorted(filter(None, schemas)):
                make = f"IF SCHEMA_ID(N'{name}') IS NULL EXEC(N'CREATE SCHEMA [{name}]')"
                connection.execute(text(make))
    create_read_only_tables(engine)


def _complain(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 1


DOERS: dict[str, Callable[[Engine, argparse.Namespace], None]] = {
    "reach": _reach,
    "check": _check,
    "revision": _revision,
    "roles": _roles,
    "stand-ins": _stand_ins,
}

if __name__ == "__main__":
    sys.exit(main())

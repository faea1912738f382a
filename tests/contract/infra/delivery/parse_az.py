"""Parses commands with the real Azure CLI, running none: JSON lines in, its complaints out.

Runs in the environment of `infra/requirements-azure.txt`, without the rest of this repository.
"""

import contextlib
import io
import json
import sys

from azure.cli.core import get_default_cli

cli = get_default_cli()


def complaint(words: list[str]) -> str:
    """What the CLI has against a command; empty when it would run it."""
    invocation = cli.invocation_cls(
        cli_ctx=cli,
        parser_cls=cli.parser_cls,
        commands_loader_cls=cli.commands_loader_cls,
        help_cls=cli.help_cls,
    )
    cli.invocation = invocation
    loader = invocation.commands_loader
    loader.load_command_table(words)
    command = invocation._rudimentary_get_command(words)
    invocation.data["command_string"] = command
    loader.load_arguments(command)
    invocation.parser.cli_ctx = cli
    invocation.parser.load_command_table(loader)
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            invocation.parser.parse_args(words)
    except SystemExit:
        return said.getvalue().strip().splitlines()[0]
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


for line in sys.stdin:
    sys.stdout.write(json.dumps(complaint(json.loads(line))) + "\n")

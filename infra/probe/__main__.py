"""`python -m infra.probe`: 0 when one file went through, 1 when not, 2 for bad settings."""

import logging
import os
import sys

from infra.probe.api import Api
from infra.probe.connections import Connections
from infra.probe.report import ProbeFailedError
from infra.probe.run import run
from infra.probe.settings import ProbeSettingsError, read_probe_settings


def main() -> int:
    """Read the settings, run the steps, close everything."""
    logging.getLogger("azure").setLevel(logging.CRITICAL)  # what fails is said in our words
    try:
        settings = read_probe_settings(os.environ)
    except ProbeSettingsError as error:
        sys.stderr.write(f"The probe cannot start: {error}\n")
        return 2
    connections = Connections(settings)
    api = Api(settings.URL, connections.api_token)
    sys.stdout.write(f"Probing {settings.URL}\n")
    try:
        run(settings, connections, api)
    except ProbeFailedError:
        sys.stdout.write("The probe failed: docs/operations/releases.md says what to look at\n")
        return 1
    finally:
        api.close()
        connections.close()
    sys.stdout.write("One file went through: the service works\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m local.supervisor.reset`: clear the data folder."""

import sys

from local.settings import read_local_settings
from local.supervisor.data import DataFolderError, clear
from local.supervisor.lock import AlreadyRunningError


def main() -> int:
    """Delete the data folder of `LOCAL_DATA`; 1 with a reason when it may not be deleted."""
    try:
        settings = read_local_settings()
        deleted = clear(settings)
    except (DataFolderError, AlreadyRunningError, ValueError) as error:
        print(f"reset refused: {error}", file=sys.stderr)
        return 1
    print(f"{settings.data} {'is cleared' if deleted else 'does not exist: nothing to clear'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

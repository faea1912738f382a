"""The laptop's settings, as the commands read them."""

from local.settings import LocalSettings, read_local_settings


def settings_for(command: str) -> LocalSettings:
    """The `LOCAL_*` settings. Raises SystemExit in the command's name when one is wrong."""
    try:
        return read_local_settings()
    except ValueError as error:
        raise SystemExit(f"{command}: {error}") from None

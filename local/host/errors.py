"""What keeps the whole host from running."""


class HostError(Exception):
    """The whole host can't run: every path answers 503."""

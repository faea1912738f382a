"""The topics and subscriptions, declared once: for the local broker, the tests and the Bicep."""

from dataclasses import dataclass
from datetime import timedelta

TIME_TO_LIVE = timedelta(days=7)
DUPLICATE_DETECTION = timedelta(minutes=1)
LOCK_DURATION = timedelta(minutes=5)
MAX_DELIVERY_COUNT = 10

NOT_JOB_QUEUED = "sys.Label IS NULL OR sys.Label <> 'JobQueued'"
"""The service has no use for its own JobQueued; a message without a subject passes."""


@dataclass(frozen=True)
class Subscription:
    """A subscription with dead-lettering on expiry; `sql_filter` None lets everything through."""

    name: str
    sql_filter: str | None = None


@dataclass(frozen=True)
class Topic:
    """A topic with its time to live and duplicate detection, and the service's own subscription."""

    name: str
    subscription: Subscription


def topology(
    accepted_file: tuple[str, str],
    job_status: tuple[str, str],
    extraction_retry: tuple[str, str],
    extraction_result: tuple[str, str],
) -> list[Topic]:
    """The four topics from their (topic name, subscription name) settings."""
    return [
        Topic(accepted_file[0], Subscription(accepted_file[1])),
        Topic(job_status[0], Subscription(job_status[1], NOT_JOB_QUEUED)),
        Topic(extraction_retry[0], Subscription(extraction_retry[1])),
        Topic(extraction_result[0], Subscription(extraction_result[1])),
    ]

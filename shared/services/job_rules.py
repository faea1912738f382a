"""What every change of a job needs to know."""

from collections.abc import Callable
from dataclasses import dataclass

from shared.domain.deadlines import TimeLimits
from shared.domain.retention import Retention
from shared.domain.retries import RetryPolicy


@dataclass(frozen=True)
class JobRules:
    """The time limits, the retry policy, how long work is kept, and the topics that announce.

    `jitter` gives a number from 0 to 1 that spreads the retries; `most_active` is how many jobs an
    extractor has at once.
    """

    limits: TimeLimits
    retries: RetryPolicy
    status_topic: str
    retry_topic: str
    result_topic: str
    jitter: Callable[[], float]
    retention: Retention
    most_active: int = 100

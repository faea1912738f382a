"""The app's pauses cut to seconds, so that a short run sees them end. Nothing else is changed."""

from tests.chaos.app_copy import Patch
from tests.chaos.timing import Timing

HURRIED = Timing(call_seconds=3, most_jobs=4)

HURRY = (
    Patch(
        "shared/adapters/extractor_api.py",
        "timeout: timedelta = timedelta(seconds=30),",
        "timeout: timedelta = timedelta(seconds=3),",
    ),
    Patch(
        "shared/services/call_extractor.py",
        "LEASE_MARGIN = timedelta(seconds=30)",
        "LEASE_MARGIN = timedelta(seconds=3)",
    ),
    Patch(
        "shared/domain/extractor_health.py",
        "FIRST_OPEN = timedelta(seconds=30)\nLONGEST_OPEN = timedelta(minutes=10)",
        "FIRST_OPEN = timedelta(seconds=2)\nLONGEST_OPEN = timedelta(seconds=4)",
    ),
    Patch(
        "shared/domain/extractor_calls.py",
        "FIRST_PAUSE = timedelta(seconds=5)",
        "FIRST_PAUSE = timedelta(seconds=1)",
    ),
    Patch(
        "shared/domain/tracking.py",
        "SHORTEST_WAIT = timedelta(seconds=5)",
        "SHORTEST_WAIT = timedelta(seconds=1)",
    ),
    Patch(
        "shared/functions/extraction.py",
        "PAUSE_AFTER_FAILURE = timedelta(seconds=30)",
        "PAUSE_AFTER_FAILURE = timedelta(seconds=2)",
    ),
    Patch(
        "shared/functions/holding.py",
        "not_yet: timedelta = timedelta(seconds=5)",
        "not_yet: timedelta = timedelta(seconds=1)",
    ),
    Patch(
        "shared/services/reconcile.py",
        "UNSENT_FOR = timedelta(minutes=1)",
        "UNSENT_FOR = timedelta(seconds=3)",
    ),
    Patch(
        "shared/services/reconcile.py",
        "UNCHANGED_FOR = timedelta(minutes=2)",
        "UNCHANGED_FOR = timedelta(seconds=4)",
    ),
    Patch(
        "shared/services/reconcile.py",
        "STUCK_FOR = timedelta(minutes=10)",
        "STUCK_FOR = timedelta(seconds=20)",
    ),
    Patch(
        "shared/functions/reconcile.py",
        'schedule="0 */5 * * * *"',
        'schedule="*/5 * * * * *"',
    ),
)

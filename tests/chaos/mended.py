"""What reconciliation had to mend, counted from the host's log."""

import json
import re
from collections import Counter

KINDS = (
    *("outboxesSent", "jobsExpired", "orchestrationsStarted", "orchestrationsTerminated"),
    *("orchestrationsWoken", "retryFilesDecided", "attemptsClosed", "attemptsContinued"),
    *("deadLettersHandled", "partsOutOfReach"),
)
_LINE = re.compile(r": Reconciled (\{.*\})$", re.MULTILINE)


def mended(log: str) -> Counter[str]:
    """By kind, over all passes; `passes` counts those."""
    counted: Counter[str] = Counter()
    for text in _LINE.findall(log):
        facts = json.loads(text)
        counted["passes"] += 1
        counted.update({kind: facts[kind] for kind in KINDS if kind in facts})
    return counted

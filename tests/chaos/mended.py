"""What reconciliation had to mend, counted from what the host says."""

import json
import re
from collections import Counter

KINDS = (
    *("outboxesSent", "jobsExpired", "orchestrationsStarted", "orchestrationsTerminated"),
    *("orchestrationsWoken", "retryFilesDecided", "attemptsClosed", "attemptsContinued"),
    *("deadLettersHandled", "partsOutOfReach"),
)
_PASS = re.compile(r": Reconciled (\{.*\})$")


class Mended:
    """Hears every line of every part; `counts` has what was mended by kind, and the passes."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def hear(self, _part: str, line: str) -> None:
        """Count a line that tells of a pass."""
        if found := _PASS.search(line):
            facts = json.loads(found[1])
            self.counts["passes"] += 1
            self.counts.update({kind: facts[kind] for kind in KINDS if kind in facts})

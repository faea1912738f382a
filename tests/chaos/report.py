"""The report of a run, for people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.chaos.check import Findings
from tests.chaos.journal import Journal
from tests.chaos.recovery import Recovery
from tests.chaos.rows import JobRow
from tests.chaos.sent import Sent

MOST_LINES = 50
"""Of what was found, one line each."""


@dataclass(frozen=True)
class Report:
    """Everything that a run came to; times in seconds."""

    seed: int
    sent: Sent
    jobs: Sequence[JobRow]
    journal: Journal
    recoveries: Sequence[Recovery]
    mended: Mapping[str, int]
    findings: Findings
    sending_seconds: float
    settling_seconds: float

    @property
    def kills_in_flight(self) -> int:
        """Kills at whose moment at least one job was active."""
        return len(self.recoveries)

    def __str__(self) -> str:
        findings = self.findings
        lines = [
            f"seed {self.seed}: {len(self.sent.files)} files sent in {self.sending_seconds:.0f} s,"
            f" all over {self.settling_seconds:.0f} s later",
            f"also sent: {self._also_sent()}",
            f"broken: {self.journal}",
            f"kills in flight: {self.kills_in_flight} of {len(self.journal.kills)}"
            f" (with at least one job active; {self._active()})",
            f"jobs: {_counted(Counter(job.status for job in self.jobs))}",
            ", ".join(f"{kind} {len(found)}" for kind, found in findings.kinds().items()),
            f"calls repeated: {_counted(findings.calls_repeated)}",
            f"slowest recovery: {self._slowest()}",
            f"mended by reconciliation: {_counted(self.mended)}",
            *str(findings).splitlines()[:MOST_LINES],
        ]
        return "\n".join(lines)

    def _also_sent(self) -> str:
        sent = self.sent
        return (
            f"{len(sent.early)} statuses before their job, {sent.late} after its end,"
            f" {len(sent.refused)} messages that break the contract or name what does not exist"
        )

    def _active(self) -> str:
        active = [each.active for each in self.recoveries]
        return f"median {median(active):.0f}, at most {max(active)}" if active else "none"

    def _slowest(self) -> str:
        first = [each.first_end for each in self.recoveries if each.first_end is not None]
        ended = [each.all_ended for each in self.recoveries if each.all_ended is not None]
        if not first or not ended:
            return "none"
        return (
            f"{max(first):.1f} s from a kill until one of the jobs active then had ended"
            f" (median {median(first):.1f} s), {max(ended):.1f} s until all had"
            f" (median {median(ended):.1f} s)"
        )


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"

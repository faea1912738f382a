"""Whether each job was called once, judged by what its extractor saw.

A job may be called again only when the app could not know that it was taken:
- the host was killed before it had recorded the answer; then it waits under the call's lease, which
  was taken before the post and outlives the longest one: no two are under way at once,
- the answer was lost: the extractor hung up, was killed, or answered after the call's time.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

from tests.chaos.call_log import SeenCall
from tests.chaos.journal import Failure, Kind
from tests.chaos.rows import Note
from tests.chaos.timing import Timing

ON_ITS_WAY = timedelta(seconds=1)
"""Between an answer and its arrival; also how far a clock's reading lies behind the deed."""


@dataclass
class Repeats:
    """Calls after a job's first: the excused ones by reason, and what has no excuse."""

    excused: Counter[str] = field(default_factory=Counter)
    doubled: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Evidence:
    """What excuses can be made of: what was broken, and the answers that the app recorded."""

    failures: Sequence[Failure]
    recorded: Sequence[Note]
    timing: Timing

    def excuse(self, call: SeenCall, following: SeenCall) -> str | None:
        """Why the job was called again after `call`; None when there is no reason."""
        if call.answer is None:
            return "the extractor hung up"
        if self._was_late(call):
            return "the answer came too late"
        if self._extractor_died(call):
            return "the extractor was killed before its answer arrived"
        if self._host_died(call, following):
            return "the host was killed before its record"
        return None

    def tell(self, call: SeenCall, following: SeenCall) -> str:
        """What happened, for people."""
        answers = [f"{each.detail['outcome']} at {each.at:%X.%f}" for each in self.recorded]
        return f"{call}, {following}; recorded {', '.join(answers) or 'nothing'}"

    def _was_late(self, call: SeenCall) -> bool:
        """With what a pause of either side added to it."""
        ends = [
            each.until
            for each in self.failures
            if each.kind is Kind.PAUSED
            and each.part in {"host", "extractor"}
            and each.at <= call.answered + ON_ITS_WAY
            and each.until >= call.arrived
        ]
        took = max([call.answered, *ends]) - call.arrived
        return took + ON_ITS_WAY > timedelta(seconds=self.timing.call_seconds)

    def _extractor_died(self, call: SeenCall) -> bool:
        return any(
            each.part == "extractor" and call.arrived <= each.at <= call.answered + ON_ITS_WAY
            for each in self._kills
        )

    def _host_died(self, call: SeenCall, following: SeenCall) -> bool:
        longest = timedelta(seconds=self.timing.call_seconds)
        return (
            following.arrived - call.arrived >= longest
            and not any(call.arrived <= each.at < following.arrived for each in self.recorded)
            and any(
                each.part == "host" and call.arrived - ON_ITS_WAY <= each.at < following.arrived
                for each in self._kills
            )
        )

    @property
    def _kills(self) -> Sequence[Failure]:
        return [each for each in self.failures if each.kind is Kind.KILLED]


def check_calls(
    calls: Mapping[str, Sequence[SeenCall]],
    notes: Sequence[Note],
    failures: Sequence[Failure],
    timing: Timing,
) -> Repeats:
    """`notes` are the app's records of calls."""
    recorded = defaultdict(list)
    for note in notes:
        recorded[note.job_id].append(note)
    repeats = Repeats()
    for job, seen in calls.items():
        evidence = Evidence(failures, recorded[job], timing)
        for call, following in pairwise(seen):
            excuse = evidence.excuse(call, following)
            if excuse:
                repeats.excused[excuse] += 1
            else:
                repeats.doubled.append(
                    f"job {job} was called again: {evidence.tell(call, following)}"
                )
        if sum(note.detail["outcome"] == "taken" for note in recorded[job]) > 1:
            repeats.doubled.append(f"job {job} was recorded as taken more than once")
    return repeats

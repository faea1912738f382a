"""When each step of each job was seen, all on one clock."""

import threading
import time
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum

POLL_SECONDS = 0.05


class Step(StrEnum):
    """What is seen of a job from outside."""

    DUE = "FileAccepted was due to be sent"
    CALLED = "the extractor is called"
    REPORTED_ON_TOPIC = "the extractor reports the end on the topic"
    REPORTED_BY_CALL = "the extractor reports the end by call-back"
    RECORDED = "the end stands in the database"
    ANNOUNCED = "the end is received from the topic"


class Stamps:
    """The first time that each step was seen, from any thread. Times are `time.perf_counter()`."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._times: dict[tuple[str, Step], float] = {}
        self._lock = threading.Lock()

    def note(self, job_id: str, step: Step, at: float | None = None) -> None:
        """The step is seen at this time, or now; one that was seen before stays."""
        at = self._clock() if at is None else at
        with self._lock:
            self._times.setdefault((job_id, step), at)

    def times(self, jobs: Collection[str], step: Step) -> Sequence[float]:
        """When the step was seen, of each of these jobs of which it was."""
        with self._lock:
            found = [self._times.get((job_id, step)) for job_id in jobs]
        return [time for time in found if time is not None]

    def spans(self, jobs: Collection[str], begin: Step, end: Step) -> Sequence[float]:
        """Seconds between two steps, of each of these jobs that has both."""
        with self._lock:
            return [
                self._times[job_id, end] - self._times[job_id, begin]
                for job_id in jobs
                if (job_id, begin) in self._times and (job_id, end) in self._times
            ]

    def wait_for(self, jobs: Collection[str], steps: Collection[Step], seconds: float) -> None:
        """Until all these steps of all these jobs were seen. Raises RuntimeError naming one."""
        missing = {(job_id, step) for job_id in jobs for step in steps}
        deadline = time.monotonic() + seconds
        while missing := self._unseen(missing):
            if time.monotonic() > deadline:
                job_id, step = next(iter(missing))
                raise RuntimeError(f"{len(missing)} steps are missing; of job {job_id}: {step}")
            time.sleep(POLL_SECONDS)

    def _unseen(self, wanted: Collection[tuple[str, Step]]) -> set[tuple[str, Step]]:
        with self._lock:
            return {each for each in wanted if each not in self._times}

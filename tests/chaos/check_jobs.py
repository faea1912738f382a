"""Whether every file came to its one end, by the rows and the history of its jobs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from tests.chaos.extractors import Wanted
from tests.chaos.rows import ENDS, JobRow, Note


def doubled_jobs(by_file: Mapping[str, Sequence[JobRow]]) -> list[str]:
    """Files with two jobs at once, two of one attempt, or one more after a success."""
    doubled = []
    for file_id, jobs in by_file.items():
        if len({job.attempt for job in jobs}) != len(jobs):
            doubled.append(f"file {file_id} has two jobs of one attempt")
        for earlier, later in pairwise(jobs):
            if earlier.was_active(later.created):
                doubled.append(f"file {file_id} had two active jobs at once")
            elif earlier.status == "Succeeded":
                doubled.append(f"file {file_id} was extracted again after it had succeeded")
    return doubled


def ended_twice(history: Sequence[Note]) -> list[str]:
    """Jobs whose history holds more than one end."""
    ends = Counter(note.job_id for note in history if note.detail.get("status") in ENDS)
    return [f"job {job} ended {count} times" for job, count in ends.items() if count > 1]


def wrong_ends(wanted: Mapping[str, Wanted], by_file: Mapping[str, Sequence[JobRow]]) -> list[str]:
    """Files that ended otherwise than they had to; those without an end are not judged."""
    wrong = []
    for file_id, jobs in by_file.items():
        last = jobs[-1]
        fits = {
            Wanted.SUCCEEDED: last.status == "Succeeded",
            Wanted.ANY: last.status in {"Succeeded", "Failed"},
            Wanted.FAILED_AT_ONCE: last.status == "Failed" and len(jobs) == 1,
        }[wanted[file_id]]
        if not last.active and not fits:
            wrong.append(f"file {file_id} ended {last.status} with {len(jobs)} jobs")
    return wrong

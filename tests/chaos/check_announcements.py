"""Whether every change of every job was announced, and our part of it in legal order."""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from itertools import pairwise

from tests.chaos.broker import Announced
from tests.chaos.rows import JobRow, Note

OURS = "/extractor-service"
RANKS = {"Queued": 0, "Started": 1, "Succeeded": 2, "Failed": 2, "Cancelled": 2}


def unheard(
    jobs: Sequence[JobRow], history: Sequence[Note], announced: Sequence[Announced]
) -> list[str]:
    """Changes that were not announced under their one id."""
    heard = {each.message_id for each in announced}
    changes = [(note.job_id, note.detail["status"]) for note in history if "status" in note.detail]
    wanted = [*((job.job_id, "Queued") for job in jobs), *changes]
    return [
        f"{status} of job {job} was not announced"
        for job, status in wanted
        if f"{job}:{status}" not in heard
    ]


def out_of_order(announced: Sequence[Announced], early: Set[str]) -> list[str]:
    """Jobs of whose first announcements one of ours came too late.

    `early` are statuses that the run sent before there was a job.
    """
    wrong = []
    for job, firsts in _first_announcements(announced).items():
        others = [each for each in firsts if each.status != "Queued"]
        behind = [each for each in others if each.message_id not in early]
        queued = next((each.number for each in firsts if each.status == "Queued"), None)
        if queued and any(each.number < queued for each in behind):
            wrong.append(f"job {job} was announced as Queued after what followed")
        ours = [RANKS[each.status] for each in firsts if each.source == OURS]
        if any(earlier >= later for earlier, later in pairwise(ours)):
            wrong.append(f"the statuses that we sent of job {job} are out of order")
    return wrong


def _first_announcements(announced: Sequence[Announced]) -> Mapping[str, Sequence[Announced]]:
    """Of each job and status, by the broker's numbers."""
    firsts: dict[str, dict[tuple[str, str], Announced]] = defaultdict(dict)
    for each in sorted(announced, key=lambda each: each.number):
        firsts[each.job_id].setdefault((each.status, each.source), each)
    return {job: list(found.values()) for job, found in firsts.items()}

"""Operators who restart side by side, each the same failed extraction again and again."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import requests

from benchmarks.arrivals import arrivals, keep_to
from local.demo.operator import RESTART, Operator
from local.settings import LocalSettings
from local.supervisor.environment import host_url

NO_ANSWER = 0
"""Stands for the status of a request that got none."""

LONGEST_SECONDS = 60.0


@dataclass(frozen=True)
class Answer:
    """The status of one restart, and how many seconds it took."""

    status: int
    seconds: float


def restart_side_by_side(
    settings: LocalSettings, entity_ids: Sequence[int], seconds: int
) -> Sequence[Answer]:
    """Every answer that the operators got, one operator for each entity, in so many seconds.

    Each posts once a second, one after the other, or at once when an answer took longer than that.
    """

    def operate(number: int) -> Sequence[Answer]:
        offsets = [number / len(entity_ids) + offset for offset in arrivals(1, seconds)]
        return _restart_at(offsets, settings, entity_ids[number])

    with ThreadPoolExecutor(len(entity_ids)) as pool:
        of_each = pool.map(operate, range(len(entity_ids)))
        return [answer for answers in of_each for answer in answers]


def by_status(answers: Sequence[Answer]) -> Mapping[int, int]:
    """How often each status was answered."""
    return Counter(answer.status for answer in answers)


def all_good(answers: Sequence[Answer]) -> bool:
    """Whether there was an answer, and none but 2xx."""
    return bool(answers) and all(200 <= each.status < 300 for each in answers)


def _restart_at(
    offsets: Sequence[float], settings: LocalSettings, entity_id: int
) -> Sequence[Answer]:
    answers: list[Answer] = []
    with requests.Session() as session:
        session.trust_env = False  # no proxy on the way to loopback
        session.headers["Authorization"] = f"Bearer {Operator(settings).token()}"
        url = host_url(settings) + RESTART
        keep_to(offsets, lambda _number, _due: answers.append(_restart(session, url, entity_id)))
    return answers


def _restart(session: requests.Session, url: str, entity_id: int) -> Answer:
    begun = time.perf_counter()
    try:
        body = {"extractedEntityIds": [entity_id]}
        status = session.post(url, json=body, timeout=LONGEST_SECONDS).status_code
    except requests.RequestException:
        status = NO_ANSWER
    return Answer(status, time.perf_counter() - begun)

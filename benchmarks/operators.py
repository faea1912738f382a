"""Operators who restart at the same time, each the same failed extraction again and again."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import requests

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


def restart_at_once(
    settings: LocalSettings, entity_ids: Sequence[int], seconds: float
) -> Sequence[Answer]:
    """Every answer that the operators got, one operator for each entity, in so many seconds.

    Each posts again as soon as the last post is answered.
    """
    until = time.perf_counter() + seconds
    with ThreadPoolExecutor(len(entity_ids)) as pool:
        of_each = pool.map(lambda entity_id: _restart_until(until, settings, entity_id), entity_ids)
        return [answer for answers in of_each for answer in answers]


def by_status(answers: Sequence[Answer]) -> Mapping[int, int]:
    """How often each status was answered."""
    return Counter(answer.status for answer in answers)


def all_good(answers: Sequence[Answer]) -> bool:
    """Whether there was an answer, and none but 2xx."""
    return bool(answers) and all(200 <= each.status < 300 for each in answers)


def _restart_until(until: float, settings: LocalSettings, entity_id: int) -> Sequence[Answer]:
    answers = []
    with requests.Session() as session:
        session.trust_env = False  # no proxy on the way to loopback
        session.headers["Authorization"] = f"Bearer {Operator(settings).token()}"
        while time.perf_counter() < until:
            answers.append(_restart(session, host_url(settings) + RESTART, entity_id))
    return answers


def _restart(session: requests.Session, url: str, entity_id: int) -> Answer:
    begun = time.perf_counter()
    try:
        body = {"extractedEntityIds": [entity_id]}
        status = session.post(url, json=body, timeout=LONGEST_SECONDS).status_code
    except requests.RequestException:
        status = NO_ANSWER
    return Answer(status, time.perf_counter() - begun)

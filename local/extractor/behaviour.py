"""Misbehaviour on demand, so that tests meet every kind of extractor: names and meanings.

A registration's ExtractionUrl chooses it: `/extract?behaviour=fail=2,report-twice`. Names are
separated by commas, or given in several `behaviour` parameters, and work together.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


class BehaviourError(ValueError):
    """A behaviour that does not exist, or whose value makes no sense."""


@dataclass(frozen=True)
class Behaviour:
    """What was asked for; the defaults are those of a well-behaved extractor."""

    slow: float = 0
    fail: int = 0
    status: int = 202
    retry_after: int | None = None
    refuse: bool = False
    redirect: bool = False
    empty: bool = False
    lose_answer: bool = False
    html: bool = False
    big: bool = False
    instant: bool = False
    fail_report: bool = False
    fail_reports: int = 0
    busy: float = 0
    silent: bool = False
    report_twice: bool = False
    report_late: float = 0
    report_as: UUID | None = None

    def refusal(self, earlier_calls: int) -> int | None:
        """The status that refuses the call, None to take the job.

        `earlier_calls` counts the calls for the same file, of this job or another, before this one.
        """
        if self.refuse:
            return 400
        if self.redirect:
            return 307
        if not 200 <= self.status < 300:
            return self.status
        if earlier_calls < self.fail:
            return 503
        if self.retry_after is not None and not self.fail and earlier_calls == 0:
            return 429
        return None

    def fails(self, earlier_jobs: int) -> bool:
        """Whether JobFailed is reported; `earlier_jobs` of the same file were taken before."""
        return self.fail_report or earlier_jobs < self.fail_reports


def _flag(text: str) -> bool:
    if text:
        raise ValueError("takes no value")
    return True


def _seconds(text: str) -> float:
    if not 0 <= (seconds := float(text)) < math.inf:
        raise ValueError("takes seconds")
    return seconds


def _status(text: str) -> int:
    if not 200 <= (status := int(text)) <= 599:
        raise ValueError("takes a status from 200 to 599")
    return status


BEHAVIOURS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "slow": (_seconds, "=SECONDS: the answer comes that late"),
    "fail": (int, "=N: the first N calls for a file are answered 503"),
    "status": (_status, "=CODE: answers that code; a code in the 200s takes the job"),
    "retry-after": (int, "=SECONDS: refusals carry Retry-After; alone, the first call gets 429"),
    "refuse": (_flag, "answers 400"),
    "redirect": (_flag, "answers 307, to the path that would take the job"),
    "empty": (_flag, "closes the connection without an answer, and does not take the job"),
    "lose-answer": (_flag, "takes the job, then closes the connection without an answer"),
    "html": (_flag, "takes the job, but answers with a page of HTML"),
    "big": (_flag, "takes the job, but answers with 10 MB"),
    "instant": (_flag, "succeeds without fetching the file, for benchmarks"),
    "fail-report": (_flag, "reports JobFailed without fetching the file"),
    "fail-reports": (int, "=N: reports JobFailed for the first N jobs of a file"),
    "busy": (_seconds, "=SECONDS: the end is reported that much later"),
    "silent": (_flag, "takes the job and never reports"),
    "report-twice": (_flag, "each report is sent again under another message id"),
    "report-late": (_seconds, "=SECONDS: JobStarted is reported that long after the end"),
    "report-as": (UUID, "=JOBID: reports carry the id of that job"),
}
"""By name: how its value is read, and what it does."""


def split_behaviours(parameters: Iterable[str]) -> tuple[str, ...]:
    """The single wishes in the values of the `behaviour` parameters."""
    return tuple(wish for text in parameters for wish in text.split(",") if wish)


def read_behaviour(wishes: Iterable[str]) -> Behaviour:
    """Read wishes such as `slow=2` and `silent`. Raises BehaviourError naming a wrong one."""
    return Behaviour(**dict(map(_read_wish, wishes)))


def _read_wish(wish: str) -> tuple[str, Any]:
    name, _, value = wish.partition("=")
    if name not in BEHAVIOURS:
        raise BehaviourError(f"there is no behaviour {name}; there are {', '.join(BEHAVIOURS)}")
    read, meaning = BEHAVIOURS[name]
    try:
        return name.replace("-", "_"), read(value)
    except ValueError:
        raise BehaviourError(f"{wish} does not fit; {name} {meaning}") from None

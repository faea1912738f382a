"""A run: send files while everything fails, let it settle, and check."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.chaos.check import check
from tests.chaos.extractors import Extractors, make_extractors
from tests.chaos.messages import switch_at_random
from tests.chaos.parts import kill_at_random, stop_at_random
from tests.chaos.recovery import recoveries
from tests.chaos.report import Report
from tests.chaos.sending import Sending, store_files
from tests.chaos.sent import Sent, SentFile
from tests.chaos.settling import settle
from tests.chaos.stack import ChaosStack
from tests.chaos.timing import Pace
from tests.chaos.topics import Topics

Tell = Callable[[str], None]
RECONCILE_SECONDS = 30.0
TOLD_EVERY = 100
"""Files after which a line says how far it is."""


def run_chaos(
    stack: ChaosStack,
    files: int,
    seed: int,
    pace: Pace,
    tell: Tell = lambda _: None,
    *,
    hanging: bool = False,
) -> Report:
    """`hanging`: also extractors that keep jobs until their deadlines, which takes minutes.

    Raises PartFailedError when a part that was killed does not come back.
    """
    database = stack.whole.services.database
    extractors = make_extractors(
        database, stack.whole.extraction_url, stack.timing, hanging=hanging
    )
    extractors.register()
    stored = store_files(
        stack.whole.services.files.store, extractors, files, _chance(seed, "files")
    )
    tell(f"{files} files are stored")
    sent = Sent(ghosts=extractors.ghost_statuses())
    begun = time.monotonic()
    _send_amid_failures(stack, sent, stored, extractors, seed, pace, tell)
    calm = time.monotonic()
    tell("everything is sent, and nothing fails any more")
    left = settle(stack, sent, pace.settling, reconcile_every=RECONCILE_SECONDS)
    settled = time.monotonic()
    jobs = stack.rows.jobs()
    return Report(
        seed=seed,
        sent=sent,
        jobs=jobs,
        journal=stack.journal,
        recoveries=recoveries(stack.journal.kills, jobs),
        mended=stack.mended.counts,
        findings=check(stack, sent, left),
        sending_seconds=calm - begun,
        settling_seconds=settled - calm,
    )


def _send_amid_failures(
    stack: ChaosStack,
    sent: Sent,
    stored: Sequence[SentFile],
    extractors: Extractors,
    seed: int,
    pace: Pace,
    tell: Tell,
) -> None:
    calm = threading.Event()
    parts = stack.parts

    def say(count: int) -> None:
        if count % TOLD_EVERY == 0:
            tell(f"{count} files sent; {stack.journal}")

    with ThreadPoolExecutor() as threads, Topics(stack.service_bus) as topics:
        failing = [
            threads.submit(kill_at_random, parts, _chance(seed, "kills"), pace, calm),
            threads.submit(stop_at_random, parts, _chance(seed, "stops"), pace, calm),
            threads.submit(switch_at_random, stack.faults, _chance(seed, "broker"), pace, calm),
            threads.submit(extractors.turn_at_random, _chance(seed, "moods"), pace, calm),
        ]
        try:
            Sending(topics, stack.rows, sent, _chance(seed, "sending")).send(stored, pace, say)
        finally:
            calm.set()
        for each in failing:
            each.result()
    stack.faults.reset()


def _chance(seed: int, what: str) -> random.Random:
    """One for each thread, so that the same seed makes each choose the same."""
    return random.Random(f"{seed} {what}")

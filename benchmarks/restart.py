"""Restarts and retries through the whole stack, beside the targets of the specification.

Restarts name entities whose files are gone: the endpoint does all of its work, and the retry path
too, but no job runs beside them. Retries of a batch name stored files, whose extractor succeeds at
once. All rounds are of one stack, one after the other.
"""

import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from threading import Barrier
from uuid import uuid4

from benchmarks.report import Row, ratio, show_circumstances, show_table
from benchmarks.retries import EVENTS, OBSERVER, Caller, RetryStack, running_retries
from benchmarks.status_messages import as_sent
from local.demo.operator import RESTART
from shared.adapters.publisher import ServiceBusPublisher
from shared.contracts.outgoing import OutgoingMessage, trace_parent_of
from shared.contracts.retry import ExtractionRetryEvent, retry_message

BATCH = "/v1/retry/batch"
WARM_UP = 10
RESTARTS = 40
"""Restarts of one id and restarts of a hundred, by turns."""

OPERATORS, EACH = 20, 15
EVENTS_A_ROUND, ROUNDS = 300, 3
AT_ONCE = 32
"""Messages that the bare client receives at once: as many as the host handles side by side."""

BATCHES = {1: 10, 100: 5}
"""Rounds of a batch of each size."""


@dataclass(frozen=True)
class Rate:
    """Messages in a second, and the processor time of the process that handles one."""

    per_second: float
    processor_seconds: float


def main() -> None:
    """Run all rounds, and print them beside the targets."""
    show_circumstances()
    with tempfile.TemporaryDirectory() as folder, running_retries(Path(folder) / "data") as stack:
        _restarts(stack, WARM_UP)
        one, hundred = _restarts(stack, RESTARTS)
        busy, per_second = _operators(stack)
        published = _published(stack)
        turns = [(_handled(stack), _bare(stack)) for _ in range(ROUNDS)]
        batches = {size: _batches(stack, size) for size in BATCHES}
    _show_restarts(one, hundred, busy, per_second)
    _show_rates(turns)
    _show_batches(batches)
    _show_targets(one, published, median(handled.per_second for handled, _ in turns), batches[1])


def _restarts(stack: RetryStack, count: int) -> tuple[Sequence[float], Sequence[float]]:
    """Seconds of the endpoint for one id and for a hundred; each is over before the next begins."""
    ids = stack.entities(100)
    with stack.caller() as caller:
        turns = [
            (_restart(stack, caller, ids[:1]), _restart(stack, caller, ids)) for _ in range(count)
        ]
    one, hundred = zip(*turns, strict=True)
    return one, hundred


def _restart(stack: RetryStack, caller: Caller, ids: Sequence[int]) -> float:
    seconds, _ = caller.post(RESTART, {"extractedEntityIds": ids})
    stack.results.wait_for(1)
    return seconds


def _operators(stack: RetryStack) -> tuple[Sequence[float], float]:
    """Seconds of each restart of one id by operators who don't wait for one another; the rate."""
    ids = stack.entities(OPERATORS)
    ready = Barrier(OPERATORS)

    def operate(entity_id: int) -> list[float]:
        with stack.caller() as caller:
            ready.wait()
            body = {"extractedEntityIds": [entity_id]}
            return [caller.post(RESTART, body)[0] for _ in range(EACH)]

    begun = time.perf_counter()
    with ThreadPoolExecutor(OPERATORS) as pool:
        taken = [seconds for operator in pool.map(operate, ids) for seconds in operator]
    rate = len(taken) / (time.perf_counter() - begun)
    stack.results.wait_for(len(taken))
    return taken, rate


def _published(stack: RetryStack) -> Sequence[float]:
    """Seconds to publish an event through our publisher until the broker has it."""
    publisher = ServiceBusPublisher(lambda: stack.bus)
    publisher.publish(_event())  # opens the link
    taken = [_seconds_to_publish(publisher, _event()) for _ in range(RESTARTS)]
    publisher.close()
    stack.results.wait_for(len(taken) + 1)
    return taken


def _seconds_to_publish(publisher: ServiceBusPublisher, message: OutgoingMessage) -> float:
    begun = time.perf_counter()
    publisher.publish(message)
    return time.perf_counter() - begun


def _handled(stack: RetryStack) -> Rate:
    """Events and the result of each, handled by the service, from the sending of all events."""
    messages = [as_sent(_event()) for _ in range(EVENTS_A_ROUND)]
    with stack.bus.get_topic_sender(EVENTS) as sender:
        before, begun = stack.host_seconds(), time.perf_counter()
        sender.send_messages(messages)
        stack.results.wait_for(EVENTS_A_ROUND)
        stack.wait_until_handled()
        seconds = time.perf_counter() - begun
    count = 2 * EVENTS_A_ROUND
    return Rate(count / seconds, (stack.host_seconds() - before) / count)


def _bare(stack: RetryStack) -> Rate:
    """The same events received and completed by the SDK in this process, and nothing else."""
    with stack.bus.get_subscription_receiver(EVENTS, OBSERVER) as receiver:
        done = 0
        before, begun = time.process_time(), time.perf_counter()
        while done < EVENTS_A_ROUND:
            for message in receiver.receive_messages(AT_ONCE, max_wait_time=5):
                receiver.complete_message(message)
                done += 1
        seconds = time.perf_counter() - begun
    return Rate(done / seconds, (time.process_time() - before) / done)


def _event() -> OutgoingMessage:
    """Asks for a file that is gone: handled whole, up to its result, without a job."""
    event = ExtractionRetryEvent(
        requestId=str(uuid4()), fileIds=[uuid4().hex], timestamp=datetime.now(UTC)
    )
    return retry_message(event, EVENTS, trace_parent_of(None))


def _batches(stack: RetryStack, size: int) -> Sequence[float]:
    """Seconds from the post of a batch to its one result."""
    taken = []
    with stack.caller() as caller:
        for _ in range(BATCHES[size]):
            file_ids = stack.files(size)
            begun = time.perf_counter()
            _, request_id = caller.post(BATCH, {"fileIds": file_ids})
            assert stack.results.wait_for(1) == [request_id]
            taken.append(time.perf_counter() - begun)
            stack.results.nothing_more()
    return taken


def _show_restarts(
    one: Sequence[float], hundred: Sequence[float], busy: Sequence[float], per_second: float
) -> None:
    show_table(
        f"The restart endpoint; {OPERATORS} operators at once make {per_second:.0f} restarts/s",
        ("restarts", "number", "p50", "p95", "ratio of p50"),
        [
            _restart_row("of 1 id", one, one),
            _restart_row("of 100 ids", hundred, one),
            _restart_row(f"of 1 id, {OPERATORS} operators at once", busy, one),
        ],
    )


def _restart_row(title: str, taken: Sequence[float], base: Sequence[float]) -> Row:
    times = _milliseconds(median(taken)), _milliseconds(_p95(taken))
    return title, str(len(taken)), *times, ratio(median(taken), median(base))


def _show_rates(turns: Sequence[tuple[Rate, Rate]]) -> None:
    handled, bare = (_typical(rates) for rates in zip(*turns, strict=True))
    show_table(
        f"Messages in a second: {EVENTS_A_ROUND} events a round, median of {ROUNDS} rounds",
        ("who", "messages/s", "ratio", "processor time", "ratio"),
        [
            _rate_row("the SDK, receiving and completing", bare, bare),
            _rate_row("the host, events and their results", handled, bare),
        ],
    )


def _typical(rates: Sequence[Rate]) -> Rate:
    return Rate(
        median(rate.per_second for rate in rates),
        median(rate.processor_seconds for rate in rates),
    )


def _rate_row(title: str, rate: Rate, base: Rate) -> Row:
    return (
        title,
        f"{rate.per_second:.0f}",
        ratio(rate.per_second, base.per_second),
        _milliseconds(rate.processor_seconds),
        ratio(rate.processor_seconds, base.processor_seconds),
    )


def _show_batches(batches: dict[int, Sequence[float]]) -> None:
    base = median(batches[1])
    show_table(
        "A retry batch, from its post to its one result",
        ("files", "rounds", "time", "for each file", "ratio for each file"),
        [
            (
                str(size),
                str(len(taken)),
                f"{median(taken):.2f} s",
                _milliseconds(median(taken) / size),
                ratio(median(taken) / size, base),
            )
            for size, taken in batches.items()
        ],
    )


def _show_targets(
    one: Sequence[float], published: Sequence[float], handled: float, single: Sequence[float]
) -> None:
    show_table(
        "Beside the targets of the specification",
        ("figure", "measured", "target"),
        [
            ("publishing an event, mean", _milliseconds(_mean(published)), "< 100 ms"),
            ("the restart endpoint, mean", _milliseconds(_mean(one)), "< 500 ms"),
            ("messages in a second", f"{handled:.0f}", "100 or more"),
            ("one file from post to result, mean", f"{_mean(single):.2f} s", "< 5 s"),
        ],
    )


def _mean(taken: Sequence[float]) -> float:
    return sum(taken) / len(taken)


def _p95(taken: Sequence[float]) -> float:
    return quantiles(taken, n=20)[-1]


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    main()

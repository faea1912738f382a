"""What a kill of the broker leaves behind."""

import threading
from collections import deque
from contextlib import suppress

from proton import Delivery, Disposition, Sender

from tests.contract.servicebus.process import Process, config
from tests.contract.servicebus.raw_client import SUB, Arrived, RawClient, message, peek, raw_client
from tests.contract.waiting import wait_until

KILLS = 20
MESSAGES = 10_000
BACKLOG = 300
"""Messages that the sender may be ahead of the receiver, so that both work at every kill."""

IN_FLIGHT = 50
"""Messages that each of them has unanswered at most."""

SETTLEMENTS = (
    Disposition.ACCEPTED,
    Disposition.RELEASED,
    Disposition.MODIFIED,
    Disposition.REJECTED,
)


class Work(threading.Thread):
    """Does its work with a connection of its own, through any number of lost brokers."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.stop = threading.Event()
        self.unanswered: deque[tuple[int, Delivery]] = deque()
        self._port = port

    def run(self) -> None:
        while not self.stop.is_set():
            with suppress(OSError), raw_client(self._port) as client:
                self.unanswered.clear()
                self.work(client)

    def work(self, client: RawClient) -> None:
        raise NotImplementedError

    def accepted_since(self) -> set[int]:
        """The numbers that the broker has just said it accepts."""
        accepted = set()
        while self.is_answered:
            number, delivery = self.unanswered.popleft()
            if delivery.remote_state == Disposition.ACCEPTED:
                accepted.add(number)
        return accepted

    @property
    def is_answered(self) -> bool:
        return bool(self.unanswered) and self.unanswered[0][1].settled


class Completing(Work):
    """`tried` holds what it wanted completed, `completed` what the broker confirmed."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.tried: set[int] = set()
        self.completed: set[int] = set()
        self.came_back: list[int] = []

    def work(self, client: RawClient) -> None:
        link = client.receiver(SUB, credit=IN_FLIGHT)
        while not self.stop.is_set():
            client.until(lambda: client.arrived or self.is_answered or self.stop.is_set(), 30)
            while client.arrived:
                self._complete(client.arrived.popleft())
                link.flow(1)
            self.completed |= self.accepted_since()

    def _complete(self, arrived: Arrived) -> None:
        number = arrived.body
        if number in self.completed:
            self.came_back.append(number)
        self.tried.add(number)
        arrived.delivery.update(Disposition.ACCEPTED)
        self.unanswered.append((number, arrived.delivery))


class Sending(Work):
    """Counts up until enough are in `accepted`, which holds what the broker confirmed."""

    def __init__(self, port: int, completing: Completing) -> None:
        super().__init__(port)
        self.accepted: set[int] = set()
        self._completing = completing
        self._next = 0

    def work(self, client: RawClient) -> None:
        link = client.sender("jobs")
        while len(self.accepted) < MESSAGES and not self.stop.is_set():
            while self._may_send:
                self._send(link)
            client.until(lambda: self.is_answered or self._may_send or self.stop.is_set(), 30)
            self.accepted |= self.accepted_since()
        self.stop.set()

    @property
    def _may_send(self) -> bool:
        ahead = len(self.accepted) - len(self._completing.completed)
        return len(self.unanswered) < IN_FLIGHT and ahead < BACKLOG

    def _send(self, link: Sender) -> None:
        delivery = link.delivery(str(self._next))
        link.stream(message(self._next))
        link.advance()
        self.unanswered.append((self._next, delivery))
        self._next += 1


def test_kills_lose_nothing_accepted_and_bring_nothing_completed_back(broker: Process) -> None:
    broker.configure(config(LockDuration="PT1S", MaxDeliveryCount=1_000))
    broker.start()
    completing = Completing(broker.port)
    sending = Sending(broker.port, completing)
    workers: list[Work] = [completing, sending]
    for worker in workers:
        worker.start()
    try:
        for kill in range(KILLS):
            goal = (kill + 1) * MESSAGES // (KILLS + 1)
            wait_until(lambda goal=goal: len(completing.completed) >= goal, 30)  # type: ignore[misc]
            broker.process.kill()
            broker.close()
            broker.start()
        sending.join(30)
        wait_until(lambda: completing.tried >= sending.accepted, 30)
        wait_until(lambda: is_empty(broker.port), 10)
    finally:
        for worker in workers:
            worker.stop.set()
        for worker in workers:
            worker.join(30)
    assert len(sending.accepted) >= MESSAGES
    assert completing.came_back == []


def is_empty(port: int) -> bool:
    with raw_client(port) as client:
        return peek(client)["statusCode"] == 204


def test_what_was_settled_before_a_kill_stays_settled(broker: Process) -> None:
    broker.start()
    with raw_client(broker.port) as client:
        sender = client.sender("jobs")
        for n in range(100):
            client.send(sender, message(n))
        client.receiver(SUB, credit=100)
        client.until(lambda: len(client.arrived) == 100)
        for n, arrived in enumerate(client.arrived):
            client.settle(arrived, SETTLEMENTS[n % 4])
    broker.process.kill()
    broker.close()
    broker.start()
    with raw_client(broker.port) as client:
        client.receiver(SUB, credit=100, settled=True)
        client.receiver(f"{SUB}/$DeadLetterQueue", credit=100, settled=True)
        client.until(lambda: len(client.arrived) == 75)
        bodies = sorted(each.body for each in client.arrived)
        assert bodies == [n for n in range(100) if n % 4 != 0]

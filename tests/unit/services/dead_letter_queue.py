"""A dead-letter queue that behaves, in memory."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from shared.contracts.incoming import DeadLetter
from shared.domain.errors import TransientError


@dataclass
class Taken:
    """A dead letter under lock."""

    letter: DeadLetter
    queue: "DeadLetterQueue"

    def complete(self) -> None:
        self.queue.step()
        if self.queue.lock_is_lost:
            raise TransientError("service bus", "the lock is lost")
        self.queue.letters.remove(self.letter)


@dataclass
class DeadLetterQueue:
    """Its letters lie in order of their sequence numbers; `step` may fail or crash."""

    step: Callable[[], None]
    letters: list[DeadLetter] = field(default_factory=list)
    locked: set[int] = field(default_factory=set)
    lock_is_lost: bool = False

    def peek(self, after: int, limit: int) -> Sequence[DeadLetter]:
        self.step()
        return [each for each in self.letters if each.sequence_number > after][:limit]

    @contextmanager
    def take(self, wanted: Collection[int]) -> Iterator[Sequence[Taken]]:
        self.step()
        free = [
            each
            for each in self.letters
            if each.sequence_number in wanted and each.sequence_number not in self.locked
        ]
        self.locked |= {each.sequence_number for each in free}
        try:
            yield [Taken(each, self) for each in free]
        finally:
            self.locked -= {each.sequence_number for each in free}

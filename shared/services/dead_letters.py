"""Dead letters of all subscriptions: counted, looked at, handled again in place, discarded."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from shared.contracts.incoming import DeadLetter
from shared.domain.dead_letters import (
    DeadLetterCount,
    DeadLetterOutcome,
    Explanation,
    Operator,
    Verdict,
)
from shared.domain.errors import NotFoundError, TransientError
from shared.services.explain_dead_letters import ExplainDeadLetters
from shared.services.handle_dead_letters import (
    RECONCILIATION,
    Handle,
    HandleDeadLetters,
    Subscription,
)
from shared.services.ports import Clock, DeadLetterQueue

MOST = 100
"""Handled again at once."""

PAGE = 100
LOOKED_AT = 1000
"""In one queue, by counting and by reconciliation."""

YOUNG = timedelta(days=1)
"""What reconciliation handles again by itself; what is older needs a person."""

GONE = "It is not among the first 1,000 of the queue, or someone else is handling it"


class DeadLetters:
    """Every method but `mend` raises TransientError while Service Bus is out of reach."""

    def __init__(
        self,
        subscriptions: Sequence[Subscription],
        explain: ExplainDeadLetters,
        handle_again: HandleDeadLetters,
        clock: Clock,
    ) -> None:
        self._places = _by_name(subscriptions)
        self._explain = explain
        self._handle_again = handle_again
        self._clock = clock

    def counts(self) -> Sequence[DeadLetterCount]:
        """How many lie in each queue, counted up to LOOKED_AT."""
        return [_count(place) for place in self._places.values()]

    def peek(self, name: str, after: int, limit: int) -> Sequence[tuple[DeadLetter, Explanation]]:
        """The next ones behind a sequence number, each explained. Raises NotFoundError."""
        place = self._place(name)
        return self._explained(place, place.dead_letters.peek(after, limit))

    def foretell(self, name: str, chosen: Sequence[int] | None) -> Sequence[Verdict]:
        """What handling them again would come to; None: the oldest MOST. Raises NotFoundError."""
        place = self._place(name)
        numbers = _numbers(place, chosen)
        found = [
            letter
            for number in numbers
            for letter in place.dead_letters.peek(number - 1, 1)
            if letter.sequence_number == number
        ]
        return _in_order(numbers, [_foretold(*each) for each in self._explained(place, found)])

    def resubmit(
        self, name: str, chosen: Sequence[int] | None, by: Operator, handle: Handle
    ) -> Sequence[Verdict]:
        """Handle them again; what fails stays. None: the oldest MOST. Raises NotFoundError."""
        place = self._place(name)
        numbers = _numbers(place, chosen)
        if not numbers:
            return []
        return _in_order(numbers, self._handle_again(place, numbers, by, handle))

    def discard(self, name: str, chosen: Sequence[int], by: Operator) -> Sequence[Verdict]:
        """Drop them. Raises NotFoundError."""
        place = self._place(name)
        numbers = _numbers(place, chosen)
        return _in_order(numbers, self._handle_again.discard(place, numbers, by))

    def mend(self, handle: Handle) -> Mapping[str, int]:
        """Handle the young and valid ones again, MOST in all; how many left their queues."""
        mended: Counter[str] = Counter()
        left = MOST
        for place in self._places.values():
            try:
                numbers = self._mendable(place, left)
                left -= len(numbers)
                verdicts = (
                    self._handle_again(place, numbers, RECONCILIATION, handle) if numbers else []
                )
            except TransientError:
                mended["partsOutOfReach"] += 1
                continue
            mended["deadLettersHandled"] += sum(
                verdict.outcome is DeadLetterOutcome.HANDLED for verdict in verdicts
            )
        return mended

    def _place(self, name: str) -> Subscription:
        if name not in self._places:
            known = ", ".join(self._places)
            raise NotFoundError(f"There is no such subscription; the service has {known}")
        return self._places[name]

    def _mendable(self, place: Subscription, limit: int) -> Sequence[int]:
        found: list[int] = []
        for page in _pages(place.dead_letters):
            if len(found) >= limit:
                break
            young = [each for each in page if self._clock() - each.message.enqueued_at < YOUNG]
            found += [
                letter.sequence_number
                for letter, explanation in self._explained(place, young)
                if explanation.can_be_handled
            ]
        return found[:limit]

    def _explained(
        self, place: Subscription, letters: Sequence[DeadLetter]
    ) -> Sequence[tuple[DeadLetter, Explanation]]:
        if not letters:
            return []
        return list(zip(letters, self._explain(place.source, letters), strict=True))


def _by_name(subscriptions: Sequence[Subscription]) -> Mapping[str, Subscription]:
    """By their names, followed by the topic where two topics have a subscription of one name."""
    counted = Counter(each.name for each in subscriptions)
    named = [
        each if counted[each.name] == 1 else replace(each, name=f"{each.name}@{each.topic}")
        for each in subscriptions
    ]
    return {each.name: each for each in named}


def _numbers(place: Subscription, chosen: Sequence[int] | None) -> Sequence[int]:
    if chosen is None:
        return [letter.sequence_number for letter in place.dead_letters.peek(0, MOST)]
    return list(dict.fromkeys(chosen))


def _pages(queue: DeadLetterQueue) -> Iterator[Sequence[DeadLetter]]:
    """Page by page, up to LOOKED_AT."""
    after = 0
    for _ in range(LOOKED_AT // PAGE):
        page = queue.peek(after, PAGE)
        if not page:
            return
        yield page
        after = page[-1].sequence_number


def _count(place: Subscription) -> DeadLetterCount:
    count, oldest = 0, None
    for page in _pages(place.dead_letters):
        count += len(page)
        times = [letter.message.enqueued_at for letter in page]
        oldest = min([*times, oldest] if oldest else times)
    return DeadLetterCount(place.name, place.topic, count, count >= LOOKED_AT, oldest)


def _foretold(letter: DeadLetter, explanation: Explanation) -> Verdict:
    outcome = (
        DeadLetterOutcome.WOULD_BE_HANDLED
        if explanation.can_be_handled
        else DeadLetterOutcome.WOULD_BE_KEPT
    )
    return Verdict(letter.sequence_number, outcome, explanation.code, explanation.text)


def _in_order(numbers: Sequence[int], verdicts: Sequence[Verdict]) -> Sequence[Verdict]:
    """A verdict on each number, in the order asked; what was not there is told so."""
    by_number = {verdict.sequence_number: verdict for verdict in verdicts}
    return [
        by_number.get(number) or Verdict(number, DeadLetterOutcome.NOT_FOUND, "not_found", GONE)
        for number in numbers
    ]

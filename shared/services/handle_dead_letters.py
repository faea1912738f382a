"""Handling dead letters again in place, or dropping them; either is written down."""

import logging
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from shared.contracts.incoming import DeadLetter, Incoming, Source
from shared.domain.dead_letters import DeadLetterOutcome, Explanation, Operator, Verdict
from shared.domain.errors import NotYetError, PermanentError, TransientError
from shared.domain.events import EventKind, FileEvent
from shared.services.explain_dead_letters import ExplainDeadLetters
from shared.services.ports import Clock, Database, DeadLetterQueue, TakenDeadLetter, Transaction
from shared.telemetry import log_event

logger = logging.getLogger(__name__)

Handle = Callable[[Source, Incoming], None]
"""Handles a message as its trigger does, without holding it; raises what the use case raises."""

TIME = timedelta(seconds=100)
"""For one batch: below the lock of five minutes and the platform's 230 seconds for an answer."""

RECONCILIATION = Operator("reconciliation")

HANDLED = "It was handled again and has left the queue"
DISCARDED = "It was dropped from the queue"
INSIDE = "It failed inside the service; the log says why"
NOT_TRIED = "Not tried: the others took all the time that one batch has"
OUT_OF_REACH = "The {part} is out of reach; it was not handled to its end, which is safe to repeat"


@dataclass(frozen=True)
class Subscription:
    """A subscription of the service with its dead letters."""

    source: Source
    topic: str
    name: str
    dead_letters: DeadLetterQueue


class HandleDeadLetters:
    """Takes dead letters under lock; only what succeeds leaves the queue."""

    def __init__(self, explain: ExplainDeadLetters, database: Database, clock: Clock) -> None:
        self._explain = explain
        self._database = database
        self._clock = clock

    def __call__(
        self, place: Subscription, numbers: Collection[int], by: Operator, handle: Handle
    ) -> Sequence[Verdict]:
        """Handle them again, in the order of the queue; a verdict on each one that was there.

        A part that is out of reach ends the batch: the next ones need it too. Raises
        TransientError when none could be taken.
        """
        until = self._clock() + TIME
        verdicts: list[Verdict] = []
        stopped: tuple[str, str] | None = None
        with place.dead_letters.take(numbers) as taken:
            explanations = self._explain(place.source, [each.letter for each in taken])
            for each, explanation in zip(taken, explanations, strict=True):
                if self._clock() >= until:
                    stopped = stopped or ("not_tried", NOT_TRIED)
                act = _Act(place, each, explanation, by)
                code, text = stopped or self._try(act, handle)
                if code == "out_of_reach":
                    stopped = code, text
                verdicts.append(self._judge(act, code, text))
        return verdicts

    def discard(
        self, place: Subscription, numbers: Collection[int], by: Operator
    ) -> Sequence[Verdict]:
        """Drop them, each once that is written down. Raises TransientError."""
        verdicts = []
        with place.dead_letters.take(numbers) as taken:
            explanations = self._explain(place.source, [each.letter for each in taken])
            for each, explanation in zip(taken, explanations, strict=True):
                act = _Act(place, each, explanation, by)
                verdict = act.verdict(DeadLetterOutcome.DISCARDED, explanation.code, DISCARDED)
                self._write_down(act, verdict)
                each.complete()
                verdicts.append(verdict)
        return verdicts

    def _try(self, act: "_Act", handle: Handle) -> tuple[str, str]:
        """What came of it: the code `handled`, or that of its failure, and a text."""
        try:
            handle(act.place.source, act.letter.message)
            self._write_down(act, act.verdict(DeadLetterOutcome.HANDLED, "handled", HANDLED))
            act.taken.complete()
        except PermanentError as error:
            return error.code, str(error)
        except NotYetError as error:
            known = act.explanation.can_be_handled
            return "not_yet" if known else act.explanation.code, str(error)
        except TransientError as error:
            return "out_of_reach", OUT_OF_REACH.format(part=error.part)
        except Exception as error:  # one message must not stop the others
            trace = "".join(traceback.format_exception(error))
            log_event(logger, "Handling a dead letter failed", logging.ERROR, exception=trace)
            return "failed", INSIDE
        return "handled", HANDLED

    def _judge(self, act: "_Act", code: str, text: str) -> Verdict:
        if code == "handled":
            return act.verdict(DeadLetterOutcome.HANDLED, code, text)
        verdict = act.verdict(DeadLetterOutcome.KEPT, code, text)
        if act.by is not RECONCILIATION:  # which tries again every few minutes
            with suppress(TransientError):
                self._write_down(act, verdict)
        return verdict

    def _write_down(self, act: "_Act", verdict: Verdict) -> None:
        """One line in the log, and an event of each file that it names. Raises TransientError."""
        act.log(verdict)
        events = act.events(verdict, self._clock)

        def write(tx: Transaction) -> None:
            for event in events:
                tx.events.add(event)

        if events:
            self._database.run(write)


@dataclass(frozen=True)
class _Act:
    """What someone does with a dead letter."""

    place: Subscription
    taken: TakenDeadLetter
    explanation: Explanation
    by: Operator

    @property
    def letter(self) -> DeadLetter:
        return self.taken.letter

    def verdict(self, outcome: DeadLetterOutcome, code: str, text: str) -> Verdict:
        return Verdict(self.letter.sequence_number, outcome, code, text)

    def facts(self, verdict: Verdict) -> dict[str, Any]:
        facts = {
            "outcome": verdict.outcome.value,
            "code": verdict.code,
            "subscription": self.place.name,
            "sequenceNumber": self.letter.sequence_number,
            "messageId": self.letter.message_id,
            "reason": self.by.reason,
        }
        return {name: value for name, value in facts.items() if value is not None}

    def log(self, verdict: Verdict) -> None:
        log_event(
            logger,
            f"Dead letter {verdict.outcome}",
            source=self.by.source,
            actor=self.by.actor,
            jobId=self.explanation.job_id,
            fileIds=[str(file_id) for file_id in self.explanation.file_ids] or None,
            **self.facts(verdict),
        )

    def events(self, verdict: Verdict, clock: Clock) -> list[FileEvent]:
        return [
            FileEvent(
                file_id=file_id,
                at=clock(),
                kind=EventKind.DEAD_LETTER,
                source=self.by.source,
                job_id=self.explanation.job_id,
                request_id=self.explanation.request_id,
                actor=self.by.actor,
                detail=self.facts(verdict),
            )
            for file_id in self.explanation.file_ids
        ]

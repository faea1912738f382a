"""Everything that can happen to files and their jobs, in any order, with crashes in between."""

import sys
from collections.abc import Callable, Sequence
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from shared.contracts.incoming import Source
from shared.domain.extractor_calls import Answer
from shared.domain.jobs import JobStatus
from shared.services.cancel_job import Cancellation
from tests.unit.functions.any_order.bus import Waiting
from tests.unit.functions.any_order.calm import Extractor, calm_down
from tests.unit.functions.any_order.service import HASHES, PARTS, Service, Trouble
from tests.unit.services.world import BUSY, REFUSED, TAKEN

NOBODY = UUID(int=99)
"""The id of a job that never was."""
REFS = (HASHES[0], str(UUID(int=1)), str(UUID(int=2)), "unknown")
SECONDS = (1, 30, 150, 16 * 60, 61 * 60, 25 * 3600)

Place = st.integers(0, 9)
"""Which of the things that there are, counted from the newest."""
Troubles = st.one_of(st.none(), st.integers(1, 24), st.sampled_from(PARTS))
Reported = st.sampled_from([JobStatus.STARTED, JobStatus.SUCCEEDED, JobStatus.FAILED])
Ends = st.sampled_from([*JobStatus][1:])
Misfortune = (
    "orchestration lost",
    "orchestration lost",
    "message dead",
    "message dead",
    "extractor paused",
    "extractor gone",
)
Meanwhile = st.sampled_from(["", "again", "again", "report", "database", "cancel"])


class Storm(RuleBasedStateMachine):
    """Does everything to a service, and checks after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.service = Service()
        self.requests = 0

    def teardown(self) -> None:
        self.service.close()

    @initialize(well=st.integers(0, 12))
    def begin(self, well: int) -> None:
        """Files come in."""
        for file in self.service.files:
            self.service.accept(file)
        self._go_on_well(well)

    @invariant()
    def everything_fits_together(self) -> None:
        self.service.check()

    # What others send.

    @rule(place=Place, status=st.none() | Reported)
    def accept_or_report(self, place: int, status: JobStatus | None) -> None:
        if status:
            self.service.bus.report(self._some_job(place), status)
        else:
            self.service.accept(self.service.files[place % len(HASHES)])

    @rule(
        refs=st.lists(st.sampled_from(REFS), min_size=1, max_size=3),
        attempt=st.sampled_from([1, 1, 1, 4]),
        repeated=st.sampled_from([False, False, True]),
    )
    def ask(self, refs: list[str], attempt: int, repeated: bool) -> None:
        self.requests += not repeated
        document = {
            "requestId": f"r{self.requests}",
            "fileIds": refs,
            "retryAttempt": attempt,
            "maxRetries": 3,
            "clientApplicationId": self.service.files[0].client_application_id,
            "timestamp": self.service.world.now.isoformat(),
        }
        self.service.bus.put(Source.EXTRACTION_RETRY, document)

    @rule(place=Place, status=Ends, trouble=Troubles)
    def call_back_or_cancel(self, place: int, status: JobStatus, trouble: Trouble) -> None:
        job_id = self._some_job(place)
        if status is JobStatus.CANCELLED:
            self.service.cancel(job_id, trouble)
        else:
            self.service.report_by_callback(job_id, status, trouble)

    # What the platform does.

    @rule(
        well=st.integers(0, 6),
        place=Place,
        again=st.booleans(),
        answer=st.sampled_from([TAKEN, TAKEN, BUSY, REFUSED]),
        meanwhile=Meanwhile,
        status=Reported,
        trouble=Troubles,
    )
    def go_on(
        self,
        well: int,
        place: int,
        again: bool,
        answer: Answer,
        meanwhile: str,
        status: JobStatus,
        trouble: Trouble,
    ) -> None:
        """Some things go well, in the order in which they come; then one in another way."""
        self._go_on_well(well)
        due = self._due()
        thing = _from_newest(due, place) if due else None
        if isinstance(thing, UUID):
            self.service.work(thing, answer, self._meanwhile(meanwhile, thing, status), trouble)
        elif thing:
            self.service.deliver(thing, again, trouble)

    @rule(trouble=Troubles)
    def reconcile(self, trouble: Trouble) -> None:
        self.service.reconcile(trouble)

    @rule(well=st.integers(0, 30), trouble=Troubles)
    def purge_a_month_later(self, well: int, trouble: Trouble) -> None:
        self.service.let_pass(hours=1)
        self._go_on_well(well)
        self.service.let_pass(days=32)
        self.service.purge(trouble)

    # What goes on around.

    @rule(seconds=st.sampled_from(SECONDS))
    def let_pass(self, seconds: int) -> None:
        self.service.let_pass(seconds=seconds)

    @rule(what=st.sampled_from(Misfortune), place=Place)
    def misfortune(self, what: str, place: int) -> None:
        service = self.service
        if what == "orchestration lost" and service.hub.live():
            service.hub.fail(_from_newest(service.hub.live(), place))
        elif what == "message dead" and service.bus.waiting:
            service.bus.bury(_from_newest(service.bus.waiting, place))
        elif what == "extractor paused":
            service.pause_or_resume()
        elif what == "extractor gone":
            service.world.registered = [] if service.world.registered is None else None

    def _due(self) -> list[Waiting | UUID]:
        return [*map(UUID, self.service.hub.due()), *self.service.bus.due()]

    def _go_on_well(self, steps: int) -> None:
        for _ in range(steps):
            due = self._due()
            if not due:
                return
            if isinstance(due[0], UUID):
                self.service.work(due[0])
            else:
                self.service.deliver(due[0])

    def _meanwhile(self, what: str, job_id: UUID, status: JobStatus) -> Callable[[], object]:
        world, bus = self.service.world, self.service.bus
        return {
            "": lambda: None,
            "report": lambda: bus.deliver(bus.report(job_id, status)),
            "cancel": lambda: world.cancel_use_case(Cancellation(job_id, "wrong file", "ada")),
            "again": lambda: world.call_use_case(job_id),
            "database": lambda: world.down.add("database"),
        }[what]

    def _some_job(self, place: int) -> UUID:
        known = list(self.service.hub.all)
        return UUID(_from_newest(known, place)) if known and place < 9 else NOBODY


class StormAndCalm(Storm):
    """Afterwards all calms down, and an extractor of some behaviour ends what there is."""

    def __init__(self) -> None:
        super().__init__()
        self.extractor = Extractor.SUCCEEDS

    @initialize(extractor=st.sampled_from(Extractor))
    def choose(self, extractor: Extractor) -> None:
        self.extractor = extractor

    def teardown(self) -> None:
        try:
            if sys.exc_info()[0] is None:
                calm_down(self.service, self.extractor)
        finally:
            self.service.close()


def _from_newest[T](things: Sequence[T], place: int) -> T:
    return things[-1 - place % len(things)]

"""Two hosts work on one database and one broker: every job ends once, whoever hears of it.

In Azure both have one hub. Here each has its own, which is harder: the orchestration that a status
is to wake may be on the other host, and one job may have an orchestration on each.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import accumulate, chain
from uuid import UUID

import pytest

from local.demo.file_service import StoredFile
from shared.domain.extractor_health import FAILURES_TO_OPEN, FIRST_OPEN
from shared.domain.jobs import JobStatus
from tests.integration.two_hosts import TwoHosts, two_hosts
from tests.integration.whole_stack import wait_for

FILES = 24
SLOTS = 3
STARTED = JobStatus.STARTED

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoHosts]:
    with two_hosts(tmp_path_factory.mktemp("two-hosts")) as hosts:
        yield hosts


def test_files_that_both_hosts_take_each_end_once(hosts: TwoHosts) -> None:
    clients = [
        hosts.whole.client_with(f"{hosts.whole.extraction_url}?behaviour=instant")
        for _ in range(FILES // SLOTS)
    ]
    stored = [
        hosts.whole.submit(f"Invoice {number}".encode(), client=clients[number // SLOTS])
        for number in range(FILES)
    ]
    for each in stored:
        hosts.whole.services.files.announce(each.file_id)  # again, to whichever host
    ends = {hosts.whole.wait_for_end(each.job_id, 60).status for each in stored}

    assert ends == {JobStatus.SUCCEEDED}
    assert [len(hosts.whole.jobs_of(each.file_id)) for each in stored] == [1] * FILES
    assert called(hosts, stored) == FILES
    for name in hosts.names:
        assert ": File accepted {" in hosts.log_of(name)
        assert ": Job status received {" in hosts.log_of(name)


def test_orchestrations_that_the_other_host_should_have_woken_end_too(hosts: TwoHosts) -> None:
    client = hosts.whole.client_with(f"{hosts.whole.extraction_url}?behaviour=instant")
    stored = [hosts.whole.submit(f"Note {n}".encode(), client=client) for n in range(SLOTS)]
    job_ids = [each.job_id for each in stored]
    for job_id in job_ids:
        hosts.whole.wait_for_end(job_id, 60)

    hosts.reconcile()

    wait_for(lambda: not hosts.live(job_ids), 30)
    found = set(chain.from_iterable(hosts.orchestrations(job_ids)))
    assert found <= {"Completed", None}
    assert "Completed" in found


def test_together_they_give_an_extractor_no_more_than_it_may_have(hosts: TwoHosts) -> None:
    client = hosts.whole.client_with(f"{hosts.whole.extraction_url}?behaviour=busy=0.5")
    stored = [hosts.whole.submit(f"Letter {n}".encode(), client=client) for n in range(5)]
    jobs = [hosts.whole.wait_for_end(each.job_id, 60) for each in stored]

    calls = [hosts.whole.call(job.job_id) for job in jobs]
    spans = [(call.called_at, job.completed_at) for call, job in zip(calls, jobs, strict=True)]
    assert most_at_once(spans) <= SLOTS
    assert {job.status for job in jobs} == {JobStatus.SUCCEEDED}


def test_together_they_leave_an_extractor_alone_that_fails(hosts: TwoHosts) -> None:
    client = hosts.whole.client_with(f"{hosts.whole.extraction_url}?behaviour=status=503")
    first = [hosts.whole.submit(f"Memo {n}".encode(), client=client) for n in range(6)]
    wait_for(lambda: hosts.whole.health_of(client).open_until, 60)
    opened_at = datetime.now(UTC)

    later = [hosts.whole.submit(f"Memo {n}".encode(), client=client) for n in range(6)]
    wait_for(lambda: all(is_put_off(hosts, each.job_id) for each in later), 60)

    probes = (datetime.now(UTC) - opened_at) // FIRST_OPEN
    in_flight = SLOTS - 1
    assert called(hosts, first) <= FAILURES_TO_OPEN + in_flight + probes
    assert called(hosts, later) <= probes


def test_a_host_that_dies_amid_jobs_leaves_them_to_the_other(hosts: TwoHosts) -> None:
    client = hosts.whole.client_with(f"{hosts.whole.extraction_url}?behaviour=busy=3")
    stored = [hosts.whole.submit(f"Bill {n}".encode(), client=client) for n in range(SLOTS)]
    started = hosts.whole.wait_for_job(stored[0].job_id, lambda job: job.status is STARTED, 60)
    (row,) = hosts.orchestrations([started.job_id])
    dead = hosts.names[row.index("Running")]

    hosts.whole.stack.parts[dead].kill()
    ends = {hosts.whole.wait_for_end(each.job_id, 60).status for each in stored}
    hosts.whole.stack.parts[dead].start()
    hosts.reconcile()

    assert ends == {JobStatus.SUCCEEDED}
    assert called(hosts, stored) == SLOTS
    wait_for(lambda: not hosts.live([each.job_id for each in stored]), 30)


def test_passes_of_both_are_counted_together(hosts: TwoHosts) -> None:
    before = hosts.passes()[0]
    hosts.reconcile()
    wait_for(lambda: hosts.passes()[0] >= before + 2 and len(set(hosts.passes())) == 1)


def called(hosts: TwoHosts, stored: Sequence[StoredFile]) -> int:
    """How often the extractor was called for these, as it tells itself."""
    return sum(hosts.whole.calls_of(each.job_id)["called"] for each in stored)


def is_put_off(hosts: TwoHosts, job_id: UUID) -> bool:
    """Whether a job has been told to wait for its extractor."""
    job = hosts.whole.job(job_id)
    call = hosts.whole.call(job_id)
    return bool(job and call and call.due_at > job.created_at)


def most_at_once(spans: Sequence[tuple[datetime, datetime]]) -> int:
    """How many of these overlap at most."""
    changes = sorted(change for begin, end in spans for change in ((begin, 1), (end, -1)))
    return max(accumulate(change for _, change in changes))

"""The safeguards of the app, each with the patches that switch it off, and what aims at it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from local.demo.file_service import StoredFile
from shared.functions.names import ORCHESTRATION
from tests.chaos.app_copy import Patch
from tests.chaos.extractors import Wanted
from tests.chaos.sending import announce
from tests.chaos.sent import Sent, SentFile
from tests.chaos.stack import ChaosStack
from tests.chaos.statuses import Statuses
from tests.chaos.topics import Topics
from tests.integration.whole_stack import wait_for

WIDER = (
    Patch(
        "shared/functions/handling.py",
        "    await wake(client, recorded.job, recorded.due_at)\n",
        "    await asyncio.sleep(0.7)\n    await wake(client, recorded.job, recorded.due_at)\n",
    ),
    Patch(
        "shared/functions/handling.py",
        "async def _send_and_start(client: Any, job: Job) -> None:\n",
        "async def _send_and_start(client: Any, job: Job) -> None:\n    await asyncio.sleep(0.7)\n",
    ),
    Patch("shared/functions/reconcile.py", '"0 */5 * * * *"', '"0 0 0 1 1 *"'),
)
"""The moments that a kill must hit last longer, and reconciliation comes only when it is called."""


@dataclass
class Aim:
    """A stack under fire, and what was sent to it."""

    stack: ChaosStack
    topics: Topics
    sent: Sent = field(default_factory=Sent)

    @property
    def statuses(self) -> Statuses:
        return Statuses(self.topics, self.sent)

    def store(self, behaviour: str, count: int) -> Sequence[SentFile]:
        """Files, not announced yet, of a client whose extractor behaves so and needs no blobs."""
        whole = self.stack.whole
        client = whole.client_with(f"{whole.extraction_url}?behaviour={behaviour}")
        files = []
        for _ in range(count):
            stored = StoredFile(file_id := uuid4(), "note.txt", file_id.hex, f"{file_id}/note.txt")
            whole.services.files.add_row(stored, client)
            files.append(SentFile(stored, Wanted.SUCCEEDED))
        self.sent.files += files
        return files

    def send(self, behaviour: str, count: int) -> Sequence[SentFile]:
        """The same, announced."""
        files = self.store(behaviour, count)
        for file in files:
            announce(self.topics, file)
        return files

    def wait_for(self, files: Sequence[SentFile], count: int, condition: str) -> None:
        """Until so many of the files' jobs, with their calls, fit an SQL condition."""
        ids = ", ".join(f"'{file.job_id}'" for file in files)
        rows = self.stack.rows
        wait_for(lambda: rows.count(f"JobID IN ({ids}) AND ({condition})") >= count)

    def terminate(self, file: SentFile) -> None:
        """End the orchestration of a file's first job, and wait until it has."""
        whole = self.stack.whole
        wait_for(lambda: whole.orchestration(file.job_id))
        whole.durable("POST", f"instances/{file.job_id}/terminate", reason="chaos")
        whole.wait_for_orchestration(file.job_id)


@dataclass(frozen=True)
class Safeguard:
    """`attack` must do no harm while it is on, and without it leads to a finding that fits `finds`.

    `off` are the patches that switch it off.
    """

    name: str
    off: Sequence[Patch]
    attack: Callable[[Aim], None]
    finds: str


def report_after_the_end(aim: Aim) -> None:
    files = aim.send("instant", 4)
    aim.wait_for(files, 4, "CompletedAt IS NOT NULL")
    for file in files:
        aim.statuses.send_late(file.job_id, "Failed")


def kill_between_commit_and_send(aim: Aim) -> None:
    files = aim.send("instant", 12)
    aim.wait_for(files, 3, "TRUE")
    aim.stack.parts.kill("host")


def kill_between_commit_and_event(aim: Aim) -> None:
    files = aim.send("instant", 6)
    aim.wait_for(files, 2, "CompletedAt IS NOT NULL")
    aim.stack.parts.kill("host")


def start_again_amid_the_call(aim: Aim) -> None:
    files = aim.send("slow=1,instant", 3)
    aim.wait_for(files, 3, "LeaseUntil IS NOT NULL AND CalledAt IS NULL")
    for file in files:
        aim.terminate(file)
        job = str(file.job_id)
        aim.stack.start_orchestration(ORCHESTRATION, job, {"jobId": job})


def report_before_there_is_a_job(aim: Aim) -> None:
    files = aim.store("instant", 3)
    for file in files:
        aim.statuses.send_early(file.job_id)
    time.sleep(1)  # so much earlier
    for file in files:
        announce(aim.topics, file)


def lose_orchestrations(aim: Aim) -> None:
    """As a worker that dies does: it fails, for good, every orchestration that it was running."""
    files = aim.send("retry-after=4,instant", 3)
    aim.wait_for(files, 3, "Tries > 0")
    for file in files:
        aim.terminate(file)


SAFEGUARDS = (
    Safeguard(
        "guarded update",
        [
            Patch(
                "shared/adapters/database/jobs.py",
                ".where(table.c.JobID == job_id, table.c.Status.in_(sorted(allowed)))",
                ".where(table.c.JobID == job_id)",
            )
        ],
        report_after_the_end,
        r"^doubled: job .* ended 2 times",
    ),
    Safeguard(
        "outbox written in the transaction",
        [
            Patch(
                "shared/adapters/database/transactions.py",
                "                    return unit(SqlTransaction(connection, self._now))\n",
                "                    tx, late = SqlTransaction(connection, self._now), []\n"
                "                    tx.outbox.add = lambda *row: late.append(row)\n"
                "                    result = unit(tx)\n"
                "                time.sleep(0.7 if late else 0)\n"
                "                with self.engine.begin() as connection:\n"
                "                    for row in late:\n"
                "                        SqlTransaction(connection, self._now).outbox.add(*row)\n"
                "                return result\n",
            )
        ],
        kill_between_commit_and_send,
        r"^unheard: Queued of job .* was not announced",
    ),
    Safeguard(
        "event raised again",
        [
            Patch(
                "shared/services/record_report.py",
                "        change_job(tx, job, change, self._rules)\n",
                "        if not change_job(tx, job, change, self._rules):\n"
                "            return None\n",
            )
        ],
        kill_between_commit_and_event,
        r"^stuck: orchestration .* is live",
    ),
    Safeguard(
        "lease of a call",
        [
            Patch(
                "shared/adapters/database/calls.py",
                "                or_(table.c.LeaseUntil.is_(None), table.c.LeaseUntil < now),\n",
                "",
            ),
            Patch(
                "shared/domain/tracking.py",
                "    if call.lease_until and call.lease_until > now:\n"
                "        return again(call.lease_until)\n",
                "",
            ),
        ],
        start_again_amid_the_call,
        r"^doubled: job .* was called again",
    ),
    Safeguard(
        "holding",
        [
            Patch(
                "shared/functions/holding.py",
                "        except TransientError as error:\n"
                "            await waiting.pause(error, patience.held)\n"
                "        except NotYetError as error:\n"
                "            await waiting.pause(error, patience.not_yet)\n",
                "",
            )
        ],
        report_before_there_is_a_job,
        r"^dead-lettered: .*:Succeeded in ",
    ),
)

RECONCILIATION = Safeguard(
    "reconciliation",
    [
        Patch(
            "shared/functions/reconcile.py",
            "    mended: Counter[str] = Counter(await in_thread(app().reconcile.mend))\n",
            "    return\n",
        )
    ],
    lose_orchestrations,
    r"^stuck: job .* is Queued",
)

"""The check at the end. It knows what was sent and broken, and looks at what came of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.chaos.broker import BrokerView
from tests.chaos.call_log import read_calls
from tests.chaos.check_announcements import out_of_order, unheard
from tests.chaos.check_calls import check_calls
from tests.chaos.check_jobs import doubled_jobs, ended_twice, wrong_ends
from tests.chaos.sent import Sent
from tests.chaos.settling import Left, jobs_by_file
from tests.chaos.stack import ChaosStack


@dataclass(frozen=True)
class Findings:
    """What must be empty, each in words, and the calls that were repeated with a reason."""

    lost: Sequence[str]
    """Files without a job, retries that never came, messages that vanished, calls for no job."""
    doubled: Sequence[str]
    """Extracted, called or ended once more than was right."""
    stuck: Sequence[str]
    """Jobs, orchestrations, messages and retries that are not over."""
    unheard: Sequence[str]
    """Changes not announced, or announced in an order that is not legal."""
    dead_lettered: Sequence[str]
    """Messages in a dead-letter queue that were valid."""
    wrong: Sequence[str]
    """Files that came to another end than they had to."""
    calls_repeated: Counter[str] = field(default_factory=Counter)

    @property
    def clean(self) -> bool:
        return not any(self.kinds().values())

    def kinds(self) -> dict[str, Sequence[str]]:
        """What must be empty, by its name."""
        return {
            "lost": self.lost,
            "doubled": self.doubled,
            "stuck": self.stuck,
            "unheard": self.unheard,
            "dead-lettered": self.dead_lettered,
            "wrong": self.wrong,
        }

    def __str__(self) -> str:
        return "\n".join(
            f"{kind}: {each}" for kind, found in self.kinds().items() for each in found
        )


def check(stack: ChaosStack, sent: Sent, left: Left) -> Findings:
    """Judge a run that has settled, `left` being what did not."""
    rows = stack.rows
    jobs, history = rows.jobs(), rows.notes("status")
    by_file = jobs_by_file(jobs)
    calls = read_calls(stack.data)
    broker = BrokerView(stack.service_bus)
    announced, dead = broker.announcements(), broker.dead_letters()
    repeats = check_calls(calls, rows.notes("call"), stack.journal.failures, stack.timing)
    gone = sorted(calls.keys() - {job.job_id for job in jobs})
    vanished = sent.refused - {each.message_id for each in dead}
    return Findings(
        lost=[
            *left.lost,
            *_say("job {} was called and is gone", gone),
            *_say("message {} vanished", sorted(vanished)),
        ],
        doubled=[*doubled_jobs(by_file), *ended_twice(history), *repeats.doubled],
        stuck=left.stuck,
        unheard=[*unheard(jobs, history, announced), *out_of_order(announced, sent.early)],
        dead_lettered=[
            str(each) for each in dead if each.message_id not in sent.refused | sent.ghosts
        ],
        wrong=wrong_ends(sent.wanted(), by_file),
        calls_repeated=repeats.excused,
    )


def _say(text: str, each: Sequence[str]) -> list[str]:
    return [text.format(one) for one in each]

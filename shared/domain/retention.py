"""How long finished work is kept, and which messages are too old to be handled after that."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Retention:
    """`keep` is for how long; `removes_jobs`: whether rows of jobs and requests go then, too."""

    keep: timedelta
    removes_jobs: bool = False

    def is_old(self, moment: datetime, now: datetime) -> bool:
        """Whether what happened at `moment` is older than finished work is kept."""
        return now - moment > self.keep

    def may_be_forgotten(self, moment: datetime, now: datetime) -> bool:
        """Whether rows that answered something said at `moment` may have been removed since."""
        return self.removes_jobs and self.is_old(moment, now)

    def waited_too_long(self, what: str) -> str:
        """Why a message that was enqueued so long ago is refused."""
        return f"{what} waited longer than {self.keep.days} days and is refused"

    def said_too_long_ago(self, what: str) -> str:
        """Why a message that was made so long ago is refused, whenever it was enqueued."""
        return (
            f"{what} is older than {self.keep.days} days and is refused: what answered it then"
            " may have been removed"
        )

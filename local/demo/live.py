"""What the Status service hears, while it happens."""

from local.demo.console import say
from local.demo.status_service import Announcement


class LiveStatuses:
    """Prints what the Status service hears of jobs, once `shown` is set."""

    def __init__(self) -> None:
        self.shown = False

    def __call__(self, announcement: Announcement) -> None:
        if self.shown:
            reason = announcement.report.text
            say(
                f"{announcement.received_at.astimezone():%H:%M:%S}  job {announcement.job_id}"
                f"  {announcement.status}{f': {reason}' if reason else ''}"
            )

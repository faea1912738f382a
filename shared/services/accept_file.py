"""A file was accepted: make its job."""

from datetime import datetime

from shared.contracts.file_accepted import FileAccepted
from shared.domain.acceptance import satisfying_job
from shared.domain.errors import NotYetError, PermanentError
from shared.domain.jobs import Extractor, File, Job, first_job_id
from shared.services.job_changes import NewJob, add_job
from shared.services.job_rules import JobRules
from shared.services.ports import Clock, Database, RegistrationApi, Transaction

TOO_OLD = "message_too_old"


class AcceptFile:
    """Makes the job of an accepted file, or finds the one that already answers the message."""

    def __init__(
        self,
        database: Database,
        registration: RegistrationApi,
        rules: JobRules,
        clock: Clock,
    ) -> None:
        self._database = database
        self._registration = registration
        self._rules = rules
        self._clock = clock

    def __call__(self, message: FileAccepted, enqueued_at: datetime, trace_parent: str) -> Job:
        """The file's job, committed. Repeating is safe and gives the same job.

        Raises NotYetError while the file's row is missing, PermanentError `message_too_old` for a
        message older than finished work is kept, TransientError when a part is out of reach.
        """
        if self._rules.retention.is_old(enqueued_at, self._clock()):
            raise PermanentError(TOO_OLD, self._rules.retention.waited_too_long("FileAccepted"))
        file, jobs = self._database.run(
            lambda tx: (tx.files.get(message.FileID), tx.jobs.lock_of_file(message.FileID))
        )
        if file is None:
            raise NotYetError(f"File {message.FileID} has no row in [file].[File]")
        job_id = first_job_id(file.file_id, file.document_hash)
        answered = satisfying_job(jobs, job_id, enqueued_at)
        if answered:
            return answered
        if self._rules.retention.may_be_forgotten(message.Timestamp, self._clock()):
            raise PermanentError(TOO_OLD, self._rules.retention.said_too_long_ago("FileAccepted"))
        extractor = self._first_extractor(file)
        return self._database.run(
            lambda tx: self._decide(tx, file, extractor, enqueued_at, trace_parent)
        )

    def _first_extractor(self, file: File) -> Extractor | None:
        extractors = self._registration.extractors_of(file.client_application_id)
        return min(extractors, key=lambda extractor: extractor.extractor_id, default=None)

    def _decide(
        self,
        tx: Transaction,
        file: File,
        extractor: Extractor | None,
        enqueued_at: datetime,
        trace_parent: str,
    ) -> Job:
        jobs = tx.jobs.lock_of_file(file.file_id)
        job_id = first_job_id(file.file_id, file.document_hash)
        answered = satisfying_job(jobs, job_id, enqueued_at)
        if answered:
            return answered
        new = NewJob(
            job_id=job_id,
            file=file,
            extractor=extractor,
            attempt=len(jobs) + 1,
            at=self._clock(),
            trace_parent=trace_parent,
        )
        return add_job(tx, new, self._rules)

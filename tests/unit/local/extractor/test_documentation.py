"""`docs/extractors.md` says what the extractor does and what the service reads."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from local.extractor.behaviour import BEHAVIOURS
from local.extractor.jobs import Job
from local.extractor.reports import started
from shared.contracts.job_status import JobStarted, read_job_status

PAGE = (Path(__file__).parents[4] / "docs" / "extractors.md").read_text()
[ENVELOPE] = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)


def test_every_behaviour_is_described_in_the_words_of_the_program():
    table = PAGE.partition("| behaviour | what it does |")[2]
    rows = re.findall(r"^\| `([a-z-]+)(=[A-Z]+)?` \| (.*) \|$", table, re.MULTILINE)

    described = {name: f"{value}: {text}" if value else text for name, value, text in rows}
    assert described == {name: text for name, (_read, text) in BEHAVIOURS.items()}


def test_the_service_reads_the_envelope_shown():
    report = read_job_status(ENVELOPE.encode())

    assert report.message == JobStarted(
        JobID=UUID("0b8f9c3e-8f5e-5d0a-9a44-7f5a0e6f2c11"),
        Timestamp=datetime(2024, 1, 1, 12, 30, tzinfo=UTC),
    )


def test_the_envelope_shown_is_the_one_that_is_sent():
    shown = json.loads(ENVELOPE)
    job = Job(UUID(shown["subject"]), "", datetime.now(UTC))

    sent = started(job, datetime.fromisoformat(shown["time"])).envelope()

    assert shown == sent | {"source": "/extractors/your-name"}

"""`make jobs`."""

from datetime import timedelta

import pytest

from local.demo.jobs import main, newest_jobs, table
from local.demo.registrations import DEMO_EXTRACTOR, register_extractor
from shared.domain.jobs import JobStatus
from tests.unit.local.demo.conftest import NOW, Laptop


def test_jobs_are_listed_newest_first_with_file_duration_and_reason(laptop: Laptop) -> None:
    first, second = laptop.file("first.pdf"), laptop.file("second.pdf")
    laptop.job(first)
    laptop.job(second, at=NOW + timedelta(seconds=5))
    laptop.change(first, JobStatus.FAILED, seconds=1.25, message="The file is empty")

    heading, newest, oldest, reason = table(newest_jobs(laptop.settings))

    assert heading.split() == ["created", "job", "status", "took", "file"]
    assert newest.split()[2:] == [str(second.job_id), "Queued", "second.pdf"]
    assert oldest.split()[2:] == [str(first.job_id), "Failed", "1.25", "s", "first.pdf"]
    assert reason.strip() == "The file is empty"


def test_an_empty_database_is_said_so(laptop: Laptop) -> None:
    assert list(table(newest_jobs(laptop.settings))) == ["There are no jobs yet."]


def test_without_a_database_the_way_to_one_is_named(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = tmp_path_factory.mktemp("empty")
    monkeypatch.setenv("LOCAL_DATA", str(data))

    assert main() == 1

    assert capsys.readouterr().err == (
        f"make jobs: there is no database in {data} yet: start with `make run`\n"
    )


def test_registering_an_extractor_again_moves_it_to_its_address(laptop: Laptop) -> None:
    register_extractor(laptop.database, DEMO_EXTRACTOR, "demo-client", "http://127.0.0.1:2/e")
    register_extractor(laptop.database, DEMO_EXTRACTOR, "demo-client", "http://127.0.0.1:3/e")

    (extractor,) = laptop.database.run(lambda tx: tx.registrations.active("demo-client"))

    assert (extractor.extractor_id, extractor.extraction_url) == (1, "http://127.0.0.1:3/e")

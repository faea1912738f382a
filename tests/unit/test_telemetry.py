"""Log lines are one event with its facts; no secret is in them."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator

import pytest

from shared.telemetry import (
    log_context,
    log_event,
    quiet_libraries,
    redact,
    redact_all_logs,
    run_in_thread,
)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("https://a.blob/c/n?se=2026&sig=AbC%2Fd%3D&sp=r", "AbC%2Fd%3D"),
        ("https://a.blob/c/n?sig=AbC", "AbC"),
        ("Endpoint=sb://x;SharedAccessKeyName=Root;SharedAccessKey=k3y+/=;Use=true", "k3y+/="),
        ("POST https://extractor.example/extract?a=1&code=k3y&b=2", "k3y"),
        ("GET /v1/jobs?access_token=k3y", "k3y"),
        ("https://extractor.example/?api-key=k3y", "k3y"),
        ("AccountName=a;AccountKey=k3y==;Suffix=net", "k3y=="),
        ("Authorization: Bearer abc.def-ghi", "abc.def-ghi"),
        ("token eyJhbGciOi.eyJpc3M.c2ln was refused", "eyJhbGciOi.eyJpc3M.c2ln"),
        ("client_secret=s3cret&scope=x", "s3cret"),
        ("mssql://u@h?pwd=s3cret;x", "s3cret"),
    ],
)
def test_secrets_are_cut_out_and_the_rest_stays(text: str, secret: str) -> None:
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted]" in redacted
    assert redacted.split("[redacted]")[0] in text


def test_what_is_no_secret_stays_as_it_is() -> None:
    text = "SharedAccessKeyName=Root; job 11111111-2222 took 3 ms, design=4"
    assert redact(text) == text


def test_an_event_is_one_line_with_its_facts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log_event(logging.getLogger("x"), "Job ended", jobId="j", fileId=None, reason="a\nb")
    (line,) = caplog.messages
    event, facts = line.split(" {", 1)
    assert event == "Job ended"
    assert json.loads("{" + facts) == {"jobId": "j", "reason": "a\nb"}
    assert "\n" not in line


async def test_every_event_within_a_context_carries_its_facts_in_other_threads_too(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    logger = logging.getLogger("x")
    with log_context(requestId="r1", jobId=None), log_context(traceId="t1"):
        await asyncio.to_thread(log_event, logger, "Inside", jobId="j")
    log_event(logger, "Outside")
    assert caplog.messages == [
        'Inside {"requestId": "r1", "jobId": "j", "traceId": "t1"}',
        "Outside",
    ]


async def test_what_a_thread_logs_is_logged_by_the_task_that_started_it_and_in_order(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    logger = logging.getLogger("x")

    def work() -> int:
        log_event(logger, "First", jobId="j")
        log_event(logger, "Second", logging.WARNING)
        assert caplog.messages == []
        return threading.get_ident()

    with log_context(requestId="r"):
        elsewhere = await run_in_thread(work)
    assert caplog.messages == [
        'First {"requestId": "r", "jobId": "j"}',
        'Second {"requestId": "r"}',
    ]
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]
    assert {record.thread for record in caplog.records} == {threading.get_ident()} != {elsewhere}


async def test_what_a_thread_logged_before_it_failed_is_not_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)

    def fail() -> None:
        log_event(logging.getLogger("x"), "Before")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await run_in_thread(fail)
    assert caplog.messages == ["Before"]


async def test_a_step_that_a_thread_gives_back_to_the_loop_is_logged_by_the_first_task(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    logger, loop = logging.getLogger("x"), asyncio.get_running_loop()

    async def step() -> None:
        log_event(logger, "In the loop")
        await run_in_thread(lambda: log_event(logger, "In the inner thread"))
        assert caplog.messages == []

    await run_in_thread(lambda: asyncio.run_coroutine_threadsafe(step(), loop).result(10))
    assert caplog.messages == ["In the loop", "In the inner thread"]


def test_an_events_own_fact_goes_before_the_contexts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with log_context(requestId="http"):
        log_event(logging.getLogger("x"), "Restart sent", requestId="restart")
    assert caplog.messages == ['Restart sent {"requestId": "restart"}']


@pytest.fixture
def redacting() -> Iterator[None]:
    """Records are cleaned while the test runs."""
    before = logging.getLogRecordFactory()
    redact_all_logs()
    yield
    logging.setLogRecordFactory(before)


LINK = "https://a.blob/c/n?se=2026&sig=s3cret%2F&sp=r"


@pytest.mark.usefixtures("redacting")
@pytest.mark.parametrize(
    "say",
    [
        lambda logger: logger.warning("fetching " + LINK),
        lambda logger: logger.warning("fetching %s", LINK),
        lambda logger: logger.warning("fetching %(link)s", {"link": LINK}),
        lambda logger: log_event(logger, "Fetching", link=LINK),
    ],
    ids=["text", "argument", "named", "event"],
)
def test_no_logger_of_any_library_lets_a_secret_through(
    say: Callable[[logging.Logger], None], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    say(logging.getLogger("some.library"))
    assert "a.blob/c/n" in caplog.text
    assert "s3cret" not in caplog.text


@pytest.mark.usefixtures("redacting")
def test_exceptions_and_what_caused_them_are_cleaned_too(caplog: pytest.LogCaptureFixture) -> None:
    try:
        try:
            raise ValueError(f"cannot fetch {LINK}")
        except ValueError as error:
            raise RuntimeError("Endpoint=sb://x;SharedAccessKey=s3cret=;Use=1") from error
    except RuntimeError:
        logging.getLogger("some.library").exception("failed")
    assert "RuntimeError" in caplog.text
    assert "cannot fetch https://a.blob" in caplog.text
    assert "s3cret" not in caplog.text


def test_azures_libraries_do_not_tell_every_request(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    monkeypatch.setattr(logging.getLogger("azure"), "level", logging.NOTSET)
    quiet_libraries()
    client = logging.getLogger("azure.core.pipeline.policies.http_logging_policy")
    client.info("Request URL: …")
    client.warning("Request failed")
    assert caplog.messages == ["Request failed"]


@pytest.mark.usefixtures("redacting")
def test_cleaning_twice_is_cleaning_once() -> None:
    factory = logging.getLogRecordFactory()
    redact_all_logs()
    assert logging.getLogRecordFactory() is factory

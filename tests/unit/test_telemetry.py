"""Log lines are one event with its facts; no secret is in them."""

import asyncio
import json
import logging

import pytest

from shared.telemetry import log_context, log_event, redact


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("https://a.blob/c/n?se=2026&sig=AbC%2Fd%3D&sp=r", "AbC%2Fd%3D"),
        ("https://a.blob/c/n?sig=AbC", "AbC"),
        ("Endpoint=sb://x;SharedAccessKeyName=Root;SharedAccessKey=k3y+/=;Use=true", "k3y+/="),
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


def test_an_events_own_fact_goes_before_the_contexts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with log_context(requestId="http"):
        log_event(logging.getLogger("x"), "Restart sent", requestId="restart")
    assert caplog.messages == ['Restart sent {"requestId": "restart"}']

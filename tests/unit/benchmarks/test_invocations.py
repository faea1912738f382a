"""What the host's log tells of calls."""

from datetime import UTC, datetime

from benchmarks.invocations import invocations

LOG = """\
2024-01-31T09:59:59.999Z INFO Function.call: Executed 'Functions.call' (Succeeded, Id=1, Duration=7ms)
2024-01-31T10:00:00.500Z INFO Function.call: Executing 'Functions.call' (Reason='x', Id=2)
2024-01-31T10:00:01.000Z INFO Function.call: Executed 'Functions.call' (Succeeded, Id=2, Duration=20ms)
2024-01-31T10:00:02.000Z INFO Function.call: Executed 'Functions.call' (Failed, Id=3, Duration=1500ms)
2024-01-31T10:00:03.000Z INFO Function.extraction: Executed 'Functions.extraction' (Succeeded, Id=4, Duration=5ms)
    a line of a stack
"""  # noqa: E501


def test_every_call_that_ended_since_then_is_counted_with_its_time() -> None:
    since = datetime(2024, 1, 31, 10, tzinfo=UTC)

    assert invocations(LOG.splitlines(), since) == {"call": [0.02, 1.5], "extraction": [0.005]}

"""Timer triggers on a real host."""

import json
from pathlib import Path

from tests.contract.host.hosts import APPS, RunningHost, running_host
from tests.contract.host.raw_http import exchange
from tests.contract.waiting import wait_until

SETTINGS = {"CRON": "0 0 0 1 1 *", "AzureWebJobs.off.Disabled": "1"}


def start_by_hand(host: RunningHost, name: str, content_type: str = "application/json") -> int:
    """POST to the host's own path with the master key."""
    key = json.loads((host.data / "keys.json").read_text())["master"]
    headers = [("x-functions-key", key), ("Content-Type", content_type)]
    return exchange(host.port, "POST", f"/admin/functions/{name}", headers, b"{}").status


def test_timers_fire_when_due_at_start_and_by_hand(tmp_path: Path) -> None:
    with running_host(APPS / "timers", tmp_path, SETTINGS) as host:
        # One that runs on start-up, and one that is due every second
        host.wait_for_log("at_start fired, past due: False")
        host.wait_for_log("every_second fired, past due: False")

        # One that is started by hand
        assert "yearly fired" not in host.logged()
        assert start_by_hand(host, "yearly", "text/plain") == 415
        assert start_by_hand(host, "yearly") == 202
        host.wait_for_log("yearly fired, past due: False")

        # And one that is disabled
        assert "Function 'Functions.off' is disabled" in host.logged()
        assert start_by_hand(host, "off") == 404


def test_a_due_time_that_passed_while_the_host_was_down_fires_at_start(tmp_path: Path) -> None:
    # Given a timer whose next time passed while no host ran
    past = {"Last": "2001-01-01T00:00:00+00:00", "Next": "2002-01-01T00:00:00+00:00"}
    statuses = {"yearly": {**past, "LastUpdated": past["Last"]}}
    (tmp_path / "timers.json").write_text(json.dumps(statuses))

    # When a host starts
    with running_host(APPS / "timers", tmp_path, SETTINGS) as host:
        # Then it fires at once, and knows that it is late
        host.wait_for_log("yearly fired, past due: True")
        wait_until(
            lambda: json.loads((tmp_path / "timers.json").read_text())["yearly"]["Last"] > "2002"
        )


def test_with_a_clock_rate_minutes_pass_in_seconds(tmp_path: Path) -> None:
    # Given a timer for every ten minutes, and a clock that runs 600 times faster
    settings = {"CRON": "0 */10 * * * *", "LOCAL_CLOCK_RATE": "600"}

    # When a host runs, the timer fires within seconds
    with running_host(APPS / "timers", tmp_path, settings) as host:
        wait_until(lambda: host.logged().count("off fired") >= 2, seconds=10)

"""An engine that is killed at any moment, again and again."""

import json
import subprocess
import sys
from pathlib import Path

from tests.contract.durable.killed_engine import CHAINS, STEPS_A_ROUND

KILLS = 200


def test_two_hundred_kills_lose_and_repeat_no_completed_step(tmp_path: Path) -> None:
    # Given chains of activities, timers and children on an engine that is killed 200 times
    command = [sys.executable, "-m", "tests.contract.durable.killed_engine"]
    played = subprocess.run(
        [*command, str(tmp_path), str(KILLS)], stdout=subprocess.PIPE, check=True
    )
    seen = json.loads(played.stdout)
    assert seen["unfinished at the last kill"] == CHAINS

    # When it is left alone at last, everything comes to its end
    assert seen["last life ended by itself"]

    # Then every step has been done, and every chain has all of its results
    steps = 0
    for status, (rounds, total) in seen["outputs"].values():
        assert status == "Completed"
        assert total == sum(range(rounds * STEPS_A_ROUND)) + sum(range(rounds))
        steps += rounds * (STEPS_A_ROUND + 1)
    assert len(seen["outputs"]) == CHAINS
    assert seen["steps"] == steps

    # And no step was called again once its answer was stored
    assert seen["repeated"] == []

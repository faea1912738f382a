"""An engine that is killed again and again at any moment, and what became of its work.

A process of its own, since it forks: everything is imported once, and each life of the engine is a
fork that SIGKILL ends. Arguments: a folder, the number of kills. Prints a JSON document.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
import sqlite3
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import azure.durable_functions as df

from local.durable.engine import DurableEngine, DurableOptions
from local.durable.instances import WrongStatus
from tests.contract.durable.library import LibraryFunctions
from tests.until import until

CHAINS = 4
STEPS_A_ROUND = 8
OPTIONS = DurableOptions("Killed", 20, 20, timedelta(seconds=0.05))
LONGEST_LIFE_SECONDS = 0.07
LAST_LIFE_SECONDS = 40
TASK_COMPLETED = 5
PEACE = "peace"
"""A file that tells the chains that there will be no more kills."""

type Step = tuple[str, int]


def chain(context: df.DurableOrchestrationContext) -> Any:
    """Rounds of steps, a timer and a child, until the killing is over.

    Answers how many rounds there were, and the sum of what all steps returned.
    """
    round, total = context.get_input()
    for number in range(STEPS_A_ROUND):
        step = round * STEPS_A_ROUND + number
        _, result = yield context.call_activity("step", [context.instance_id, step])
        total += result
    yield context.create_timer(context.current_utc_datetime)
    total += yield context.call_sub_orchestrator("child", [f"{context.instance_id} child", round])
    if (yield context.call_activity("killing_goes_on")):
        context.continue_as_new([round + 1, total])
    return [round + 1, total]


def child(context: df.DurableOrchestrationContext) -> Any:
    _, result = yield context.call_activity("step", context.get_input())
    return result


class Steps:
    """The activity; it writes down every call."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "calls.txt"

    async def step(self, step: list[Any]) -> list[Any]:
        """A short piece of work."""
        with self._path.open("a") as file:
            file.write(json.dumps(step) + "\n")
        await asyncio.sleep(random.random() / 200)
        return step

    def killing_goes_on(self, _: None) -> bool:
        return not (self._folder / PEACE).exists()

    def calls(self) -> list[Step]:
        """All calls so far, in their order."""
        if not self._path.exists():
            return []
        return [(id, step) for id, step in map(json.loads, self._path.read_text().splitlines())]


async def live(folder: Path) -> None:
    """One life of the engine: start what is not started, and go on until everything is over."""
    steps = Steps(folder)
    functions = LibraryFunctions([chain, child], [steps.step, steps.killing_goes_on])
    engine = DurableEngine(folder / "hub.db", functions, OPTIONS)
    await engine.start()
    ids = [f"chain-{number}" for number in range(CHAINS)]
    for id in ids:
        if not (folder / id).exists():
            with contextlib.suppress(WrongStatus):  # started, and killed before it was noted
                engine.instances.start("chain", id, json.dumps(json.dumps([0, 0])))
        (folder / id).touch()
    await until(
        lambda: all(engine.instances.find(id).status.is_final for id in ids), LAST_LIFE_SECONDS
    )
    await engine.stop()


def fork(folder: Path) -> int:
    """A new life; answers its process id."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            asyncio.run(live(folder))
            status = 0
        finally:
            os._exit(status)
    return process


def completed(folder: Path) -> set[Step]:
    """The steps whose answers stand in the store, and those of rounds that are over."""
    if not (folder / "hub.db").exists():
        return set()
    store = sqlite3.connect(folder / "hub.db")
    try:
        rows = store.execute("SELECT event FROM history UNION ALL SELECT event FROM inbox")
        events = [json.loads(event) for (event,) in rows]
    except sqlite3.OperationalError:
        return set()  # killed before the tables were made
    finally:
        store.close()
    completed = [event for event in events if event["EventType"] == TASK_COMPLETED]
    answers = [json.loads(event["Result"]) for event in completed]
    return {(id, step) for id, step in filter(_of_a_step, answers)}


def _of_a_step(answer: Any) -> bool:
    return isinstance(answer, list)  # the other activity answers yes or no


def outputs(folder: Path) -> dict[str, Any]:
    store = sqlite3.connect(folder / "hub.db")
    rows = store.execute("SELECT instance_id, status, output FROM instances WHERE name = 'chain'")
    found = {id: [status, json.loads(output or "null")] for id, status, output in rows}
    store.close()
    return found


def main(folder: Path, kills: int) -> dict[str, Any]:
    dice = random.Random(1)  # the moments differ all the same: the machine decides
    steps, done, seen, repeated = Steps(folder), set[Step](), 0, list[Step]()
    for _ in range(kills):
        process = fork(folder)
        time.sleep(dice.random() * LONGEST_LIFE_SECONDS)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        calls = steps.calls()
        repeated += [step for step in calls[seen:] if step in done]
        seen = len(calls)
        done |= completed(folder)
    (folder / PEACE).touch()
    unfinished = sum(status == "Running" for status, _ in outputs(folder).values())
    ended = _wait(fork(folder))
    repeated += [step for step in steps.calls()[seen:] if step in done]
    return {
        "unfinished at the last kill": unfinished,
        "last life ended by itself": ended,
        "repeated": repeated,
        "steps": len(set(steps.calls())),
        "outputs": outputs(folder),
    }


def _wait(process: int) -> bool:
    deadline = time.monotonic() + LAST_LIFE_SECONDS
    while time.monotonic() < deadline:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.02)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return False


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), int(sys.argv[2])), sys.stdout)

"""The order of the probe's steps."""

import time
from collections.abc import Callable
from typing import TypeVar

from infra.probe import demo_file
from infra.probe.api import Answer, Api
from infra.probe.connections import Connections
from infra.probe.demo_file import DemoFile
from infra.probe.report import ProbeFailedError, Tell, step
from infra.probe.settings import ProbeSettings

POLL_SECONDS = 1.0
NO_EXTRACTOR = "deployment-probe"
"""A path that the app does not have: it answers 404, and a job that calls it must fail."""

T = TypeVar("T")


def run(settings: ProbeSettings, connections: Connections, api: Api) -> None:
    """Send one file through and follow it to its end. Raises ProbeFailedError at what fails."""
    look_at_app(settings, api)
    if settings.ONLY_LOOK:
        with step("no file is sent") as tell:
            tell("on_file_accepted is switched off")
        return
    demo = demo_file.new_file(settings.CLIENT)
    with step("old probes removed") as tell:
        forgotten = demo_file.remove_forgotten(connections.engine, connections.container)
        tell(f"{forgotten} files")
    try:
        seed(settings, connections, demo)
        follow(settings, api, demo)
    finally:
        with step("seeded rows removed"):
            demo_file.remove(connections.engine, connections.container, demo)


def look_at_app(settings: ProbeSettings, api: Api) -> None:
    """It is the version that was deployed, it reaches what it needs, and it accepts our token."""
    with step("app is live") as tell:
        live = wait(settings, lambda: _right_version(settings, api.live()), "the deployed version")
        tell(f"version {live['version']}, commit {live['commit']}")
    with step("parts are ready") as tell:
        ready = wait(settings, lambda: _all_up(api.ready()), "all parts", lambda: _down(api))
        tell(", ".join(ready["parts"]))
    with step("API accepts us"):
        api.jobs(demo_file.new_file(None).file_id)


def seed(settings: ProbeSettings, connections: Connections, demo: DemoFile) -> None:
    """The blob, the registration, the row, and last the message that starts it all."""
    with step("blob uploaded") as tell:
        demo_file.upload(connections.container, demo)
        tell(f"{settings.BLOB_CONTAINER}/{demo.blob_name}")
    with step("rows written") as tell:
        if not settings.CLIENT:
            refusing = f"{settings.URL.rstrip('/')}/{NO_EXTRACTOR}"
            demo_file.register(connections.engine, demo, settings.EXTRACTOR_URL or refusing)
        demo_file.add_row(connections.engine, demo, settings.BLOB_CONTAINER)
        tell(f"file {demo.file_id} of client {demo.client}")
    with step("FileAccepted sent") as tell:
        demo_file.announce(connections.bus, settings.TOPIC_ACCEPTED_FILE, demo)
        tell(settings.TOPIC_ACCEPTED_FILE)


def follow(settings: ProbeSettings, api: Api, demo: DemoFile) -> None:
    """Its job is made, ends as it must, and the file's timeline tells of it."""
    with step("job made") as tell:
        wait(settings, lambda: api.job(demo.job_id), "a job")
        tell(f"job {demo.job_id}")
    with step("job ended") as tell:
        job = wait(settings, lambda: _ended(api.job(demo.job_id)), "the job's end")
        _check_end(settings, job, tell)
    with step("timeline told") as tell:
        kinds = [event["kind"] for event in api.timeline(demo.file_id)]
        if not {"accepted", "call", "status"} <= set(kinds):
            raise ProbeFailedError(f"the timeline holds only: {', '.join(kinds) or 'nothing'}")
        tell(", ".join(kinds))


def wait(
    settings: ProbeSettings,
    look: Callable[[], T | None],
    what: str,
    why: Callable[[], str] = lambda: "",
) -> T:
    """What `look` gives as soon as it gives something."""
    deadline = time.monotonic() + settings.PATIENCE_SECONDS
    while (found := look()) is None:
        if time.monotonic() > deadline:
            raise ProbeFailedError(f"{what} did not come in {settings.PATIENCE_SECONDS:g} s{why()}")
        time.sleep(min(POLL_SECONDS, settings.PATIENCE_SECONDS / 10))
    return found


def _right_version(settings: ProbeSettings, live: Answer | None) -> Answer | None:
    wanted = {"version": settings.VERSION, "commit": settings.COMMIT}
    if live is None or any(value and live.get(name) != value for name, value in wanted.items()):
        return None
    return live


def _all_up(ready: Answer | None) -> Answer | None:
    return ready if ready and ready.get("status") == "ready" else None


def _down(api: Api) -> str:
    down = (api.ready() or {}).get("down") or ["the app does not answer"]
    return f"; down: {', '.join(down)}"


def _ended(job: Answer | None) -> Answer | None:
    return job if job and job["status"] not in {"Queued", "Started"} else None


def _check_end(settings: ProbeSettings, job: Answer, tell: Tell) -> None:
    """Without an extractor the app answers its own call with 404: that end is the right one."""
    message = job.get("message") or ""
    if settings.must_succeed and job["status"] != "Succeeded":
        raise ProbeFailedError(f"{job['status']}: {message}")
    if not settings.must_succeed and not (job["status"] == "Failed" and "404" in message):
        raise ProbeFailedError(f"{job['status']} instead of refused with 404: {message}")
    tell(job["status"] if settings.must_succeed else f"refused as it must be: {message}")

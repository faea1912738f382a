"""The commands in `docs/operations/` do what the pages say: each is run on the local stack.

A block marked "bash run" is run, and a block of JSON or text right behind it is its answer, but for
ids, times and what the page leaves out. `$JOB_ID` is the `jobId` of an earlier answer. A block that
only reads is read again until its answer fits, as a person does.
"""

import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from local.identity.claims import Issuer, user_claims
from local.identity.keys import sign
from local.settings import DEFAULT_PORTS, HOST, LocalSettings
from local.supervisor.environment import AUDIENCE, extraction_url, host_url, identity_url
from tests.answers import MisfitError, fit, ids
from tests.integration.operations_situations import SITUATIONS
from tests.integration.whole_stack import WholeStack
from tests.pages import DOCS, Block, blocks, section_of
from tests.terminal import Terminal

# The SDK leaves the sockets of connections that broke to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.timeout(300),  # a course of an hour, each command a process of its own
]

OPERATIONS = DOCS / "operations"
RUN, ANSWERS = "bash run", {"json", "text"}
SHELL = "call() {"
PATIENCE_SECONDS = 45.0

IN_PARTS = ("runbook.md", "restore.md")
"""Pages whose sections are read each for itself; the others from beginning to end."""


@dataclass(frozen=True)
class Step:
    """Commands, where they stand, and the answer that the page shows."""

    commands: str
    place: str
    answer: str | None

    @property
    def only_reads(self) -> bool:
        return all(line.startswith("get ") for line in self.commands.splitlines())


def steps_of(name: str) -> list[tuple[str, Step]]:
    """The runnable steps of a page, each with the section it stands in."""
    page = OPERATIONS / name
    found = blocks(page)
    return [
        (
            section_of(page, block.line),
            Step(
                block.text.strip(), f"{name}:{block.line}", _answer(block, found[at + 1 : at + 2])
            ),
        )
        for at, block in enumerate(found)
        if block.info == RUN
    ]


def _answer(commands: Block, following: list[Block]) -> str | None:
    shown = (each for each in following if each.info in ANSWERS and commands.is_right_before(each))
    return next((each.text for each in shown), None)


def courses() -> Iterator[str]:
    """What is run from a clean start: a page, or one of its sections."""
    for page in sorted(OPERATIONS.glob("*.md")):
        sections = dict.fromkeys(section for section, _ in steps_of(page.name))
        if page.name in IN_PARTS:
            yield from (f"{page.name}#{section}" for section in sections)
        elif sections:
            yield page.name


def as_run_here(commands: str, settings: LocalSettings, ports: Sequence[int]) -> str:
    """The defaults of a laptop, replaced by those of the stack under test, and by free ports."""
    for usual, here in {
        "8080": str(ports[0]),
        "8081": str(ports[1]),
        "127.0.0.1:5672": f"127.0.0.1:{settings.servicebus_port}",
        ".venv/bin/python": sys.executable,
        "--data .local": f"--data '{settings.data}'",
        "http://127.0.0.1:7071": host_url(settings),
        "http://127.0.0.1:7082/extract": extraction_url(settings),
    }.items():
        commands = commands.replace(usual, here)
    return commands


def free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((HOST, 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def token(settings: LocalSettings) -> str:
    claims = user_claims(
        Issuer(identity_url(settings)),
        audience=AUDIENCE,
        client_id="local-console",
        email="operator@example.com",
        scopes=["EXTRACTED_ENTITIES_WRITE"],
        roles=["Administrator"],
    )
    return sign(settings.data, claims)


def environment(settings: LocalSettings) -> Mapping[str, str]:
    ports = {
        name: str(getattr(settings, name.removeprefix("LOCAL_").lower())) for name in DEFAULT_PORTS
    }
    loopback = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    return {
        **ports,
        **loopback,
        "LOCAL_DATA": str(settings.data),
        "URL": host_url(settings),
        "TOKEN": token(settings),
    }


def take(terminal: Terminal, commands: str, step: Step) -> dict[str, str]:
    """Run a step until its answer is the page's; the ids in the answer."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        printed = terminal.run(commands)
        try:
            return fit(step.answer, printed) if step.answer else ids(printed)
        except MisfitError as misfit:
            if not step.only_reads or time.monotonic() > deadline:
                raise AssertionError(f"{step.place}: {misfit}\n{printed}") from None
        time.sleep(0.05)


@pytest.mark.parametrize("course", list(courses()))
def test_the_commands_do_what_the_page_says(course: str, stack: WholeStack) -> None:
    name, _, section = course.partition("#")
    settings = stack.stack.settings
    prepare: Callable[[WholeStack], dict[str, str]] | None = SITUATIONS.get(course)
    known = prepare(stack) if prepare else {}
    ports = free_ports(2)
    shell = next(step for _, step in steps_of("README.md") if step.commands.startswith(SHELL))
    with Terminal({**environment(settings), **known}) as terminal:
        terminal.run(shell.commands)
        for place, step in steps_of(name):
            if section in {"", place}:
                commands = as_run_here(step.commands, settings, ports)
                for variable, value in take(terminal, commands, step).items():
                    terminal.run(f"{variable}='{value}'")

"""A stack that runs, until Ctrl-C."""

import signal

from local.demo.console import say
from local.demo.next_steps import next_steps
from local.supervisor.stack import Stack


def stay(stack: Stack) -> None:
    """Say what can be done, and wait for Ctrl-C."""
    say()
    addresses = {name: process.part.address for name, process in stack.parts.items()}
    for line in next_steps(stack.settings, addresses):
        say(line)
    say()
    try:
        while True:
            signal.pause()
    except KeyboardInterrupt:
        say("\nStopping.")
        stack.stop()  # first of all, the connections to it afterwards

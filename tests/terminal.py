"""A terminal as a person has it: one bash for all commands, what they set stays set."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from tests.pages import ROOT

_DONE = "--- done ---"


class CommandFailedError(AssertionError):
    """A command failed or did not end. The text holds the commands and what they printed."""


class Terminal:
    """A bash in the repository that ends with the first command that fails."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._bash = subprocess.Popen(
            ["bash", "--norc", "--noprofile"],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.run("set -euo pipefail")

    def run(self, commands: str, seconds: float = 60) -> str:
        """What the commands print. Raises CommandFailedError."""
        assert self._bash.stdin
        self._bash.stdin.write(f"{commands}\nprintf '\\n{_DONE}\\n'\n".encode())
        self._bash.stdin.flush()
        printed = self._read(time.monotonic() + seconds)
        if not printed.endswith(f"\n{_DONE}\n"):
            raise CommandFailedError(f"{commands}\nfailed after printing\n{printed}")
        return printed.removesuffix(f"\n{_DONE}\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # With what it runs in the background.
        os.killpg(self._bash.pid, signal.SIGKILL)
        self._bash.communicate()

    def _read(self, deadline: float) -> str:
        """Up to the mark, or whatever came until the bash ended or the time was over."""
        assert self._bash.stdout
        printed = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._bash.stdout, selectors.EVENT_READ)
            while not printed.endswith(f"{_DONE}\n".encode()):
                if not selector.select(max(deadline - time.monotonic(), 0)):
                    break
                chunk = os.read(self._bash.stdout.fileno(), 65536)
                if not chunk:
                    break
                printed += chunk
        return printed.decode()

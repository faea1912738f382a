"""Azurite, the emulator of Blob Storage, as a process of its own."""

import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.contract.certificates import SelfSigned
from tests.contract.waiting import wait_until

SCRIPT = Path(__file__).parents[3] / "node_modules/azurite/dist/src/blob/main.js"
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""Azurite's published account and key: no secret."""


@dataclass(frozen=True)
class Azurite:
    """A running Azurite; over https it takes identities too, and `certificate` is its own."""

    account_url: str
    certificate: SelfSigned | None = None

    @property
    def trusted(self) -> str | bool:
        """What clients are to verify its certificate with."""
        return str(self.certificate.certificate) if self.certificate else True


@contextmanager
def running_azurite(data: Path, certificate: SelfSigned | None = None) -> Iterator[Azurite]:
    """Run Azurite on a free port until the block ends, over https when given a certificate."""
    port = _free_port()
    # Started with node itself: what npx starts would live on when it is killed.
    command = ["node", str(SCRIPT), "--blobHost", "127.0.0.1", "--blobPort", str(port)]
    command += ["--location", str(data), "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    if certificate:
        command += ["--cert", str(certificate.certificate), "--key", str(certificate.key)]
        command += ["--oauth", "basic"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=data) as process:
        try:
            wait_until(lambda: _accepts(port), seconds=30)
            scheme = "https" if certificate else "http"
            yield Azurite(f"{scheme}://127.0.0.1:{port}/{ACCOUNT}", certificate)
        finally:
            process.kill()


def _free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port: int = free.getsockname()[1]
        return port


def _accepts(port: int) -> bool:
    with closing(socket.socket()) as attempt:
        return attempt.connect_ex(("127.0.0.1", port)) == 0

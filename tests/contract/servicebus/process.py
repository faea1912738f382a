"""The broker as a process of its own."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path


def config(**subscription: object) -> dict[str, object]:
    return {
        "UserConfig": {
            "Namespaces": [
                {
                    "Name": "n",
                    "Topics": [
                        {
                            "Name": "jobs",
                            "Subscriptions": [{"Name": "sub", "Properties": subscription}],
                        }
                    ],
                }
            ]
        }
    }


class Process:
    """`python -m local.servicebus` on a folder; `start` waits for its ready line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = 0
        self.configure(config())

    def configure(self, document: object) -> None:
        (self.folder / "config.json").write_text(json.dumps(document))

    def spawn(self) -> None:
        command = [sys.executable, "-m", "local.servicebus", "--port", str(self.port)]
        command += ["--config", str(self.folder / "config.json")]
        command += ["--data", str(self.folder / "data")]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def start(self) -> None:
        self.spawn()
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("ready servicebus 127.0.0.1:"), line
        self.port = int(line.rsplit(":", 1)[1])

    def end(self, number: signal.Signals) -> float:
        """Send a signal; answers the seconds until the process was gone."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(10)
        self.close()
        return time.monotonic() - began

    def close(self) -> str:
        """Make sure that it is gone; answers what it wrote to its error stream."""
        self.process.kill()
        return self.process.communicate()[1]

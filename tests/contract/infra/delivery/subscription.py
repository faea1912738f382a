"""The scripts under test, on a machine where az, bicep and Python are stand-ins."""

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[4]
HERE = Path(__file__).parent
PACKAGE = "extractor-1.2.3-0123456789ab.zip"
PROVIDERS = [
    *("Microsoft.App", "Microsoft.Web", "Microsoft.ServiceBus", "Microsoft.Sql"),
    *("Microsoft.KeyVault", "Microsoft.Storage", "Microsoft.Network", "microsoft.insights"),
    *("Microsoft.OperationalInsights", "Microsoft.ManagedIdentity"),
]

# Records what of this repository is run, and answers for what needs a real database or app.
PYTHON = """#!/bin/bash
case "$*" in
  "-m infra.database"*|"-m infra.probe"*|"-m alembic"*)
    printf '%s\\n' "$*" >>"$AZ_FOLDER/python.txt"
    env | grep -E '^(PROBE_|DATABASE_URL)' | sort >"$AZ_FOLDER/environment-$2.txt" || true
    if [[ -n ${PYTHON_FAIL:-} && "$*" == *"$PYTHON_FAIL"* ]]; then
      echo 'the database refuses' >&2; exit 1
    fi
    if [[ "$*" == *reach && -n ${FIREWALL:-} && ! -s "$AZ_FOLDER/let-in" ]]; then
      echo 203.0.113.7; echo yes >"$AZ_FOLDER/let-in"; exit 3
    fi
    [[ "$*" != *revision ]] || echo 0003 ;;
  *) exec REAL "$@" ;;
esac
"""
BICEP = """#!/bin/bash
cat "$AZ_FOLDER/parameters.json"
"""


@dataclass
class Run:
    """What became of a script."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


@dataclass
class Azure:
    """A subscription that the scripts change, and what they did in it."""

    folder: Path
    variables: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        (self.folder / "bin").mkdir(parents=True)
        source = (HERE / "stand_in_az.py").read_text()
        self._program("az", f"#!{sys.executable} -SE\n{source}")
        self._program("python", PYTHON.replace("REAL", sys.executable))
        self._program("bicep", BICEP)
        self.set_parameters()
        self.set_state(providers="\n".join(PROVIDERS))
        self.package.write_bytes(b"a package")

    @property
    def package(self) -> Path:
        return self.folder / PACKAGE

    def run(self, script: str, *arguments: str, answers: str = "", **variables: str) -> Run:
        """Run `infra/<script>` from the folder, with `answers` typed in."""
        done = subprocess.run(
            [ROOT / "infra" / script, *arguments],
            cwd=self.folder,
            env=self._environment() | self.variables | variables,
            input=answers,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def deploy(self, *arguments: str, **variables: str) -> Run:
        """`infra/deploy.sh dev` with a package that is built already."""
        usual = ("dev", "--yes", "--location", "westeurope", "--package", PACKAGE)
        return self.run("deploy.sh", *usual, *arguments, **variables)

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each az, in their order."""
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def steps(self) -> list[str]:
        """Each az as one line."""
        return [" ".join(call) for call in self.calls]

    @property
    def pythons(self) -> list[str]:
        """Each module of this repository that was run in place of a real one."""
        path = self.folder / "python.txt"
        return path.read_text().splitlines() if path.exists() else []

    def environment_of(self, module: str) -> str:
        """What a module was told."""
        return (self.folder / f"environment-{module}.txt").read_text()

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.folder / "state.json").read_text())
        return state

    def set_state(self, **changes: Any) -> None:
        path = self.folder / "state.json"
        fresh = {"group": None, "deployed": False, "keys": None}
        fresh |= {"blobs": {}, "settings": {}, "rules": []}
        state = json.loads(path.read_text()) if path.exists() else fresh
        path.write_text(json.dumps(state | changes))

    def set_parameters(self, **values: Any) -> None:
        parameters = {name: {"value": value} for name, value in values.items()}
        document = {"parametersJson": json.dumps({"parameters": parameters}), "templateJson": "{}"}
        (self.folder / "parameters.json").write_text(json.dumps(document))

    def serve(self, **told: str) -> None:
        """Let curl get this from the app that runs."""
        self._program("curl", f"#!/bin/sh\necho '{json.dumps(told)}'\n")

    def _program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def _environment(self) -> dict[str, str]:
        tools = {name: shutil.which(name) for name in ("git", "openssl", "bash")}
        folders = {str(Path(path).parent) for path in tools.values() if path}
        return {
            "PATH": os.pathsep.join(
                [str(self.folder / "bin"), *sorted(folders), "/usr/bin", "/bin"]
            ),
            "HOME": str(self.folder),
            "PYTHON": str(self.folder / "bin" / "python"),
            "AZ_FOLDER": str(self.folder),
            "TMPDIR": str(self.folder),
            "WAIT_SECONDS": "0",
        }


def head() -> str:
    """The commit that is checked out, as short as packages have it."""
    git = ["git", "rev-parse", "--short=12", "HEAD"]
    return subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def shown(run: Run) -> list[list[str]]:
    """The commands that a dry run has shown."""
    lines = run.text.splitlines()
    return [shlex.split(line.strip()[2:]) for line in lines if line.startswith("  $ ")]

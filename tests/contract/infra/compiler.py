"""The Bicep compiler, as the tests and `make snapshots` use it."""

import itertools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

INFRA = Path(__file__).parents[3] / "infra"
PARAMETERS = INFRA / "environments"
ENVIRONMENTS = ("dev", "qa", "uat", "prod")
TENANT = "00000000-0000-0000-0000-00000000000a"
SUBSCRIPTION = "00000000-0000-0000-0000-00000000000b"
LOCATION = "westeurope"

MISSING = (
    "There is no Bicep compiler: neither `bicep` on the PATH, nor what `az bicep install` puts"
)
SECONDS = 90

Prediction = dict[str, Any]
"""What a deployment would hold: `predictedResources` with their values, and `outputs`."""


class CompilerError(Exception):
    """The compiler found fault. The text is what it said."""


def find_compiler() -> str | None:
    """Where the compiler is, or None."""
    installed = Path.home() / ".azure" / "bin" / "bicep"
    return shutil.which("bicep") or (str(installed) if installed.exists() else None)


def compile_quietly(*arguments: str) -> str:
    """Run the compiler and return what it prints. Raises CompilerError for the least warning."""
    done = subprocess.run(
        [find_compiler() or "bicep", *arguments],
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode or done.stderr.strip():
        raise CompilerError(done.stderr or done.stdout)
    return done.stdout


class Compiler:
    """A compiler that stays: the first file takes seconds, and each of the others less than one.

    It speaks JSON-RPC 2.0 over its standard streams, framed as language servers frame it.
    """

    def __enter__(self) -> "Compiler":
        self._calls = itertools.count(1)
        self._process = subprocess.Popen(
            [find_compiler() or "bicep", "jsonrpc", "--stdio"],
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()  # it keeps nothing
        self._process.communicate(timeout=SECONDS)

    def template(self, path: Path) -> Any:
        """The template that a Bicep file compiles to. Raises CompilerError, also for a warning."""
        return json.loads(self._compiled("bicep/compile", path=str(path))["contents"])

    def parameters(self, path: Path) -> dict[str, Any]:
        """The parameters of a file, by name. Raises CompilerError, also for a warning."""
        nothing: dict[str, object] = {}
        answer = self._compiled("bicep/compileParams", path=str(path), parameterOverrides=nothing)
        parameters: dict[str, Any] = json.loads(answer["parameters"])["parameters"]
        return parameters

    def formatted(self, path: Path) -> str:
        """The file as the compiler would lay it out."""
        return str(self._call("bicep/format", path=str(path))["contents"])

    def predict(self, parameters: Path) -> Prediction:
        """What a deployment with this file would hold.

        The resource group is that of the environment whose name the file begins with.
        Raises CompilerError, also where the template refuses the parameters.
        """
        place = {
            "tenantId": TENANT,
            "subscriptionId": SUBSCRIPTION,
            "resourceGroup": f"rg-extractor-{parameters.name.partition('.')[0]}",
            "location": LOCATION,
        }
        answer = self._call("bicep/getSnapshot", path=str(parameters), metadata=place)
        prediction: Prediction = json.loads(answer["snapshot"])
        return prediction

    def _compiled(self, method: str, **parameters: object) -> Any:
        answer = self._call(method, **parameters)
        if answer["diagnostics"]:
            raise CompilerError(json.dumps(answer["diagnostics"], indent=2))
        return answer

    def _call(self, method: str, **parameters: object) -> Any:
        request = {
            "jsonrpc": "2.0",
            "id": next(self._calls),
            "method": method,
            "params": parameters,
        }
        body = json.dumps(request).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self._process.stdin.flush()
        answer = self._read()
        if "error" in answer:
            raise CompilerError(answer["error"]["message"])
        return answer["result"]

    def _read(self) -> Any:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return json.loads(self._process.stdout.read(length))


def snapshot_of(parameters: Path) -> Path:
    return parameters.with_suffix(".snapshot.json")


def read(path: Path) -> Prediction:
    prediction: Prediction = json.loads(path.read_text(encoding="utf-8"))
    return prediction


def copy_of_infra(folder: Path) -> Path:
    """A copy of what is compiled, in which parameter files and snapshots may be written."""
    copy = folder / "infra"
    keep = {".bicep", ".bicepparam", ".json", ".kql"}
    for path in INFRA.rglob("*"):
        if path.suffix in keep and not path.name.endswith(".snapshot.json"):
            target = copy / path.relative_to(INFRA)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return copy


def _environment() -> dict[str, str]:
    """Without the variables that the parameter files read: what a tenant has must not matter."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    # The compiler lives for seconds: what it would learn about its hot paths comes too late.
    return {**kept, "DOTNET_TieredPGO": "0"}

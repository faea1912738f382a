"""The package is the commit and the wheels of the lock, and the app runs from nothing else."""

import hashlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path

import pytest
import requests
from packaging.requirements import Requirement

from infra.lib import lock, package
from tests.contract.infra.delivery.subscription import ROOT

pytestmark = [
    pytest.mark.xdist_group("package"),
    pytest.mark.timeout(400),  # the wheels come over the network
]

CYCLONEDX = ROOT / ".venv-delivery" / "bin" / "cyclonedx-py"
LOCK = (ROOT / "infra" / "requirements.lock").read_text()
EXAMPLE = json.loads((ROOT / "local.settings.json.example").read_text())["Values"]
NAMES = {"on_file_accepted", "extraction", "call_extractor", "health_live", "reconcile"}
LOCAL = ("local", "migrations")
"""What the embedded host needs of this repository; the app itself must come from the package."""


@dataclass(frozen=True)
class Package:
    """The package of the commit that is checked out, and what is in it."""

    path: Path
    app: Path

    @property
    def libraries(self) -> Path:
        return self.app / ".python_packages" / "lib" / "site-packages"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Package:
    """Built by the script, with real wheels."""
    folder = tmp_path_factory.mktemp("package")
    done = subprocess.run(
        [ROOT / "infra" / "package.sh", "--output", folder],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.splitlines()[-1])
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder / "app")
    return Package(path, folder / "app")


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_its_name_tells_version_and_commit(built: Package) -> None:
    commit = git("rev-parse", "--short=12", "HEAD")

    assert re.fullmatch(rf"extractor-\d+\.\d+\.\d+-{commit}\.zip", built.path.name)


def test_it_holds_the_app_and_nothing_of_this_side(built: Package) -> None:
    assert {path.name for path in built.app.iterdir()} == {
        "function_app.py",
        "host.json",
        "requirements.txt",
        "shared",
        ".python_packages",
    }


def test_its_code_is_that_of_the_commit(built: Package) -> None:
    committed = git("ls-tree", "-r", "--name-only", "HEAD", "shared").splitlines()
    packed = [path for path in (built.app / "shared").rglob("*") if path.is_file()]

    assert {path.relative_to(built.app).as_posix() for path in packed} == set(committed)
    text = git("show", "HEAD:shared/settings.py")
    assert (built.app / "shared" / "settings.py").read_text().strip() == text


def test_its_libraries_are_for_python_3_13_on_linux(built: Package) -> None:
    compiled = [path.name for path in built.libraries.rglob("*.so")]

    assert compiled
    assert not [name for name in compiled if not re.search(r"cpython-313-x86_64|abi3|^lib", name)]


def test_its_libraries_are_all_that_they_need_of_each_other(built: Package) -> None:
    have = {canonical(each["Name"]): each["Version"] for each in metadata(built)}
    needed = [Requirement(line) for each in metadata(built) for line in needs(each)]
    linux = {"sys_platform": "linux", "platform_system": "Linux", "extra": ""}
    linux |= {"python_version": "3.13", "python_full_version": "3.13.0"}
    wrong = [
        str(each)
        for each in needed
        if (each.marker is None or each.marker.evaluate(linux))
        and not each.specifier.contains(have.get(canonical(each.name), "0"), prereleases=True)
    ]

    assert wrong == []


def metadata(built: Package) -> list[dict[str, str]]:
    return [
        message_from_string(path.read_text())  # type: ignore[misc]
        for path in built.libraries.glob("*.dist-info/METADATA")
    ]


def needs(distribution: object) -> list[str]:
    return distribution.get_all("Requires-Dist") or []  # type: ignore[attr-defined,no-any-return]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_nothing_in_it_is_of_this_machine(built: Package) -> None:
    with zipfile.ZipFile(built.path) as archive:
        infos = archive.infolist()
        names = [info.filename for info in infos]

    assert {info.date_time for info in infos} == {package.LONG_AGO}
    assert not [name for name in names if "__pycache__" in name or name.endswith("/RECORD")]
    assert not [name for name in names if "site-packages/bin/" in name]
    assert names == sorted(names)


def test_the_same_content_gives_the_same_bytes(built: Package, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(built.app / "shared", copy)
    for path in copy.rglob("*"):
        os.utime(path, (0, 0))
        path.chmod(0o700)
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"

    package.write(built.app / "shared", first)
    package.write(copy, second)

    assert digest(first) == digest(second)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_function_is_found_with_nothing_but_the_package(built: Package) -> None:
    """Without this repository and without this machine's libraries."""
    code = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import function_app\n"
        "print(*sorted(each.get_function_name() for each in function_app.app.get_functions()))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, built.app, built.libraries],
        cwd=built.app,
        env=EXAMPLE,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) >= NAMES


@pytest.fixture
def served(built: Package, tmp_path: Path) -> Iterator[str]:
    """The embedded host on the unpacked package; `shared` is found there only."""
    for name in LOCAL:
        (tmp_path / name).symlink_to(ROOT / name)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = EXAMPLE | {"BUILD_VERSION": "1.2.3", "DATABASE_URL": f"sqlite:///{tmp_path}/e.db"}
    host = subprocess.Popen(
        [
            *(sys.executable, "-m", "local.host", "--app", built.app),
            *("--port", str(port), "--data", tmp_path / "data"),
        ],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(built.app)} | settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield f"http://127.0.0.1:{port}"
    host.terminate()
    host.wait(20)


def test_the_embedded_host_serves_the_unpacked_package(served: str) -> None:
    answer = wait_for_answer(f"{served}/health/live")

    assert answer == {"status": "live", "version": "1.2.3", "commit": "unknown"}


def wait_for_answer(url: str, seconds: float = 60) -> object:
    deadline = time.monotonic() + seconds
    while True:
        try:
            return requests.get(url, timeout=5).json()
        except requests.RequestException:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_the_lock_has_the_versions_that_are_asked_for() -> None:
    locked = dict(
        re.findall(r"^([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}$", LOCK, re.MULTILINE)
    )
    asked = [
        Requirement(line.split("#")[0].strip())
        for line in (ROOT / "requirements.txt").read_text().splitlines()
        if line.strip() and not line.startswith("#")
    ]
    for each in asked:
        if each.marker is None or each.marker.evaluate({"python_version": "3.13"}):
            assert each.specifier.contains(locked[canonical(each.name)]), each


@pytest.mark.skipif(
    not CYCLONEDX.exists(), reason="cyclonedx-py is not installed: run make infra-tools"
)
def test_the_bill_of_materials_names_every_library_with_its_hash(tmp_path: Path) -> None:
    """By the command of the pipeline."""
    bill = tmp_path / "sbom.cdx.json"
    words = ["requirements", ROOT / "infra" / "requirements.lock", "--output-file", bill]
    subprocess.run([CYCLONEDX, *words], check=True, capture_output=True)

    components = json.loads(bill.read_text())["components"]
    told = {(each["name"], each["version"]) for each in components}
    assert told == set(re.findall(r"^(\S+)==(\S+) --hash", LOCK, re.MULTILINE))
    assert all("hashes" in each["externalReferences"][0] for each in components)


def test_the_lock_is_written_from_pips_report() -> None:
    item = {
        "metadata": {"name": "Typing_Extensions", "version": "4.1"},
        "download_info": {"archive_info": {"hashes": {"sha256": "ab"}}, "url": "https://x/y.whl"},
    }

    lines = list(lock.lines(json.dumps({"install": [item]})))

    assert lines == ["typing-extensions==4.1 --hash=sha256:ab\n"]

"""Who may call what with which key."""

import json
import stat
from pathlib import Path

from local.host.keys import Keys


def opened(path: Path) -> tuple[Keys, dict[str, str]]:
    """The keys, and the texts in the file."""
    keys = Keys.open(path, ["secret", "other"])
    kept = json.loads(path.read_text())
    return keys, {**kept, **{f"own {name}": key for name, key in kept["own"].items()}}


def test_keys_are_made_once_for_the_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    _, first = opened(path)
    _, second = opened(path)
    assert first == second
    assert len({str(key) for key in first.values()}) == len(first)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_function_level_wants_a_function_key_or_the_master_key(tmp_path: Path) -> None:
    keys, texts = opened(tmp_path / "keys.json")
    for name in ("own secret", "function", "master"):
        assert keys.opens("FUNCTION", "secret", texts[name])
    for wrong in ("", "nope", texts["own other"], texts["system"]):
        assert not keys.opens("FUNCTION", "secret", wrong)


def test_admin_level_wants_the_master_key(tmp_path: Path) -> None:
    keys, texts = opened(tmp_path / "keys.json")
    assert keys.opens("ADMIN", "adm", texts["master"])
    assert not keys.opens("ADMIN", "adm", texts["function"])


def test_anonymous_level_wants_none(tmp_path: Path) -> None:
    keys, _ = opened(tmp_path / "keys.json")
    assert keys.opens("ANONYMOUS", "hello", "")

"""Access keys: made once, kept in the data folder, never logged."""

import json
import secrets
from collections.abc import Iterable
from pathlib import Path

from aiohttp import web

from local.private_file import write_private


class Keys:
    """The master key, the host's function key, each function's own key and the system key."""

    def __init__(
        self, master: str, function: str, system: str, own: dict[str, str] | None = None
    ) -> None:
        self._master = master
        self._function = function
        self.system = system
        self._own = own or {}

    @classmethod
    def open(cls, path: Path, functions: Iterable[str]) -> "Keys":
        """Read the file, adding what is missing; only its owner may read it."""
        kept = json.loads(path.read_text()) if path.exists() else {}
        for name in ("master", "function", "system"):
            kept.setdefault(name, secrets.token_urlsafe(32))
        own = kept.setdefault("own", {})
        for name in functions:
            own.setdefault(name, secrets.token_urlsafe(32))
        write_private(path, json.dumps(kept, indent=1))
        return cls(**kept)

    def is_master(self, presented: str) -> bool:
        """Whether this key opens everything."""
        return _same(presented, self._master)

    def is_system(self, presented: str) -> bool:
        """Whether this key opens the durable web hooks."""
        return _same(presented, self.system)

    def opens(self, level: str, function: str, presented: str) -> bool:
        """Whether the key is enough for a function of this `authLevel`."""
        if level.lower() == "anonymous" or self.is_master(presented):
            return True
        if level.lower() != "function":
            return False
        return _same(presented, self._function) or _same(presented, self._own.get(function, ""))

    def is_any_function_key(self, presented: str) -> bool:
        """Whether this is a key for functions only."""
        return any(_same(presented, key) for key in (self._function, *self._own.values()))


def presented_key(request: web.Request) -> str:
    """The key of a request: the header `x-functions-key`, else the query parameter `code`."""
    return request.headers.get("x-functions-key") or request.query.get("code", "")


def _same(presented: str, key: str) -> bool:
    return bool(key) and secrets.compare_digest(presented.encode(), key.encode())

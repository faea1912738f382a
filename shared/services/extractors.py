"""Extractors as operators see them, and pausing one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from shared.domain.errors import NotFoundError
from shared.domain.extractor_health import ExtractorHealth
from shared.domain.jobs import RegisteredExtractor
from shared.services.ports import Clock, Database, Transaction


@dataclass(frozen=True)
class ExtractorView:
    """A registered extractor, how it stands, and how many jobs it has."""

    registered: RegisteredExtractor
    health: ExtractorHealth
    active_jobs: int


class Extractors:
    """Reads how extractors stand, and stops and starts calling one."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def all(self) -> Sequence[ExtractorView]:
        """Every registered extractor, lowest id first. Raises TransientError."""
        return self._database.run(self._views)

    def pause(self, extractor_id: int, reason: str, actor: str) -> ExtractorHealth:
        """Call it no more; its jobs wait. A second pause replaces the reason.

        Raises NotFoundError, TransientError.
        """
        now = self._clock()
        return self._database.run(
            lambda tx: _change(
                tx,
                extractor_id,
                {"paused_at": now, "paused_by": actor, "pause_reason": reason},
            )
        )

    def resume(self, extractor_id: int) -> ExtractorHealth:
        """Call it again, with a closed circuit. Raises NotFoundError, TransientError."""
        cleared = dict.fromkeys(("paused_at", "paused_by", "pause_reason", "open_until"))
        return self._database.run(lambda tx: _change(tx, extractor_id, {**cleared, "failures": 0}))

    def _views(self, tx: Transaction) -> Sequence[ExtractorView]:
        healths, active = tx.extractor_healths.all(), tx.extractor_healths.all_active(self._clock())
        return [
            ExtractorView(
                each,
                healths.get(each.extractor_id) or ExtractorHealth(each.extractor_id),
                active.get(each.extractor_id, 0),
            )
            for each in tx.registrations.all()
        ]


def _change(tx: Transaction, extractor_id: int, values: dict[str, object]) -> ExtractorHealth:
    if tx.registrations.get(extractor_id) is None:
        raise NotFoundError(f"There is no extractor {extractor_id}")
    health = replace(tx.extractor_healths.lock(extractor_id), **values)  # type: ignore[arg-type]
    tx.extractor_healths.save(health)
    return health

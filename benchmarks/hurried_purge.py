"""The app with a purge whose clock runs ahead, so that what is seconds old is days old to it.

A host finds `app` here when its `function_app.py` imports it. Everything else is the app as it is.
"""

import importlib.util
from datetime import datetime, timedelta

from local.supervisor.processes import ROOT
from shared import wiring
from shared.domain.retention import Retention
from shared.services.ports import Clock, Database
from shared.services.purge import PurgeOldData

DAYS = 8
"""The least that PURGE_AFTER_DAYS may be; the host's settings are to say so."""

KEPT = timedelta(seconds=30)
"""How old finished work is when the purge takes it: older than any job of the soak."""


def later() -> datetime:
    """The time at which what is older than KEPT now is older than DAYS."""
    return wiring.now() + timedelta(days=DAYS) - KEPT


def hurried(database: Database, retention: Retention, _clock: Clock) -> PurgeOldData:
    """The purge, with another clock."""
    return PurgeOldData(database, retention, later)


vars(wiring)[PurgeOldData.__name__] = hurried

_spec = importlib.util.spec_from_file_location("app_as_it_is", ROOT / "function_app.py")
assert _spec
assert _spec.loader
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
app = _module.app

"""The database: SQLite on a laptop and in tests, SQL Server in Azure."""

from shared.adapters.database.engine import create_engine
from shared.adapters.database.transactions import SqlDatabase

__all__ = ["SqlDatabase", "create_engine"]

"""`python -m tests.chaos.hold_lock FILE SECONDS`: keep everyone from writing to a SQLite file."""

import sqlite3
import sys
import time


def main() -> None:
    """Says `locked` once it has the lock."""
    path, seconds = sys.argv[1], float(sys.argv[2])
    database = sqlite3.connect(path, timeout=30, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    sys.stdout.write("locked\n")
    sys.stdout.flush()
    time.sleep(seconds)
    database.execute("ROLLBACK")
    database.close()


main()

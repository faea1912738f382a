"""What was mended is counted by kind, whoever counts and however often the process is started."""

from concurrent.futures import ThreadPoolExecutor

from shared.adapters.database import SqlDatabase, create_engine
from tests.unit.adapters.database.rows import MINUTE, NOW


def test_counts_add_up_and_tell_of_the_last_time(database: SqlDatabase) -> None:
    database.run(lambda tx: tx.mended.add({"passes": 1, "outboxesSent": 3}, NOW))
    database.run(lambda tx: tx.mended.add({"passes": 1}, NOW + MINUTE))
    sent, passes = database.run(lambda tx: tx.mended.all())
    assert (sent.kind, sent.total, sent.last_at) == ("outboxesSent", 3, NOW)
    assert (passes.kind, passes.total, passes.last_at) == ("passes", 2, NOW + MINUTE)


def test_two_hosts_that_count_at_once_lose_nothing(database: SqlDatabase) -> None:
    hosts = [SqlDatabase(create_engine(str(database.engine.url))) for _ in range(2)]

    def count(host: SqlDatabase) -> None:
        for _ in range(20):
            host.run(lambda tx: tx.mended.add({"passes": 1}, NOW))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(count, hosts))
    for host in hosts:
        host.close()
    (passes,) = database.run(lambda tx: tx.mended.all())
    assert passes.total == 40

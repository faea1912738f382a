"""Leases on instances, and the one transaction that an episode comes to."""

import pytest

from local.durable.database import Database
from local.durable.episodes import Episode, Episodes
from local.durable.messages import create_instance, deliver, read_history
from local.durable.orchestrator import Outcome, conclude
from tests.unit.local.durable.histories import (
    NOON,
    EveryFunction,
    activity,
    answer,
    child,
    continue_as_new,
    every,
    raised,
    started,
    timer,
    wait,
)


@pytest.fixture
def database(store: Database) -> Database:
    """A store with the instance `it`, just started."""
    create_instance(store, started('"in"'))
    return store


def begin(episodes: Episodes) -> Episode:
    episode = episodes.begin("it", NOON)
    assert episode
    return episode


def outcome(episode: Episode, *actions: dict[str, object], **members: object) -> Outcome:
    return conclude(episode.run, answer(*actions, **members), EveryFunction(), NOON)


def column(database: Database, name: str) -> object:
    (row,) = database.rows("SELECT * FROM instances WHERE instance_id = 'it'")
    return row[name]


def test_an_episode_takes_all_messages(database: Database) -> None:
    deliver(database, "it", None, raised("A"))
    deliver(database, "it", None, raised("B"))
    run = begin(Episodes(database, "mine")).run
    assert [event["EventType"] for event in run.new] == [12, 0, 15, 15]
    assert run.past == []


def test_messages_for_an_execution_before_are_dropped(database: Database) -> None:
    database.execute("INSERT INTO inbox VALUES (99, 'it', 'before', '{}')")
    episodes = Episodes(database, "mine")
    episode = begin(episodes)
    assert len(episode.run.new) == 2
    episodes.finish(episode, [outcome(episode, wait())], NOON)
    assert not episodes.is_waiting("it")


def test_what_an_episode_comes_to_is_stored_together(database: Database) -> None:
    # Given an episode that asks for an activity, a timer and a child
    episodes = Episodes(database, "mine")
    episode = begin(episodes)
    asked = every(activity(), timer(), child("sub", "son"))
    came_to = outcome(episode, asked, customStatus="busy")

    # When it is stored
    assert episodes.finish(episode, [came_to], NOON) == ["son"]

    # Then everything is there
    assert [event["EventType"] for event in read_history(database, "it")] == [12, 0, 4, 10, 7, 13]
    assert column(database, "status") == "Running"
    assert database.value("SELECT count(*) FROM activities") == 1
    assert database.value("SELECT count(*) FROM timers") == 1
    assert episodes.is_waiting("son")
    assert column(database, "custom_status") == '"busy"'


def test_the_outcome_of_a_lost_lease_changes_nothing(database: Database) -> None:
    # Given an episode whose instance was taken over by another engine
    stopped = Episodes(database, "stopped")
    episode = begin(stopped)
    next_one = Episodes(database, "next")
    assert next_one.take_over() == ["it"]

    # When its outcome comes late, it is not stored
    assert stopped.finish(episode, [outcome(episode, activity())], NOON) is None
    assert read_history(database, "it") == []
    assert database.value("SELECT count(*) FROM activities") == 0

    # And that of the engine that took over is
    again = begin(next_one)
    assert next_one.finish(again, [outcome(again, activity())], NOON) == []
    assert database.value("SELECT count(*) FROM activities") == 1


def test_a_released_instance_is_there_for_the_next(database: Database) -> None:
    episodes = Episodes(database, "mine")
    begin(episodes)
    episodes.release()
    assert column(database, "lease") is None
    assert Episodes(database, "next").take_over() == ["it"]


def test_messages_that_come_during_an_episode_stay(database: Database) -> None:
    episodes = Episodes(database, "mine")
    episode = begin(episodes)
    deliver(database, "it", None, raised())
    episodes.finish(episode, [outcome(episode, wait())], NOON)
    assert episodes.is_waiting("it")
    assert [event["EventType"] for event in begin(episodes).run.new] == [12, 15]


def test_the_end_drops_what_was_still_to_come(database: Database) -> None:
    # Given an event that comes while the orchestrator returns
    episodes = Episodes(database, "mine")
    episode = begin(episodes)
    deliver(database, "it", None, raised())

    # When the end is stored
    episodes.finish(episode, [outcome(episode, isDone=True, output=1)], NOON)

    # Then nothing waits for the instance, and nothing can be sent to it
    assert not episodes.is_waiting("it")
    assert not deliver(database, "it", None, raised())
    assert column(database, "output") == "1"
    assert column(database, "finished") == 1


def test_continuing_as_new_replaces_history_input_and_execution(database: Database) -> None:
    # Given a run that continues as new, and the next one that waits
    episodes = Episodes(database, "mine")
    episode = begin(episodes)
    first = outcome(episode, continue_as_new('"next"'), isDone=True)
    assert first.successor
    second = conclude(first.successor, answer(wait()), EveryFunction(), NOON)

    # When both are stored
    episodes.finish(episode, [first, second], NOON)

    # Then only the second is there
    assert [event["EventType"] for event in read_history(database, "it")] == [12, 0, 13]
    assert column(database, "input") == '"\\"next\\""'
    assert column(database, "execution_id") == first.successor.execution_id != "run"


def test_a_child_whose_id_is_in_use_is_not_started(database: Database) -> None:
    create_instance(database, started(instance_id="son"))
    episodes = Episodes(database, "mine")
    episode = begin(episodes)
    assert episodes.finish(episode, [outcome(episode, child("sub", "son"))], NOON) == []
    assert database.value("SELECT name FROM instances WHERE instance_id = 'son'") == "orch"

"""Links: what they announce, and which are refused."""

import pytest
from proton import Condition, Described, Link, Terminus, symbol

from tests.contract.servicebus.raw_client import (
    SUB,
    RawClient,
    message,
)
from tests.contract.servicebus.running import RunningBus


def refusal(link: Link) -> Condition:
    assert link.state & Link.REMOTE_CLOSED
    assert link.remote_source.type == link.remote_target.type == Terminus.UNSPECIFIED
    assert link.remote_condition is not None
    return link.remote_condition


def test_links_announce_the_largest_message(client: RawClient) -> None:
    assert client.sender("jobs").remote_max_message_size == 262_144
    assert client.receiver(SUB).remote_max_message_size == 262_144
    assert client.sender("jobs/$management").remote_max_message_size == 1_048_576


def test_links_keep_the_settle_modes_that_the_client_asked_for(client: RawClient) -> None:
    def second(link: Link) -> None:
        link.rcv_settle_mode = Link.RCV_SECOND

    receiver = client.receiver(SUB, prepare=second)
    assert receiver.remote_rcv_settle_mode == Link.RCV_SECOND
    deleting = client.receiver(SUB, settled=True)
    assert deleting.remote_snd_settle_mode == Link.SND_SETTLED


@pytest.mark.parametrize("name", ["nope", "jobs/Subscriptions/nope", "nope/$management", ""])
def test_a_link_to_an_unknown_entity_is_refused(client: RawClient, name: str) -> None:
    for link in (client.sender(name), client.receiver(name)):
        condition = refusal(link)
        assert condition.name == "amqp:not-found"
        assert "could not be found" in str(condition.description)
    assert client.sender("jobs").state & Link.REMOTE_ACTIVE


def test_links_on_the_wrong_side_of_a_topic_are_refused(client: RawClient) -> None:
    for link in (client.sender(SUB), client.receiver("jobs")):
        condition = refusal(link)
        assert condition.name == "amqp:not-allowed"
        assert "topic" in str(condition.description)


def test_transactions_and_sessions_are_refused_by_name(client: RawClient) -> None:
    def coordinator(link: Link) -> None:
        link.target.type = Terminus.COORDINATOR

    def session(link: Link) -> None:
        link.source.filter.put_dict(
            {
                symbol("com.microsoft:session-filter"): Described(
                    symbol("com.microsoft:session-filter"), "s1"
                )
            }
        )

    transactions = refusal(client.sender("jobs", prepare=coordinator))
    assert (transactions.name, transactions.description) == (
        "amqp:not-implemented",
        "Transactions are not offered.",
    )
    sessions = refusal(client.receiver(SUB, prepare=session))
    assert sessions.description == "Sessions are not offered."


def test_an_empty_filter_is_no_filter(client: RawClient) -> None:
    def empty(link: Link) -> None:
        link.source.filter.put_dict({})

    assert client.receiver(SUB, prepare=empty).state & Link.REMOTE_ACTIVE


def test_a_link_ends_as_the_client_ends_it(client: RawClient, bus: RunningBus) -> None:
    for end in (Link.close, Link.detach):
        receiver = client.receiver(SUB, credit=1)
        end(receiver)
        word = "CLOSE" if end is Link.close else "DETACH"
        client.until(lambda word=word: f"PN_LINK_REMOTE_{word}" in client.events)  # type: ignore[misc]
    client.session.close()
    client.until(lambda: "PN_SESSION_REMOTE_CLOSE" in client.events)
    session = client.engine.session()
    session.open()
    client.session = session
    client.send(client.sender("jobs"), message("a"))
    client.receiver(SUB, credit=1)
    assert client.next().body == "a"

"""What the .NET client sent when it was recorded, and what it needs to be answered.

Nobody runs .NET here. The frames that it sent are sent again, and the answers are compared with the
recorded ones in what the client looks at. `client` sends, peeks, settles in every way and deletes,
`receiver` waits and drains its link, `processor` takes messages as the Functions host does. The
recorded broker handed an abandoned message out last, this one, like Azure, at its old place: that
one delivery stands where it comes now.
"""

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from proton import Message

from local.servicebus.topology import Subscription, Topic, Topology
from tests.contract.servicebus.notation import Frame, load, sections
from tests.contract.servicebus.raw_client import raw_client
from tests.contract.servicebus.replay import Replay, binary, part
from tests.contract.servicebus.running import running

RECORDINGS = Path(__file__).parent / "dotnet"
RECORDED_AT = 1_796_065_894.0
"""The time of the recording, which names times itself, in seconds since 1970."""

type Pairs = list[tuple[Frame, Frame]]
"""What the client was answered in the recording, and now."""


@pytest.fixture(scope="module", params=["client", "receiver", "processor"])
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    """All answers of one recording, each of which came."""
    return replayed(request.param, tmp_path_factory.mktemp(request.param))


def replayed(name: str, folder: Path) -> Pairs:
    frames = load((RECORDINGS / f"{name}.json").read_text(encoding="utf-8"))
    topology = Topology((Topic("jobs", (Subscription("sub"),)),))
    pairs = []
    with running(topology, folder) as bus:
        bus.pass_time(RECORDED_AT - time.time())
        if name != "client":
            publish(bus.port, frames)
        with Replay(bus.port) as replay:
            for frame in frames:
                if frame["dir"] == "C>B":
                    replay.send(frame)
                else:
                    pairs.append((frame, replay.answer_to(frame)))
    return pairs


def publish(port: int, frames: list[Frame]) -> None:
    """Send the messages that somebody else had sent before the client came."""
    with raw_client(port) as client:
        link = client.sender("jobs")
        for frame in frames:
            if frame["dir"] == "B>C" and is_delivery(frame):
                identity = part(frame, "properties")["message-id"]
                client.send(link, Message(id=identity, body=b"x", inferred=True).encode())


def is_delivery(frame: Frame) -> bool:
    """Whether a frame of the broker hands a message out, rather than answering a request."""
    return frame["frame"] == "transfer" and part(frame, "message-annotations") is not None


def of_kind(answers: Pairs, kind: str) -> Pairs:
    return [pair for pair in answers if pair[0]["frame"] == kind]


def deliveries(answers: Pairs) -> Pairs:
    return [pair for pair in answers if is_delivery(pair[0])]


def replies(answers: Pairs) -> Pairs:
    return [pair for pair in of_kind(answers, "transfer") if not is_delivery(pair[0])]


def test_its_mechanism_is_offered_and_let_in(tmp_path: Path) -> None:
    header, mechanism, *_ = load((RECORDINGS / "client.json").read_text(encoding="utf-8"))
    with running(Topology(()), tmp_path) as bus, Replay(bus.port) as replay:
        replay.send(header)
        replay.send(mechanism)
        offered = replay.answer_to({"frame": "sasl-mechanisms"})
        outcome = replay.answer_to({"frame": "sasl-outcome"})
    assert "sym:MSSBCBS" in offered["fields"]["mechanisms"]["array"]
    assert outcome["fields"]["code"] == "0:ubyte"


def test_every_link_is_attached_as_it_asks(answers: Pairs) -> None:
    for recorded, answer in of_kind(answers, "attach"):
        for name in ("name", "role", "snd-settle-mode", "rcv-settle-mode"):
            assert answer["fields"][name] == recorded["fields"][name]
        for end in ("source", "target"):
            asked, given = (frame["fields"].get(end, {}) for frame in (recorded, answer))
            assert given.get("address") == asked.get("address")


def test_every_link_announces_how_large_a_message_may_be(answers: Pairs) -> None:
    for _, answer in of_kind(answers, "attach"):
        number, _, kind = answer["fields"]["max-message-size"].partition(":")
        assert int(number) > 0
        assert kind == "ulong"


def test_every_delivery_starts_with_a_header_that_counts_deliveries(answers: Pairs) -> None:
    for _, answer in deliveries(answers):
        header = answer["message"][0]
        assert header["~"] == "header"
        assert re.fullmatch(r"[01]:uint", header["delivery-count"])


def test_every_delivery_is_stamped_with_what_it_reads(answers: Pairs) -> None:
    for _, answer in deliveries(answers):
        stamps = part(answer, "message-annotations")["map"]
        locked = not answer["fields"].get("settled")
        assert stamps["sym:x-opt-sequence-number"].endswith(":long")
        assert stamps["sym:x-opt-enqueued-time"].endswith(":timestamp")
        assert ("sym:x-opt-locked-until" in stamps) == locked


def test_only_what_is_locked_is_delivered_unsettled_with_a_token(answers: Pairs) -> None:
    for recorded, answer in deliveries(answers):
        assert answer["fields"].get("settled") == recorded["fields"].get("settled")
        assert len(binary(answer["fields"]["delivery-tag"])) == 16


def test_every_outcome_is_answered_settled_with_itself(answers: Pairs) -> None:
    for recorded, answer in of_kind(answers, "disposition"):
        assert answer["fields"]["role"] == recorded["fields"]["role"]
        assert answer["fields"]["settled"] is True
        assert answer["fields"]["state"]["~"] == recorded["fields"]["state"]["~"]
        assert "error" not in answer["fields"]["state"]


def test_every_request_is_answered_with_the_status_that_was_recorded(answers: Pairs) -> None:
    for recorded, answer in replies(answers):
        assert answer["fields"]["settled"] is True
        assert part(answer, "properties") == part(recorded, "properties")
        told, expected = (
            {
                name: value
                for name, value in part(each, "application-properties")["map"].items()
                if name not in ("statusDescription", "status-description")
            }
            for each in (answer, recorded)
        )
        assert told == expected


def test_every_reply_holds_what_was_recorded(answers: Pairs) -> None:
    for recorded, answer in replies(answers):
        assert shape(part(answer, "amqp-value")) == shape(part(recorded, "amqp-value"))


def shape(value: Any) -> Any:
    """A reply without what differs from run to run: times and tokens, and stamps of messages."""
    if isinstance(value, dict):
        return {key: shape(each) for key, each in value.items() if key != "ctor"}
    if isinstance(value, list):
        return [shape(each) for each in value]
    if isinstance(value, str) and value.startswith("bin:hex:0053"):
        found = {each["~"]: each for each in sections(binary(value))}
        return [found[name] for name in ("properties", "application-properties", "data")]
    if isinstance(value, str) and value.startswith("uuid:"):
        return "uuid"
    return re.sub(r"\d+:timestamp", "timestamp", value) if isinstance(value, str) else value


def test_everything_that_it_ends_is_ended(answers: Pairs) -> None:
    for kind in ("detach", "end", "close"):
        for _, answer in of_kind(answers, kind):
            assert "error" not in answer["fields"]
    for recorded, answer in of_kind(answers, "detach"):
        assert answer["fields"]["closed"] == recorded["fields"]["closed"]


def test_a_drain_is_answered_with_no_credit_and_the_count_advanced(tmp_path: Path) -> None:
    recorded, answer = of_kind(replayed("receiver", tmp_path), "flow")[-1]
    names = ("link-credit", "delivery-count", "drain")
    assert [recorded["fields"][name] for name in names] == ["0:uint", "10:uint", True]
    assert [answer["fields"][name] for name in names] == ["0:uint", "10:uint", True]


def test_each_way_to_settle_did_what_it_says(tmp_path: Path) -> None:
    came = [answer for _, answer in deliveries(replayed("client", tmp_path))]
    by_link = {
        link: [part(frame, "properties")["message-id"] for frame in came if frame["ch"] == link]
        for link in (3, 4, 5)
    }
    assert by_link[4] == ["n-0", "n-1", "n-2", "n-3", "n-4"]
    assert by_link[5] == ["n-3"], "the dead letter"
    assert sorted(by_link[3]) == ["n-1", "n-5", "n-6", "n-7", "n-b1", "n-b2"]
    (abandoned,) = [each for each in came if each["ch"] == 3 and '"n-1"' in json.dumps(each)]
    assert abandoned["message"][0]["delivery-count"] == "1:uint"
    assert part(abandoned, "application-properties")["map"]["why"] == "x"
    (dead,) = [each for each in came if each["ch"] == 5]
    properties = part(dead, "application-properties")["map"]
    assert properties["DeadLetterReason"] == "rs"
    assert properties["DeadLetterErrorDescription"] == "desc"

"""Misbehaviour on demand: how it is asked for, and when it refuses a call."""

from uuid import UUID

import pytest

from local.extractor.behaviour import (
    BEHAVIOURS,
    Behaviour,
    BehaviourError,
    read_behaviour,
    split_behaviours,
)

VALUES = {
    "slow": "0.5",
    "fail": "2",
    "status": "418",
    "retry-after": "7",
    "fail-reports": "2",
    "busy": "3",
    "report-late": "1",
    "report-as": "7f0c4a2e-3f4b-4a53-9d3f-0d3b8b1f0a11",
}


def test_wishes_may_be_one_parameter_or_several():
    assert split_behaviours(["fail=2,silent", "", "slow=1"]) == ("fail=2", "silent", "slow=1")


def test_without_wishes_the_extractor_behaves():
    assert read_behaviour([]) == Behaviour()
    assert Behaviour().refusal(earlier_calls=0) is None


def test_wishes_work_together():
    behaviour = read_behaviour(["fail=2", "report-twice", f"report-as={VALUES['report-as']}"])

    assert behaviour == Behaviour(fail=2, report_twice=True, report_as=UUID(VALUES["report-as"]))


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_every_behaviour_can_be_asked_for(name: str):
    wish = f"{name}={VALUES[name]}" if name in VALUES else name

    assert read_behaviour([wish]) != Behaviour()


@pytest.mark.parametrize(
    "wish",
    [
        "unheard-of",
        "silent=1",
        "slow=soon",
        "slow=-1",
        "slow=inf",
        "status=99",
        "fail=",
        "report-as=x",
    ],
)
def test_a_wrong_wish_is_named(wish: str):
    with pytest.raises(BehaviourError, match=wish.partition("=")[0]):
        read_behaviour([wish])


@pytest.mark.parametrize(
    ("wishes", "answers"),
    [
        (["fail=2"], [503, 503, None]),
        (["retry-after=7"], [429, None]),
        (["fail=2", "retry-after=7"], [503, 503, None]),
        (["status=404"], [404, 404]),
        (["status=200"], [None]),
        (["refuse"], [400, 400]),
        (["redirect"], [307, 307]),
        (["silent", "html", "big", "report-twice"], [None]),
    ],
)
def test_a_call_is_refused_as_often_as_wished(wishes: list[str], answers: list[int | None]):
    behaviour = read_behaviour(wishes)

    assert [behaviour.refusal(earlier) for earlier in range(len(answers))] == answers


def test_as_many_jobs_of_a_file_fail_as_wished():
    assert [read_behaviour(["fail-reports=2"]).fails(earlier) for earlier in range(4)] == [
        True,
        True,
        False,
        False,
    ]
    assert read_behaviour(["fail-report"]).fails(earlier_jobs=9)

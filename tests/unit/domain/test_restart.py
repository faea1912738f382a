"""Which entities are restarted, and what is said of the others."""

import pytest

from shared.domain.entities import EntityWithDocument
from shared.domain.restart import RestartPlan, RestartStatus, plan_restart


def entity(
    entity_id: int, status: str = "failed", document: int | None = None
) -> EntityWithDocument:
    number = document or entity_id
    return EntityWithDocument(entity_id, number, f"hash{number}", status)


def outcome(plan: RestartPlan) -> tuple[str, str]:
    return plan.status.value, plan.message


def test_all_known_entities_are_accepted_in_the_requests_order() -> None:
    plan = plan_restart([3, 1, 2], [entity(1), entity(2), entity(3)])
    assert plan == RestartPlan([3, 1, 2], ["hash3", "hash1", "hash2"], [], any_known=True)
    assert outcome(plan) == ("accepted", "Successfully initiated restart for 3 extraction(s)")


def test_repeats_are_dropped_and_the_first_place_counts() -> None:
    plan = plan_restart([2, 1, 2, 9, 1, 9], [entity(1), entity(2)])
    assert plan.entity_ids == [2, 1]
    assert plan.errors == [(9, "Extracted entity with ID 9 not found")]


def test_two_entities_of_one_document_are_one_hash() -> None:
    known = [entity(1, document=7), entity(2, document=8), entity(3, document=7)]
    plan = plan_restart([1, 2, 3], known)
    assert plan.entity_ids == [1, 2, 3]
    assert plan.file_hashes == ["hash7", "hash8"]


def test_what_is_unknown_or_processing_is_said_in_the_requests_order() -> None:
    plan = plan_restart([300, 200, 999, 301], [entity(301, "processing"), entity(200)])
    assert plan.entity_ids == [200]
    assert plan.errors == [
        (300, "Extracted entity with ID 300 not found"),
        (999, "Extracted entity with ID 999 not found"),
        (301, "Cannot restart entity that is currently processing"),
    ]
    assert outcome(plan) == ("partial", "Initiated restart for 1 extraction(s) with 3 error(s)")


@pytest.mark.parametrize("status", ["pending", "completed", "failed"])
def test_every_status_but_processing_may_be_restarted(status: str) -> None:
    assert plan_restart([1], [entity(1, status)]).status is RestartStatus.ACCEPTED


@pytest.mark.parametrize(("known", "any_known"), [([], False), ([entity(1, "processing")], True)])
def test_when_nothing_may_be_restarted_it_is_told_whether_anything_is_known(
    known: list[EntityWithDocument], any_known: bool
) -> None:
    plan = plan_restart([1, 2], known)
    assert (plan.entity_ids, plan.file_hashes) == ([], [])
    assert len(plan.errors) == 2
    assert plan.any_known is any_known
    assert outcome(plan) == ("failed", "No valid entities to restart")


@pytest.mark.parametrize("hash_", [None, "", "  "])
def test_a_document_without_a_hash_keeps_no_other_from_being_restarted(hash_: str) -> None:
    plan = plan_restart([1, 2], [entity(1), EntityWithDocument(2, 2, hash_, "failed")])
    assert plan.file_hashes == ["hash1"]
    assert plan.errors == [(2, "Cannot restart entity whose document has no hash")]

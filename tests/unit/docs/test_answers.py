"""How answers on a page are compared with those that a command gives."""

import json

from tests.answers import MisfitError, fit, ids

JOB, OTHER = "8c1f6bd7-3fec-565f-b711-b6d165bd3b7b", "e50f07a4-3d9b-589e-8de9-a12c6c6a5b30"


def misfit(shown: str, answer: str) -> str | None:
    """Why an answer is not the one that is shown."""
    try:
        fit(shown, answer)
    except MisfitError as error:
        return str(error)
    return None


def test_ids_and_times_may_differ() -> None:
    shown = f'{{"jobId": "{JOB}", "at": "2026-11-30T23:59:34.833Z", "count": 1}}'
    found = f'{{"jobId": "{OTHER}", "at": "2027-01-02T03:04:05.006Z", "count": 4}}'
    assert misfit(shown, found) is None


def test_what_the_page_leaves_out_may_be_there() -> None:
    assert misfit('{"jobs": [{"status": "Failed"}]}', _jobs("Succeeded", "Failed")) is None


def test_another_value_is_told_with_its_place() -> None:
    assert misfit('{"status": "Failed"}', '{"status": "Queued"}') == (
        "the answer.status is 'Queued', not 'Failed'"
    )


def test_a_field_that_is_not_there_is_told() -> None:
    assert misfit('{"status": "Failed"}', "{}") == "the answer.status is missing"


def test_the_order_of_a_list_counts() -> None:
    shown = '{"jobs": [{"status": "Failed"}, {"status": "Succeeded"}]}'
    assert misfit(shown, _jobs("Failed", "Started", "Succeeded")) is None
    assert misfit(shown, _jobs("Succeeded", "Failed")) is not None


def test_what_is_no_json_does_not_fit_json() -> None:
    assert misfit("{}", "curl: (7) Failed to connect") == "the answer is not JSON"


def test_lines_of_text_are_found_in_their_order() -> None:
    shown = "  file  " + JOB + "\n  23:59:33  Started      1.41 s\n"
    found = "Submitted\n  file  " + OTHER + "\n  01:02:03  Started     11.02 s\n  and on\n"
    assert misfit(shown, found) is None
    assert misfit(shown, "\n".join(reversed(found.splitlines()))) is not None


def test_the_ids_in_what_is_shown_are_known_by_their_names() -> None:
    answer = {
        "jobs": [{"jobId": OTHER, "status": "Failed"}, {"jobId": JOB, "status": "Queued"}],
        "extractorId": 3,
    }
    assert fit('{"jobs": [{"status": "Queued"}]}', json.dumps(answer)) == {
        "JOB_ID": JOB,
        "EXTRACTOR_ID": "3",
    }


def test_of_several_answers_the_latest_ids_are_known() -> None:
    answers = f'{{"jobId": "{JOB}", "callbackUrl": "http://x"}}\n{{"jobId": "{OTHER}"}}\n'
    assert ids(answers) == {"JOB_ID": OTHER, "CALLBACK_URL": "http://x"}
    assert ids("curl: (7) Failed to connect") == {}


def _jobs(*statuses: str) -> str:
    return json.dumps({"jobs": [{"status": status, "attempt": 1} for status in statuses]})

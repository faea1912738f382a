"""Text that does not fit is refused before it is written."""

import pytest

from shared.adapters.database.lengths import checked
from shared.adapters.database.tables import file_event, job, outbox
from shared.domain.errors import PermanentError


def test_text_that_just_fits_passes_unchanged() -> None:
    row = {"Actor": "😀" * 160, "RequestID": "r" * 64, "JobID": None}

    assert checked(file_event, **row) == row


def test_characters_beyond_the_first_plane_count_twice() -> None:
    with pytest.raises(PermanentError, match=r"FileEvent\.Actor has 322 UTF-16 units") as caught:
        checked(file_event, Actor="😀" * 161)

    assert caught.value.code == "value_too_long"


def test_text_that_a_varchar_column_would_lose_is_refused() -> None:
    with pytest.raises(PermanentError, match=r"Job\.RequestID") as caught:
        checked(job, RequestID="طلب")

    assert caught.value.code == "value_not_ascii"


def test_columns_without_a_limit_take_any_text() -> None:
    text = "نص 😀" * 100_000

    assert checked(job, StatusMessage=text, ExtractorResponse=text)
    assert checked(outbox, Body=text)

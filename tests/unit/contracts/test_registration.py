"""The registration answer."""

from typing import Any

import pytest

from shared.contracts.registration import read_extractors, write_extractors
from shared.contracts.wire import ContractError
from shared.domain.jobs import Extractor


def test_extractors_are_written_as_specified_lowest_id_first() -> None:
    written = write_extractors([Extractor(102, "https://b"), Extractor(101, "https://a")])
    assert written == [
        {"clientApplicationExtractorId": 101, "extractionUrl": "https://a"},
        {"clientApplicationExtractorId": 102, "extractionUrl": "https://b"},
    ]


def test_what_is_written_reads_back() -> None:
    extractors = [Extractor(1, "https://a"), Extractor(2, "https://b")]
    assert read_extractors(write_extractors(extractors)) == extractors


@pytest.mark.parametrize(
    "document",
    [
        {},
        None,
        "x",
        [1],
        [{"clientApplicationExtractorId": "1", "extractionUrl": "https://a"}],
        [{"extractionUrl": "https://a"}],
    ],
)
def test_an_answer_of_another_shape_is_refused(document: Any) -> None:
    with pytest.raises(ContractError):
        read_extractors(document)

"""`GET /registration/{clientAppId}/extractors`: the active extractors of a client application."""

from collections.abc import Sequence
from typing import Any

from pydantic import StrictInt

from shared.contracts.wire import Contract, ContractError
from shared.domain.jobs import Extractor


class RegisteredExtractor(Contract):
    """One active extractor."""

    clientApplicationExtractorId: StrictInt
    extractionUrl: str


def write_extractors(extractors: Sequence[Extractor]) -> list[dict[str, Any]]:
    """The answer's JSON array, in ascending order of id."""
    return [
        RegisteredExtractor(
            clientApplicationExtractorId=extractor.extractor_id,
            extractionUrl=extractor.extraction_url,
        ).model_dump()
        for extractor in sorted(extractors, key=lambda extractor: extractor.extractor_id)
    ]


def read_extractors(document: Any) -> list[Extractor]:
    """Read the answer. Raises ContractError when it is not an array of extractors."""
    if not isinstance(document, list):
        raise ContractError("body_not_array", "The registration answer must be a JSON array")
    rows = [RegisteredExtractor.read(item) for item in document]
    return [Extractor(row.clientApplicationExtractorId, row.extractionUrl) for row in rows]

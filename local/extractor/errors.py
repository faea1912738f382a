"""Why a file could not be extracted."""


class ExtractionError(Exception):
    """Its text becomes the `ErrorMessage` of JobFailed: a sentence for people.

    It names what is wrong with the file and the rule, never the file's content or its signed link.
    """

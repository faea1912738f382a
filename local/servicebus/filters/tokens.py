"""Splits the text of a SQL filter into tokens.

The lexical rules are Azure's: identifiers start with a letter, `[any name]` and `"any name"` are
identifiers too, `'it''s'` is text, keywords and identifiers ignore case.
"""

import re
from dataclasses import dataclass
from enum import Enum


class FilterError(ValueError):
    """The text of a filter cannot be understood; the message says where."""


class Kind(Enum):
    NAME = "name"
    KEYWORD = "keyword"
    TEXT = "text"
    NUMBER = "number"
    OPERATOR = "operator"
    END = "end"


@dataclass(frozen=True)
class Token:
    """One token; `text` is without quotes, keywords are upper case, `position` counts from 1."""

    kind: Kind
    text: str
    position: int

    def __str__(self) -> str:
        return "the end" if self.kind is Kind.END else repr(self.text)


KEYWORDS = frozenset(
    {"AND", "OR", "NOT", "IN", "LIKE", "ESCAPE", "IS", "NULL", "EXISTS", "TRUE", "FALSE"}
)

_PATTERN = re.compile(
    r"""\s*(?:
      (?P<name>[^\W\d_]\w*)
    | \[(?P<bracketed>(?:[^\]]|\]\])+)\]
    | "(?P<quoted>(?:[^"]|"")+)"
    | '(?P<text>(?:[^']|'')*)'
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
    | (?P<operator><>|!=|<=|>=|[=<>(),.+\-])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`, the last one of kind END. Raises FilterError."""
    tokens: list[Token] = []
    at = 0
    while not tokens or tokens[-1].kind is not Kind.END:
        match = _PATTERN.match(text, at)
        if match is None:
            raise FilterError(f"unexpected {text[at:].lstrip()[:10]!r} at position {at + 1}")
        tokens.append(_token(match))
        at = match.end()
    return tokens


def _token(match: re.Match[str]) -> Token:
    group = str(match.lastgroup)
    text = match[group]
    position = match.start(group) + 1
    if group == "name" and text.upper() in KEYWORDS:
        return Token(Kind.KEYWORD, text.upper(), position)
    if group == "bracketed":
        return Token(Kind.NAME, text.replace("]]", "]"), position)
    if group == "quoted":
        return Token(Kind.NAME, text.replace('""', '"'), position)
    return Token(Kind(group), text.replace("''", "'") if group == "text" else text, position)

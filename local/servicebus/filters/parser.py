"""Reads a SQL filter: recursive descent over the tokens, one function a level of precedence.

    predicate  = conjunction { OR conjunction }
    conjunction = negation { AND negation }
    negation   = NOT negation | condition
    condition  = EXISTS ( property ) | operand [ comparison ]
    comparison = operator operand | IS [NOT] NULL | [NOT] IN ( operand, ... )
               | [NOT] LIKE 'pattern' [ ESCAPE 'c' ]
    operand    = constant | property | ( predicate )

Arithmetic, functions and parameters of Azure's grammar are refused: no rule of ours uses them.
"""

import re
from collections.abc import Callable

from local.servicebus.filters.expressions import (
    OPERATORS,
    And,
    Comparison,
    Constant,
    Exists,
    Expression,
    In,
    IsNull,
    Like,
    Not,
    Or,
    Predicate,
    Property,
    SqlFilter,
    SystemProperty,
    UserProperty,
)
from local.servicebus.filters.tokens import FilterError, Kind, Token, tokenize

SYSTEM_PROPERTIES = frozenset(
    {
        "messageid",
        "correlationid",
        "label",
        "subject",
        "contenttype",
        "to",
        "replyto",
        "sessionid",
        "replytosessionid",
        "partitionkey",
    }
)
"""The `sys.` properties of a message that filters may name, in lower case."""

LONGEST_FILTER = 1024
"""Characters in a filter; Azure's limit."""

_LARGEST_INTEGER = 2**63 - 1


def parse_sql_filter(text: str) -> SqlFilter:
    """Read `text` as a filter; raises FilterError naming what is wrong and where."""
    if len(text) > LONGEST_FILTER:
        raise FilterError(f"longer than {LONGEST_FILTER} characters")
    parser = _Parser(tokenize(text))
    try:
        predicate = parser.as_predicate(parser.predicate())
    except RecursionError:
        raise FilterError("nested too deeply") from None
    parser.expect(Kind.END)
    return SqlFilter(text, predicate)


type Node = Expression | Predicate


class _Parser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def accept(self, kind: Kind, *texts: str) -> Token | None:
        if self.next.kind is kind and (not texts or self.next.text in texts):
            return self.take()
        return None

    def expect(self, kind: Kind, *texts: str) -> Token:
        token = self.accept(kind, *texts)
        if token is None:
            wanted = " or ".join(texts) or ("the end" if kind is Kind.END else f"a {kind.value}")
            raise self.error(f"expected {wanted}, found {self.next}")
        return token

    def error(self, text: str) -> FilterError:
        return FilterError(f"{text} at position {self.next.position}")

    def predicate(self) -> Node:
        return self.chain("OR", self.conjunction, Or)

    def conjunction(self) -> Node:
        return self.chain("AND", self.negation, And)

    def chain(
        self,
        word: str,
        operand: Callable[[], Node],
        joined: Callable[[tuple[Predicate, ...]], Predicate],
    ) -> Node:
        first = operand()
        if not (self.next.kind is Kind.KEYWORD and self.next.text == word):
            return first
        operands = [self.as_predicate(first)]
        while self.accept(Kind.KEYWORD, word):
            operands.append(self.as_predicate(operand()))
        return joined(tuple(operands))

    def negation(self) -> Node:
        if self.accept(Kind.KEYWORD, "NOT"):
            return Not(self.as_predicate(self.negation()))
        return self.condition()

    def condition(self) -> Node:
        if self.accept(Kind.KEYWORD, "EXISTS"):
            self.expect(Kind.OPERATOR, "(")
            named = self.property()
            self.expect(Kind.OPERATOR, ")")
            return Exists(named)
        left = self.operand()
        if operator := self.accept(Kind.OPERATOR, *OPERATORS):
            return Comparison(
                operator.text, self.as_expression(left), self.as_expression(self.operand())
            )
        if self.accept(Kind.KEYWORD, "IS"):
            return self.is_null(left)
        negated = self.accept(Kind.KEYWORD, "NOT") is not None
        if negated or (self.next.kind is Kind.KEYWORD and self.next.text in ("IN", "LIKE")):
            word = self.expect(Kind.KEYWORD, "IN", "LIKE").text
            test = self.membership(left) if word == "IN" else self.like(left)
            return Not(test) if negated else test
        return left

    def is_null(self, left: Node) -> Predicate:
        negated = self.accept(Kind.KEYWORD, "NOT") is not None
        self.expect(Kind.KEYWORD, "NULL")
        if not isinstance(left, SystemProperty | UserProperty):
            raise self.error("only a property can be tested for NULL")
        return Not(IsNull(left)) if negated else IsNull(left)

    def membership(self, left: Node) -> Predicate:
        self.expect(Kind.OPERATOR, "(")
        choices = [self.as_expression(self.operand())]
        while self.accept(Kind.OPERATOR, ","):
            choices.append(self.as_expression(self.operand()))
        self.expect(Kind.OPERATOR, ")")
        return In(self.as_expression(left), tuple(choices))

    def like(self, left: Node) -> Predicate:
        pattern = self.expect(Kind.TEXT).text
        escape = ""
        if self.accept(Kind.KEYWORD, "ESCAPE"):
            escape = self.expect(Kind.TEXT).text
            if len(escape) != 1:
                raise self.error(f"ESCAPE takes one character, not {escape!r}")
        return Like(self.as_expression(left), _like_pattern(pattern, escape))

    def operand(self) -> Node:
        if self.accept(Kind.OPERATOR, "("):
            inner = self.predicate()
            self.expect(Kind.OPERATOR, ")")
            return inner
        if self.next.kind is Kind.NAME:
            return self.property()
        return Constant(self.constant())

    def constant(self) -> str | bool | int | float | None:
        if token := self.accept(Kind.TEXT):
            return token.text
        if word := self.accept(Kind.KEYWORD, "TRUE", "FALSE", "NULL"):
            return {"TRUE": True, "FALSE": False, "NULL": None}[word.text]
        sign = self.accept(Kind.OPERATOR, "+", "-")
        if sign is None and self.next.kind is not Kind.NUMBER:
            raise self.error(f"expected a value, found {self.next}")
        return self.number(-1 if sign is not None and sign.text == "-" else 1)

    def number(self, sign: int) -> int | float:
        text = self.expect(Kind.NUMBER).text
        if not text.isdecimal():
            return sign * float(text)
        if int(text) > _LARGEST_INTEGER:
            raise self.error(f"{text} does not fit 64 bits")
        return sign * int(text)

    def property(self) -> Property:
        name = self.expect(Kind.NAME).text
        if not self.accept(Kind.OPERATOR, "."):
            return UserProperty(name)
        member = self.expect(Kind.NAME).text
        if name.lower() == "user":
            return UserProperty(member)
        if name.lower() != "sys":
            raise self.error(f"a property is of sys or user, not of {name!r}")
        if member.lower() not in SYSTEM_PROPERTIES:
            raise self.error(f"sys.{member} is not a property that filters can use")
        return SystemProperty(member.lower())

    def as_predicate(self, node: Node) -> Predicate:
        if not isinstance(node, Predicate):
            raise self.error("expected a condition, found only a value")
        return node

    def as_expression(self, node: Node) -> Expression:
        if not isinstance(node, Expression):
            raise self.error("expected a value, found a condition")
        return node


def _like_pattern(pattern: str, escape: str) -> re.Pattern[str]:
    parts = []
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            parts.append(re.escape(next(characters, escape)))
        else:
            parts.append({"%": ".*", "_": "."}.get(character, re.escape(character)))
    return re.compile("".join(parts), re.DOTALL)

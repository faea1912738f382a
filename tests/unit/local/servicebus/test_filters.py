"""SQL and correlation filters, as the rules of subscriptions use them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

import pytest

from local.servicebus.filters import CorrelationFilter, FilterError, Value, parse_sql_filter

WHEN = datetime(2026, 1, 2, tzinfo=UTC)
WHICH = UUID("00000000-0000-0000-0000-000000000001")


@dataclass
class Facts:
    """A message, as far as filters look at it."""

    facts: dict[str, Value] = field(default_factory=dict)
    users: dict[str, Value] = field(default_factory=dict)

    def system(self, name: str) -> Value:
        return self.facts.get(name)

    def user(self, name: str) -> Value:
        return {key.lower(): value for key, value in self.users.items()}.get(name.lower())

    def has_user(self, name: str) -> bool:
        return name.lower() in {key.lower() for key in self.users}


MESSAGE = Facts(
    {"label": "JobStarted", "subject": "JobStarted", "messageid": "m-1", "to": "x"},
    {
        "color": "red",
        "Quantity": 10,
        "ratio": 0.5,
        "urgent": True,
        "nothing": None,
        "path": "a%b_c",
        "apostrophe": "it's",
        "my name": "Ada",
        "größe": 3,
        "when": WHEN,
        "which": WHICH,
        "bytes": b"x",
    },
)

PASS = [
    "color = 'red'",
    "COLOR = 'red'",
    "user.color = 'red'",
    "USER.color = 'red' and SYS.label = 'JobStarted'",
    "color <> 'blue'",
    "color != 'blue'",
    "quantity > 9",
    "quantity >= 10",
    "quantity < 10.5",
    "quantity <= 1e1",
    "quantity = 10.0",
    "quantity > -1",
    "quantity = +10",
    "ratio = .5",
    "ratio < 1",
    "urgent = TRUE",
    "urgent <> false",
    "color > 'blue'",
    "1 = 1",
    "'a' = 'a'",
    "10 = quantity",
    "color = 'red' AND quantity = 10",
    "color = 'blue' OR quantity = 10",
    "NOT color = 'blue'",
    "not not color = 'red'",
    "NOT (color = 'blue' OR quantity = 9)",
    "color = 'red' OR color = 'blue' AND quantity = 0",
    "(color) = ('red')",
    "((color = 'red'))",
    "color IN ('blue', 'red')",
    "color NOT IN ('blue', 'green')",
    "quantity in (1, 10.0)",
    "color IN ('red', missing)",
    "color NOT IN ('blue', missing)",
    "color LIKE 'r%'",
    "color LIKE '_e_'",
    "color LIKE '%'",
    "color NOT LIKE 'b%'",
    r"path LIKE 'a\%b\_c' ESCAPE '\'",
    "path LIKE 'a!%b!_c' ESCAPE '!'",
    "path LIKE 'a%'",
    "apostrophe = 'it''s'",
    "[my name] = 'Ada'",
    "\"my name\" = 'Ada'",
    "user.[my name] = 'Ada'",
    "größe = 3",
    "missing IS NULL",
    "nothing IS NULL",
    "color IS NOT NULL",
    "sys.ReplyTo IS NULL",
    "EXISTS(color)",
    "EXISTS ( nothing )",
    "NOT EXISTS(missing)",
    "EXISTS(sys.Label)",
    "NOT EXISTS(sys.ReplyTo)",
    "sys.Label = 'JobStarted'",
    "sys.Subject LIKE 'Job%'",
    "sys.MessageId = 'm-1' AND sys.To = 'x'",
    "missing = 1 OR color = 'red'",
    "color = 'red' OR missing = 1",
    "sys.Label IS NULL OR sys.Label <> 'JobQueued'",
]

HOLD_BACK = [
    "color = 'Red'",
    "color = 'blue'",
    "color <> 'red'",
    "quantity = '10'",
    "quantity <> '10'",
    "color = 10",
    "urgent = 1",
    "urgent = 'true'",
    "urgent > FALSE",
    "when = 1",
    "when > 'a'",
    "which = '00000000-0000-0000-0000-000000000001'",
    "bytes = 'x'",
    "quantity LIKE '1%'",
    "missing = 1",
    "missing <> 1",
    "missing <> 'JobQueued'",
    "NOT missing = 1",
    "NOT missing <> 1",
    "missing IN (1, 2)",
    "missing NOT IN (1, 2)",
    "missing LIKE '%'",
    "missing NOT LIKE 'a'",
    "missing = missing",
    "nothing = NULL",
    "nothing <> NULL",
    "color = NULL",
    "nothing IS NOT NULL",
    "missing = 1 AND color = 'red'",
    "missing = 1 OR color = 'blue'",
    "NOT (missing = 1 AND color = 'red')",
    "color LIKE 'R%'",
    "color LIKE 're'",
    "color LIKE 'r.d'",
    "path LIKE 'a!%!_c' ESCAPE '!'",
    "EXISTS(missing)",
    "1 = 2",
    "color IS NULL",
]


@pytest.mark.parametrize("text", PASS)
def test_a_message_passes(text: str) -> None:
    assert parse_sql_filter(text).matches(MESSAGE)


@pytest.mark.parametrize("text", HOLD_BACK)
def test_a_message_is_held_back(text: str) -> None:
    assert not parse_sql_filter(text).matches(MESSAGE)


def test_the_status_subscription_passes_everything_but_queued() -> None:
    rule = parse_sql_filter("sys.Label IS NULL OR sys.Label <> 'JobQueued'")
    assert rule.matches(Facts({"label": "JobStarted"}))
    assert rule.matches(Facts())
    assert not rule.matches(Facts({"label": "JobQueued"}))


@pytest.mark.parametrize(
    ("left", "right", "conjunction", "disjunction"),
    [
        ("1=1", "1=1", True, True),
        ("1=1", "1=2", False, True),
        ("1=2", "1=2", False, False),
        ("1=1", "u=1", None, True),
        ("u=1", "1=1", None, True),
        ("1=2", "u=1", False, None),
        ("u=1", "1=2", False, None),
        ("u=1", "u=1", None, None),
    ],
)
def test_and_or_and_not_follow_the_tables_of_sql(
    left: str, right: str, conjunction: bool | None, disjunction: bool | None
) -> None:
    assert parse_sql_filter(f"{left} AND {right}").predicate.truth(Facts()) is conjunction
    assert parse_sql_filter(f"{left} OR {right}").predicate.truth(Facts()) is disjunction
    negated = None if conjunction is None else not conjunction
    assert parse_sql_filter(f"NOT ({left} AND {right})").predicate.truth(Facts()) is negated


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a value, found the end at position 1"),
        ("color", "expected a condition, found only a value"),
        ("color =", "expected a value, found the end at position 8"),
        ("= 'a'", "expected a value, found '='"),
        ("color = 'red", 'unexpected "\'red"'),
        ("color = 'red' 'blue'", "expected the end, found 'blue'"),
        ("(color = 'red'", r"expected \), found the end"),
        ("color = (1 = 1)", "expected a value, found a condition"),
        ("NOT color", "expected a condition, found only a value"),
        ("color AND color = 'red'", "expected a condition, found only a value"),
        ("color IN ()", r"expected a value, found '\)'"),
        ("color IN 'red'", "expected \\(, found 'red'"),
        ("color LIKE other", "expected a text, found 'other'"),
        ("color LIKE 'a' ESCAPE 'ab'", "ESCAPE takes one character"),
        ("color NOT = 'a'", "expected IN or LIKE, found '='"),
        ("color IS 'a'", "expected NULL, found 'a'"),
        ("'a' IS NULL", "only a property can be tested for NULL"),
        ("EXISTS('a')", "expected a name, found 'a'"),
        ("sys.Nonsense = 1", "sys.Nonsense is not a property that filters can use"),
        ("other.color = 1", "a property is of sys or user, not of 'other'"),
        ("a + 1 = 2", r"expected the end|expected a condition"),
        ("a = @p", "unexpected '@p'"),
        ("a = 9223372036854775808", "does not fit 64 bits"),
        ("a = 1 -- comment", "expected the end, found '-'"),
        ("(" * 900 + "a = 1" + ")" * 100, "nested too deeply"),
        ("a = '" + "x" * 1024 + "'", "longer than 1024 characters"),
    ],
)
def test_a_text_that_is_no_filter_says_what_is_wrong_and_where(text: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        parse_sql_filter(text)


@pytest.mark.parametrize(
    ("system", "user", "passes"),
    [
        ({"label": "JobStarted"}, {}, True),
        ({"label": "JobStarted", "messageid": "m-1"}, {"color": "red"}, True),
        ({}, {"Color": "red", "QUANTITY": 10}, True),
        ({}, {"urgent": True}, True),
        ({"label": "jobstarted"}, {}, False),
        ({"label": "JobStarted"}, {"color": "blue"}, False),
        ({"replyto": "x"}, {}, False),
        ({}, {"quantity": "10"}, False),
        ({}, {"missing": "x"}, False),
    ],
)
def test_a_correlation_filter_wants_every_named_property_equal(
    system: dict[str, str], user: dict[str, Value], passes: bool
) -> None:
    assert CorrelationFilter(system, user).matches(MESSAGE) is passes

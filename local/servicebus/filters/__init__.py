"""Rules of a subscription: which messages of its topic it gets.

`parse_sql_filter` and `CorrelationFilter` give objects with `matches(message)`; whatever offers
the three look-ups of `Properties` can be matched.
"""

from local.servicebus.filters.correlation import CorrelationFilter
from local.servicebus.filters.expressions import Properties, SqlFilter, Value
from local.servicebus.filters.parser import parse_sql_filter
from local.servicebus.filters.tokens import FilterError

type Filter = SqlFilter | CorrelationFilter

__all__ = [
    "CorrelationFilter",
    "Filter",
    "FilterError",
    "Properties",
    "SqlFilter",
    "Value",
    "parse_sql_filter",
]

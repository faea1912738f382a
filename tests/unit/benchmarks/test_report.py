"""The tables that the benchmarks print."""

from benchmarks.report import aligned


def test_columns_stand_below_each_other_the_first_to_the_left() -> None:
    assert aligned([("import", "time", "ratio"), ("function_app", "12 ms", "")]) == [
        "import          time   ratio",
        "function_app   12 ms",
    ]

"""How a log record looks on the console."""

import io
import logging

from azure_functions_runtime import invocation_id_cv

from local.host.console import make_handler


def shown(message: str, logger: str = "local.host") -> list[str]:
    """The lines that one warning becomes, while call-1 runs the function on_msg."""
    handler = make_handler({"call-1": "on_msg"})
    stream = io.StringIO()
    handler.setStream(stream)
    handler.handle(logging.LogRecord(logger, logging.WARNING, "", 0, message, None, None))
    return stream.getvalue().splitlines()


def shown_in_call(message: str, logger: str) -> list[str]:
    token = invocation_id_cv.set("call-1")
    try:
        return shown(message, logger)
    finally:
        invocation_id_cv.reset(token)


def test_a_record_is_one_line_with_its_time_and_its_logger() -> None:
    (line,) = shown("started well")
    time, rest = line.split(" ", 1)
    assert time.endswith("Z")
    assert rest == "WARNING local.host: started well"


def test_what_a_function_logs_is_shown_under_its_name() -> None:
    (line,) = shown_in_call("late", "shared.services")
    assert line.endswith("WARNING Function.on_msg.User: late")


def test_microsofts_libraries_keep_their_own_names() -> None:
    (line,) = shown_in_call("trouble", "azure.servicebus")
    assert line.endswith("WARNING azure.servicebus: trouble")


def test_the_lines_of_a_stack_are_indented() -> None:
    first, *stack = shown("failed\nTraceback\n  here")
    assert first.endswith("failed")
    assert stack == ["    Traceback", "      here"]

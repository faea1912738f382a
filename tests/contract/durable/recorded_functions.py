"""The orchestrators and activities that were recorded on the real host.

Their names, and what they ask for, are those of the recording (`recorded_runs.json`).
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import azure.durable_functions as df

from tests.contract.durable.library import LibraryFunctions

type Context = df.DurableOrchestrationContext
SECOND = timedelta(seconds=1)


def echo(value: Any) -> Any:
    return value


def boom(value: Any) -> None:
    raise ValueError(f"act boom {value}")


def retset(value: Any) -> set[int]:
    return {1, 2}


async def aslp(seconds: float) -> float:
    await asyncio.sleep(seconds / 10)
    return seconds


def typ(value: Any) -> list[Any]:
    return [type(value).__name__, value]


def typstr(value: Any) -> str:
    return f"str:{value}"


def typdict(value: Any) -> dict[str, Any]:
    return {"t": type(value).__name__, "x": value}


def typint(value: Any) -> int:
    return int(value)


_attempts: Counter[str] = Counter()


def flaky(key: str) -> str:
    _attempts[key] += 1
    if _attempts[key] < 3:
        raise RuntimeError(f"flaky attempt {_attempts[key]}")
    return f"ok after {_attempts[key]}"


def never(key: str) -> None:
    _attempts[key] += 1
    raise RuntimeError(f"never attempt {_attempts[key]}")


def o1(context: Context) -> Any:
    result = yield context.call_activity("echo", context.get_input())
    return result


def o_none(context: Context) -> Any:
    yield context.call_activity("echo", 1)


def o_noyield(context: Context) -> Any:
    return "direct"


def o_raise(context: Context) -> Any:
    yield context.call_activity("echo", 1)
    raise RuntimeError("orch boom")


def o_raise0(context: Context) -> Any:
    raise KeyError("first")
    yield  # makes it an orchestrator that has calls to make


def o_ann(context: Context) -> Any:
    first = yield context.call_activity("typstr", "s")
    second = yield context.call_activity("typdict", {"a": 1})
    third = yield context.call_activity("typint", 5)
    return [first, second, third]


def o_types(context: Context) -> Any:
    given = context.get_input()
    values = ["s", 5, 1.5, True, None, [1, "a"], {"k": {"n": 1}}, "", [], {}, "5", '{"j":1}']
    out = []
    for value in (*values, "null", "\u00e9\u20ac"):
        answer = yield context.call_activity("typ", value)
        out.append(answer)
    return {"input": given, "itype": type(given).__name__, "out": out}


def _caught(error: Exception) -> dict[str, str]:
    return {"type": type(error).__name__, "text": str(error)}


def o_fail(context: Context) -> Any:
    yield context.call_activity("boom", {"a": 1})


def o_catch(context: Context) -> Any:
    try:
        yield context.call_activity("boom", 5)
    except Exception as error:
        return _caught(error)


def o_nofn(context: Context) -> Any:
    yield context.call_activity("nosuchactivity", 1)


def o_outset(context: Context) -> Any:
    yield context.call_activity("echo", 1)
    return {1, 2}


def o_retset(context: Context) -> Any:
    yield context.call_activity("retset", 1)


def o_yieldbad(context: Context) -> Any:
    yield 5


def o_nondet(context: Context) -> Any:
    if context.is_replaying:
        result = yield context.create_timer(context.current_utc_datetime + SECOND)
    else:
        result = yield context.call_activity("echo", 1)
    return result


def o_retry_ok(context: Context) -> Any:
    options = df.RetryOptions(1000, 3)
    result = yield context.call_activity_with_retry("flaky", options, context.instance_id)
    return result


def o_retry_never(context: Context) -> Any:
    options = df.RetryOptions(1000, 3)
    yield context.call_activity_with_retry("never", options, context.instance_id)


def o_retry_catch(context: Context) -> Any:
    try:
        options = df.RetryOptions(100, 2)
        yield context.call_activity_with_retry("never", options, context.instance_id)
    except Exception as error:
        return _caught(error)


def o_timer(context: Context) -> Any:
    before = context.current_utc_datetime
    yield context.create_timer(before + 2 * SECOND)
    after = context.current_utc_datetime
    return [str(before), str(after), (after - before).total_seconds()]


def o_timer0(context: Context) -> Any:
    yield context.create_timer(context.current_utc_datetime - 5 * SECOND)
    return "past"


def o_any_act(context: Context) -> Any:
    tasks = [context.call_activity("aslp", seconds) for seconds in (0.2, 2)]
    winner = yield context.task_any(tasks)
    return [winner.result, winner is tasks[0]]


def o_all(context: Context) -> Any:
    results = yield context.task_all([context.call_activity("echo", n) for n in range(3)])
    return results


def o_all_fail(context: Context) -> Any:
    calls = (("echo", 1), ("boom", 2), ("aslp", 1))
    yield context.task_all([context.call_activity(*call) for call in calls])


def o_all_fail_catch(context: Context) -> Any:
    calls = (("echo", 1), ("boom", 2), ("boom", 3))
    try:
        yield context.task_all([context.call_activity(*call) for call in calls])
    except Exception as error:
        return _caught(error)


def o_all_empty(context: Context) -> Any:
    results = yield context.task_all([])
    return results


def o_sub(context: Context) -> Any:
    result = yield context.call_sub_orchestrator("o1", {"in": 1})
    return result


def o_sub_id(context: Context) -> Any:
    child = f"{context.instance_id}-child"
    result = yield context.call_sub_orchestrator("o1", {"in": 1}, child)
    return result


def o_sub_fail(context: Context) -> Any:
    yield context.call_sub_orchestrator("o_fail")


def o_sub_catch(context: Context) -> Any:
    try:
        yield context.call_sub_orchestrator("o_fail")
    except Exception as error:
        return _caught(error)


def o_sub_retry(context: Context) -> Any:
    yield context.call_sub_orchestrator_with_retry("o_fail", df.RetryOptions(500, 2))


def o_sub_misc(context: Context) -> Any:
    result = yield context.call_sub_orchestrator("o_misc")
    return result


def o_misc(context: Context) -> Any:
    seen = {
        "id": context.instance_id,
        "parent": context.parent_instance_id,
        "name": getattr(context, "name", None),
        "replaying": context.is_replaying,
        "guid1": str(context.new_uuid()),
        "guid2": str(context.new_uuid()),
        "now": str(context.current_utc_datetime),
        "version": getattr(context, "version", None),
    }
    yield context.call_activity("echo", 1)
    return {
        **seen,
        "now2": str(context.current_utc_datetime),
        "replaying2": context.is_replaying,
        "func_ctx": str(context.function_context),
        "hist": len(context.histories),
    }


def o_status(context: Context) -> Any:
    context.set_custom_status("one")
    yield context.call_activity("echo", 1)
    context.set_custom_status({"two": [1, None]})
    yield context.create_timer(context.current_utc_datetime + 2 * SECOND)
    context.set_custom_status(None)
    yield context.call_activity("echo", 2)
    context.set_custom_status(5)
    return "done"


def o_status_none(context: Context) -> Any:
    context.set_custom_status("x")
    result = yield context.call_activity("echo", 1)
    context.set_custom_status(None)
    return result


def o_can(context: Context) -> Any:
    round = context.get_input() or 0
    yield context.call_activity("echo", round)
    if round < 2:
        context.continue_as_new(round + 1)
        return "ignored?"
    return ["end", round]


def o_can_ev(context: Context) -> Any:
    round = context.get_input() or 0
    event = yield context.wait_for_external_event("Go")
    if round < 2:
        context.continue_as_new(round + 1)
        return None
    return ["end", round, event]


def o_event(context: Context) -> Any:
    event = yield context.wait_for_external_event("Go")
    return event


def _race(context: Context, seconds: int, *, cancel: bool) -> Any:
    event = context.wait_for_external_event("Go")
    timer = context.create_timer(context.current_utc_datetime + seconds * SECOND)
    winner = yield context.task_any([event, timer])
    if winner is timer:
        return ["timeout"]
    if cancel:
        timer.cancel()
        return ["event", event.result]
    return ["event"]


def o_race_timeout(context: Context) -> Any:
    return (yield from _race(context, 2, cancel=True))


def o_race_event(context: Context) -> Any:
    return (yield from _race(context, 60, cancel=True))


def o_race_nocancel(context: Context) -> Any:
    return (yield from _race(context, 6, cancel=False))


def o_event_late(context: Context) -> Any:
    yield context.create_timer(context.current_utc_datetime + 3 * SECOND)
    event = yield context.wait_for_external_event("Go")
    return event


def o_event_two(context: Context) -> Any:
    yield context.create_timer(context.current_utc_datetime + 3 * SECOND)
    first = yield context.wait_for_external_event("Go")
    second = yield context.wait_for_external_event("Go")
    return [first, second]


def o_event_two_wait(context: Context) -> Any:
    first = yield context.wait_for_external_event("Go")
    second = yield context.wait_for_external_event("Go")
    return [first, second]


def o_event_par(context: Context) -> Any:
    waits = [context.wait_for_external_event("Go") for _ in range(2)]
    events = yield context.task_all(waits)
    return events


def o_long(context: Context) -> Any:
    yield context.create_timer(context.current_utc_datetime + 3600 * SECOND)


def o_http(context: Context) -> Any:
    answer = yield context.call_http("GET", "http://localhost:7071/admin/host/ping")
    return str(answer)


def o_entity(context: Context) -> Any:
    counter = df.EntityId("counter", "e1")
    context.signal_entity(counter, "add", 3)
    value = yield context.call_entity(counter, "get")
    return value


ACTIVITIES = (echo, boom, retset, aslp, typ, typstr, typdict, typint, flaky, never)
ORCHESTRATORS: dict[str, Callable[..., Any]] = {
    name: function for name, function in list(globals().items()) if name.startswith(("o1", "o_"))
}


def recorded_functions() -> LibraryFunctions:
    """All of them, ready to run."""
    _attempts.clear()
    return LibraryFunctions(ORCHESTRATORS.values(), ACTIVITIES)

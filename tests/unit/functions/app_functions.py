"""The functions of the app, as the platform indexes them."""

import asyncio
from collections.abc import Callable
from functools import cache
from typing import Any

import azure.functions as func

import function_app
from tests.unit.functions.fakes import DurableClient


@cache
def functions() -> list[Any]:
    """Every function. Asked for once: the app counts its functions anew at every question."""
    found: list[Any] = function_app.app.get_functions()
    return found


@cache
def http_functions() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Every function behind a route, by name: itself, and its trigger."""
    found = {
        function.get_function_name(): (
            callable_of(function.get_user_function()),
            function.get_trigger().get_dict_repr(),
        )
        for function in functions()
    }
    return {name: each for name, each in found.items() if each[1]["type"] == "httpTrigger"}


def callable_of(user_function: Any) -> Callable[[func.HttpRequest], func.HttpResponse]:
    """The function as one of a request alone, also when the platform gives it a client."""
    inner = getattr(user_function, "client_function", None)
    if inner is None:
        return user_function  # type: ignore[no-any-return]  # the platform has no types for it
    return lambda req: asyncio.run(inner(req, DurableClient()))

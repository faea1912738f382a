"""The functions of the app, as the platform indexes them."""

from functools import cache
from typing import Any

import function_app


@cache
def http_functions() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Every function behind a route, by name: itself, and its trigger.

    Asked for once: the app counts its functions anew at every question.
    """
    found = {
        function.get_function_name(): (
            function.get_user_function(),
            function.get_trigger().get_dict_repr(),
        )
        for function in function_app.app.get_functions()
    }
    return {name: each for name, each in found.items() if each[1]["type"] == "httpTrigger"}

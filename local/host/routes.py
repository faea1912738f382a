"""Which function answers a path: ASP.NET's route templates, in the order of function names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from local.host.constraints import CONSTRAINTS, Constraint
from local.host.errors import HostError

RESERVED = ("admin", "runtime")


@dataclass(frozen=True)
class Parameter:
    """`{name:constraint?}` or `{name=default}` or `{*name}` of a template."""

    name: str
    constraints: tuple[Constraint, ...] = ()
    default: str | None = None
    optional: bool = False
    catch_all: bool = False

    def accepts(self, value: str) -> bool:
        """Whether every constraint holds."""
        return all(constraint(value) for constraint in self.constraints)


@dataclass(frozen=True)
class Route:
    """One function's template; `methods` None means every verb."""

    function: str
    template: str
    methods: frozenset[str] | None
    pattern: re.Pattern[str]
    parameters: tuple[Parameter, ...]

    def match(self, method: str, path: str) -> dict[str, str] | None:
        """The parameters of a decoded path, or None. One slash at the end is ignored."""
        if self.methods is not None and method.upper() not in self.methods:
            return None
        found = self.pattern.fullmatch(path)
        if found is None:
            return None
        values: dict[str, str] = {}
        for parameter, text in zip(self.parameters, found.groups(), strict=True):
            value = text or parameter.default
            if value is None:
                continue
            if not parameter.accepts(value):
                return None
            values[parameter.name] = value
        return values

    def conflicts_with(self, other: "Route") -> bool:
        """Same template and a verb in common."""
        if self.template.lower() != other.template.lower():
            return False
        return self.methods is None or other.methods is None or bool(self.methods & other.methods)


def make_route(
    function: str, template: str, methods: Iterable[str] | None, prefix: str = ""
) -> Route:
    """Compile a template; raises HostError when it can't be read or has an unknown constraint."""
    whole = "/".join(part for part in (prefix, template.strip("/")) if part)
    pattern, parameters = _Template(function, whole).compile()
    verbs = None if methods is None else frozenset(verb.upper() for verb in methods)
    return Route(function, whole, verbs, pattern, parameters)


def is_reserved(template: str) -> bool:
    """Whether a template begins where the host's own paths are."""
    return template.strip("/").split("/")[0].lower() in RESERVED


def find(routes: Sequence[Route], method: str, path: str) -> tuple[str, dict[str, str]] | None:
    """The first function, in load order, whose route takes this request."""
    for route in routes:
        if (values := route.match(method, path)) is not None:
            return route.function, values
    return None


class _Template:
    def __init__(self, function: str, text: str) -> None:
        self._function = function
        self._text = text
        self._parameters: list[Parameter] = []

    def compile(self) -> tuple[re.Pattern[str], tuple[Parameter, ...]]:
        pattern = ""
        closing = ""
        for segment in self._text.split("/") if self._text else []:
            before = len(self._parameters)
            inner = self._segment(segment)
            if any(self._may_be_missing(p) for p in self._parameters[before:]):
                pattern += f"(?:/{inner}"
                closing += ")?"
            else:
                pattern += f"/{inner}"
        return re.compile(pattern + closing + "/?", re.IGNORECASE), tuple(self._parameters)

    def _may_be_missing(self, parameter: Parameter) -> bool:
        return parameter.optional or parameter.catch_all or parameter.default is not None

    def _segment(self, segment: str) -> str:
        parts = re.split(r"(\{[^{}]*\})", segment)
        literals, bracketed = parts[::2], parts[1::2]
        if any("{" in text or "}" in text for text in literals):
            raise self._error(
                "There is an incomplete parameter in the route template."
                " Check that each '{' character has a matching '}' character."
            )
        pattern = re.escape(literals[0])
        for text, literal in zip(bracketed, literals[1:], strict=True):
            pattern += self._parameter(text[1:-1]) + re.escape(literal)
        return pattern

    def _parameter(self, text: str) -> str:
        match = re.fullmatch(r"(\*{0,2})([^:=?]+)((?::[^=]+?)?)(?:=(.*))?(\?)?", text)
        if match is None:
            raise self._error(f"The route parameter '{text}' is invalid.")
        stars, name, constraints, default, question = match.groups()
        parameter = Parameter(
            name,
            tuple(self._constraint(name, *c) for c in _split_constraints(constraints)),
            default,
            question is not None,
            bool(stars),
        )
        self._parameters.append(parameter)
        return "(.*)" if parameter.catch_all else "([^/]+)"

    def _constraint(self, parameter: str, name: str, arguments: str) -> Constraint:
        make = CONSTRAINTS.get(name.lower())
        if make is None:
            raise self._error(
                f"The constraint entry '{parameter}' - '{name}' could not be resolved."
            )
        return make(arguments)

    def _error(self, reason: str) -> HostError:
        return HostError(
            f"An error occurred while creating the route with name '{self._function}'"
            f" and template '{self._text}': {reason}"
        )


def _split_constraints(text: str) -> list[tuple[str, str]]:
    return re.findall(r":(\w+)(?:\((.*?)\))?(?=:|$)", text)

"""The situations that pages of `docs/operations/` begin with, made on the whole stack."""

from collections.abc import Callable

from tests.integration.whole_stack import WholeStack

type Prepare = Callable[[WholeStack], dict[str, str]]
"""Makes a situation; the variables that its reader knows."""

SITUATIONS: dict[str, Prepare] = {}

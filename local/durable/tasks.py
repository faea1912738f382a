"""What the replay of an orchestration awaits."""

from collections.abc import Callable, Sequence


class Task:
    """One thing that will be done, well or badly, once."""

    def __init__(self) -> None:
        self.done = False
        self.failed = False
        self._then: list[Callable[[], None]] = []

    def settle(self, *, failed: bool = False) -> None:
        """It is done; whoever awaits it goes on at once. A second time changes nothing."""
        if self.done:
            return
        self.done, self.failed = True, failed
        for call in self._then:
            call()

    def then(self, call: Callable[[], None]) -> None:
        """Go on with `call` when it is done: at once if it is already."""
        if self.done:
            call()
        else:
            self._then.append(call)


def settled(*, failed: bool = False) -> Task:
    """A task that is done already."""
    task = Task()
    task.settle(failed=failed)
    return task


def when_all(tasks: Sequence[Task]) -> Task:
    """Done when the last of them is, failed ones included."""
    whole = Task()

    def check() -> None:
        if all(task.done for task in tasks):
            whole.settle(failed=any(task.failed for task in tasks))

    for task in tasks:
        task.then(check)
    check()
    return whole


def when_any(tasks: Sequence[Task]) -> Task:
    """Done when the first of them is."""
    whole = Task()
    for task in tasks:
        task.then(whole.settle)
    return whole if tasks else settled()

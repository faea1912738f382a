"""How long the keeper waits before it starts a part again."""

from local.supervisor.keeper import Pauses


def test_the_pauses_grow_while_a_part_keeps_dying_and_are_bounded() -> None:
    pauses = Pauses()

    assert [pauses.after(lived_seconds=0.5) for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]


def test_the_pauses_begin_anew_after_a_part_has_lived_for_a_while() -> None:
    pauses = Pauses()
    for _ in range(5):
        pauses.after(lived_seconds=0.5)

    assert pauses.after(lived_seconds=61) == 1
    assert pauses.after(lived_seconds=0.5) == 2

"""The times of the app that the check must know, and those of a run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Of the app: how long a call may take.

    `most_jobs` of one file: its first extraction and the retries that follow by themselves.
    """

    call_seconds: float
    most_jobs: int


REAL = Timing(call_seconds=30, most_jobs=4)


@dataclass(frozen=True)
class Pace:
    """Of a run, in seconds; what happens at random takes any time up to these.

    `between_*` are pauses: between two files, kills, other failures of parts, changes of the
    broker's switches and changes of an extractor's mood. A killed part is `dead` for so long, a
    paused one, or a locked database, `stopped`. `settling` is how long everything may take to end.
    """

    between_files: float
    between_kills: float
    dead: float
    between_stops: float
    stopped: float
    between_switches: float
    between_moods: float
    settling: float


FULL = Pace(
    between_files=0.5,
    between_kills=4,
    dead=1.5,
    between_stops=8,
    stopped=6,
    between_switches=3,
    between_moods=2,
    settling=900,
)
SHORT = Pace(
    between_files=0.2,
    between_kills=1.2,
    dead=0.5,
    between_stops=3,
    stopped=1.5,
    between_switches=3,
    between_moods=1,
    settling=90,
)

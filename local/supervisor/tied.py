"""Become a command that cannot outlive its supervisor: `tied.py HOW SUPERVISOR_PID COMMAND…`

HOW is `prctl` on Linux, where the kernel ends the process with its parent. Elsewhere it is `pipe`:
standard input is a pipe that only the supervisor holds open, and a small process beside the command
kills it when the pipe ends. It is a program of its own, and not code between fork and exec, because
the supervisor has threads.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(how: str, supervisor: int, command: list[str]) -> None:
    """Tie this process, then replace it by the command."""
    if how == "prctl":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    elif os.fork() == 0:
        _kill_when_pipe_ends(os.getppid())
    else:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    if os.getppid() != supervisor:  # it died before the tie held
        raise SystemExit(1)
    os.execvp(command[0], command)  # noqa: S606  # a shell is what must not stand between


def _kill_when_pipe_ends(target: int) -> None:
    for descriptor in (1, 2):  # the log must end with the command, not with this process
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    while os.read(0, 1):
        pass
    if os.getppid() == target:
        os.kill(target, signal.SIGKILL)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])

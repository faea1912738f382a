"""Files go through the whole stack while everything around them fails; then all is counted.

`python -m tests.chaos --files 1000 --seed 1` runs it. The same seed makes the same choices; what
they hit depends on the moment.
"""

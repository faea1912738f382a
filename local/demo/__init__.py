"""`make run` and its neighbours: the services around ours, and one job shown from end to end."""

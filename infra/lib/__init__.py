"""Reads what az answers, for the scripts beside it."""

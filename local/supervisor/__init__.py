"""Starts the parts of the embedded Azure, watches them, and ends them all."""

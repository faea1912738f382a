"""Measurements of the service, as ratios within one run."""

"""Tests that start stacks of their own."""

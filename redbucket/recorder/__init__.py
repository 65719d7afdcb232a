"""Standalone files that run inside the project's own test process."""

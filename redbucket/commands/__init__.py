"""The commands: each turns its options into one call and a report into an exit code."""

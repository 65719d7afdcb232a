"""The static guards: one file a guard, from a context to findings, pure."""

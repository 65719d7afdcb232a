"""Entry points for pre-commit: one small file a hook."""

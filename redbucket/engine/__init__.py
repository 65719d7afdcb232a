"""The order of things: gate, rerun, classify, demo."""

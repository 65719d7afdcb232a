"""A labelled zoo of small tests that are noisy, and of some that only look so."""

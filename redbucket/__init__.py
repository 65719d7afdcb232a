"""redbucket judges a patch written by a coding agent before it is merged."""

__version__ = "0.1.0"

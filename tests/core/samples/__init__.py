"""Record files as their producers write them."""

from pathlib import Path

SAMPLES = Path(__file__).parent

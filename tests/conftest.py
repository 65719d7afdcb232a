"""What holds for all tests: a loaded machine is no failure, and two CI jobs of one commit draw the same examples."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "redbucket",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("redbucket")

"""What holds for all tests: a loaded machine is no failure."""

from hypothesis import HealthCheck, settings

settings.register_profile("redbucket", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("redbucket")

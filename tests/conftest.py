"""For all tests: how long an example takes tells of the machine, and nothing about what is right."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "untimed", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")

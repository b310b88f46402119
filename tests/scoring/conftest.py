"""Settings of the laws: nothing is measured against a clock, so a busy machine fails nothing."""

from hypothesis import settings

settings.register_profile("no clock", deadline=None)
settings.load_profile("no clock")

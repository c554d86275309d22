"""Measurements, run by `make bench`; they print figures and assert nothing about time."""

import server  # noqa: F401 - before numpy, as in the process that is measured

"""Interviews with simulated respondents whose hidden truth is known, so that what was found can be counted."""

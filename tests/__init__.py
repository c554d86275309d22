"""Tests of askwell; the folders mirror the packages."""

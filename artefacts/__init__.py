"""The models and binaries that come along: what they are, where their files are, and whether these are the right ones.

Imports nothing but Python's own library, and no other package of askwell.
"""

"""Accuracy and latency of speech recognition, measured with recordings of people: `make bench-voice`."""

"""How well and how fast people are heard, measured with recordings of people: `make bench-voice`."""

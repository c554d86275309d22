"""The interview itself: an answer and a state in, a question and a new state out; no network, clock or disk."""

"""Decision engines: choose strategy and node of the next question."""

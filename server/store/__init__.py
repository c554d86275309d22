"""The relational store: what every interview was, for whoever asks later."""

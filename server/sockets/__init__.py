"""The WebSockets of respondents and moderators: a base for handshake, rates, errors and closing, a module for each."""

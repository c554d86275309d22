"""The socket protocol: messages, the codec, error codes, and the published schema."""

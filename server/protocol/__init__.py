"""The words of the sockets: messages in, messages out, the codec, and the published schema."""

"""The server's own voice: questions read aloud by programs on this machine, sentence by sentence."""

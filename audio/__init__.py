"""Speech in: frames, voice activity, endpoints and transcribers. Knows nothing of interviews or servers."""

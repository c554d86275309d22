"""Speech input: audio frames, voice activity detection, endpointing, transcription. Independent of the other packages."""

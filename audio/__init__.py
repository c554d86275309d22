"""Speech input: audio frames, voice activity detection, endpointing and transcription. Imports no other package."""

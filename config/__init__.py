"""Settings, and the files a researcher may change: concepts, methodologies, texts."""

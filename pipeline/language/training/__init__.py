"""Makes the reader's network from the corpus: `python -m pipeline.language.training` (extra `train`)."""

"""The twelve stages of a turn, one module each; their order lives in `pipeline.turn`."""

"""Language models over the wire."""

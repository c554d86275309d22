"""Language models over HTTP: formats, streaming, retries, deadlines."""

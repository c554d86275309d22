"""Language providers: implementations of the ports, with and without language models."""

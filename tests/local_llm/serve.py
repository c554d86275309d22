"""An OpenAI-compatible server for one GGUF file; ends when its standard input does, so it never outlives its parent.

Runs in an environment of its own, with nothing but xllamacpp: `python serve.py MODEL NAME THREADS SLOTS SLOT_TOKENS`.
The last line it prints at its start is `address http://127.0.0.1:PORT`.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

CACHE_MIB = 1024
BATCH_TOKENS = 128
"""Read in one go: between two of them the server sees who hung up, and others get their turn."""
NICENESS = 5


def main(model: str, name: str, threads: int, slots: int, slot_tokens: int) -> None:
    """Serve until standard input ends.

    Args:
        model: path of the GGUF file.
        name: what the model is called.
        threads: how many compute.
        slots: requests at the same time, each with a prompt cache of its own.
        slot_tokens: context of a slot, in tokens.
    """
    os.nice(NICENESS)
    llama: Any = importlib.import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = model
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = slots
    params.n_ctx = slots * slot_tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_batch = params.n_ubatch = BATCH_TOKENS
    params.cache_ram_mib = CACHE_MIB
    params.ui = False
    server = llama.Server(params)
    print(f"address {server.listening_address}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *(int(number) for number in sys.argv[3:6]))

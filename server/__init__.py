"""The server: sockets, storage, and the only place where the parts are put together.

numpy's matrices are small, so that a second thread of theirs only waits, and on a busy machine makes everybody wait:
one thread each, unless the environment says otherwise. It is read when numpy is loaded.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

"""The server: sockets, storage, and the only place where the parts are put together."""

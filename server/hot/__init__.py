"""Hot state in Redis or Valkey: sessions, durable events, the journal, and the embedded server."""

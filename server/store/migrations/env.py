"""What Alembic runs; the connection comes from `run.upgrade`."""

from __future__ import annotations

from alembic import context

from server.store.tables import METADATA

connection = context.config.attributes.get("connection")
if connection is None:
    raise RuntimeError("migrations are run by server.store.migrations.run.upgrade")
context.configure(
    connection=connection,
    target_metadata=METADATA,
    render_as_batch=connection.dialect.name == "sqlite",
    transactional_ddl=False,
)
context.run_migrations()

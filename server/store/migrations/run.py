"""Migrations run by the program itself, on a connection it already has."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection

from server.store.errors import SchemaTooNew


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration; no file is read."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection) -> None:
    """Run every migration that the database has not seen, inside the connection's transaction.

    Raises:
        SchemaTooNew: the database has one that this version does not know.
    """
    config = configuration(connection)
    scripts = ScriptDirectory.from_config(config)
    current = MigrationContext.configure(connection).get_current_revision()
    try:
        if current is not None:
            scripts.get_revision(current)
    except CommandError as exc:
        raise SchemaTooNew(f"the database belongs to a newer askwell (its schema is {current})") from exc
    if current != scripts.get_current_head():
        command.upgrade(config, "head")

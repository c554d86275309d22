"""The store of a process: which database it is, and what is wrong with it in one sentence."""

from __future__ import annotations

from pathlib import Path

from config.settings import Settings
from server.store.engine import Database
from server.store.errors import RecordRefused, StoreMisconfigured, StoreUnavailable

DATABASE_NAME = "askwell.db"


def open_database(settings: Settings, data: Path) -> Database:
    """The database of the settings, else the file in the data directory. Raises StoreMisconfigured."""
    secret = settings.storage.database_url
    url = secret.get_secret_value() if secret is not None else ""
    if not url:
        return Database.file(data / DATABASE_NAME)
    try:
        return Database(url)
    except ImportError as exc:
        raise StoreMisconfigured(
            f"ASKWELL_DATABASE_URL needs the package {exc.name}: pip install 'askwell[postgres]'"
        ) from exc
    except ValueError as exc:
        raise StoreMisconfigured("ASKWELL_DATABASE_URL is not a database URL") from exc


async def migrate(database: Database) -> None:
    """Bring the schema up to date, and say in one sentence which database can't be used.

    The driver's own exceptions pass through SQLAlchemy while it connects; they are known by the driver's package.
    """
    try:
        await database.migrate()
    except Exception as exc:
        ours = isinstance(exc, (StoreUnavailable, RecordRefused))
        if database.is_sqlite or not (ours or isinstance(exc, OSError) or type(exc).__module__.startswith("asyncpg")):
            raise
        where = f"{database.url.host or 'localhost'}:{database.url.port or 5432}/{database.url.database or ''}"
        told = str(exc).partition("\n")[0] or type(exc).__name__
        reason = told.partition(": ")[2] or told if ours else told
        raise StoreUnavailable(f"ASKWELL_DATABASE_URL: the database {where} can't be used: {reason}") from exc

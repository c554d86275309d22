"""What can go wrong with the relational store.

    StoreError
    ├── StoreUnavailable        it can't be reached or is locked; trying again may help
    │   └── StoreLost           its file is not at its path any more
    ├── StalePosition           another writer moved the partition's position on
    ├── RecordRefused           a journal record can't be turned into rows
    └── StoreMisconfigured      the URL or the file can't be used
        └── SchemaTooNew        a newer askwell migrated it

Every error carries `code` (a wire code of the protocol) and `retryable`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

AWAY = ("08", "25006", "40", "53", "55", "57", "58")
"""How the SQLSTATE of a failure begins that says nothing about the rows: no connection, a database that only reads,
a deadlock, no resources left, a lock that was not available, a server that starts or stops, a broken disk."""


class StoreError(Exception):
    """Base of this package's errors."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class StoreUnavailable(StoreError):
    """The store can't be reached, is locked by somebody else, or gave a transaction up that may succeed later."""

    code = "storage_unavailable"
    retryable = True


class StoreLost(StoreUnavailable):
    """The database file was deleted, moved or replaced; what is written into the open one may be lost."""


class StalePosition(StoreError):
    """Another writer moved the partition on; everything of this transaction was rolled back."""

    retryable = True


class RecordRefused(StoreError):
    """The database refused what was asked, for another reason than being away; a journal record is then given up."""


class StoreMisconfigured(StoreError):
    """The URL or the file can't be used."""


class SchemaTooNew(StoreMisconfigured):
    """The schema was migrated by a newer version than this one."""


STALE_PLAN = "InvalidCachedStatementError"
"""What asyncpg raises once on a connection for each statement whose tables another node has migrated."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn exceptions of SQLAlchemy, of connections and of drivers where it lets them through into this package's."""
    try:
        yield
    except OSError as exc:
        raise StoreUnavailable(f"the database can't be reached: {str(exc) or type(exc).__name__}") from exc
    except (OperationalError, InterfaceError, PoolTimeoutError) as exc:
        raise StoreUnavailable(f"the database can't be used now: {_reason(exc)}") from exc
    except DBAPIError as exc:
        if exc.connection_invalidated:
            raise StoreUnavailable(f"the connection to the database was lost: {_reason(exc)}") from exc
        if str(getattr(exc.orig, "sqlstate", None) or "").startswith(AWAY) or type(exc.orig).__name__ == STALE_PLAN:
            raise StoreUnavailable(f"the database can't be used now: {_reason(exc)}") from exc
        raise RecordRefused(f"the database refused the rows: {_reason(exc)}") from exc
    except SQLAlchemyError as exc:
        raise RecordRefused(f"the rows can't be written: {type(exc).__name__}") from exc
    except (OverflowError, UnicodeError) as exc:
        # SQLite's driver: an integer of more than 64 bits, or half a surrogate pair.
        raise RecordRefused(f"the database can't hold a value of the rows: {type(exc).__name__}") from exc


def _reason(exc: SQLAlchemyError) -> str:
    """The driver's message without the statement and its values, which may be what a respondent said."""
    original = getattr(exc, "orig", None)
    return type(exc).__name__ if original is None else str(original).partition("\n")[0][:200]

"""What can go wrong with the relational store.

    StoreError
    ├── StoreUnavailable        it can't be reached or is locked; trying again may help
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


class StoreError(Exception):
    """Base of this package's errors."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False


class StoreUnavailable(StoreError):
    """The store can't be reached, or is locked by somebody else."""

    code = "storage_unavailable"
    retryable = True


class StalePosition(StoreError):
    """Another writer moved the partition on; everything of this transaction was rolled back."""

    retryable = True


class RecordRefused(StoreError):
    """The database refused what was asked, for another reason than being away; a journal record is then given up."""


class StoreMisconfigured(StoreError):
    """The URL or the file can't be used."""


class SchemaTooNew(StoreMisconfigured):
    """The schema was migrated by a newer version than this one."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn SQLAlchemy's exceptions into this package's."""
    try:
        yield
    except (OperationalError, InterfaceError, PoolTimeoutError) as exc:
        raise StoreUnavailable(f"the database can't be used now: {_reason(exc)}") from exc
    except DBAPIError as exc:
        if exc.connection_invalidated:
            raise StoreUnavailable(f"the connection to the database was lost: {_reason(exc)}") from exc
        raise RecordRefused(f"the database refused the rows: {_reason(exc)}") from exc
    except SQLAlchemyError as exc:
        raise RecordRefused(f"the rows can't be written: {type(exc).__name__}") from exc


def _reason(exc: SQLAlchemyError) -> str:
    """The driver's message without the statement and its values, which may be what a respondent said."""
    original = getattr(exc, "orig", None)
    return type(exc).__name__ if original is None else str(original).partition("\n")[0][:200]

"""Sessions that begin, and sessions that are claimed: from hot storage, or rebuilt from their snapshot."""

from __future__ import annotations

import structlog

from pipeline.concept import SessionConfiguration
from pipeline.errors import StateVersionError
from pipeline.state import InterviewState
from server.hot.errors import SessionErased, SessionExists, SessionNotHot
from server.protocol.codes import CLOSE_SERVICE_RESTART
from server.session.context import SessionServices
from server.session.ledger import Ledger
from server.session.new import NewSession
from server.session.owner import SessionOwner
from server.session.problems import Moved, SessionProblem

log = structlog.get_logger("askwell.session")


class SessionLoader:
    """Creates and claims sessions for one node.

    Args:
        services: of the node.
    """

    def __init__(self, services: SessionServices) -> None:
        self._services = services
        self._pinned: dict[str, SessionConfiguration] = {}
        """Configurations by content hash, as far as they were needed here."""

    async def create(self, new: NewSession) -> InterviewState:
        """Store a new session. Raises HotError, StoreError."""
        if new.config_hash not in self._pinned:
            await self._services.store.save_configuration(new.config_hash, new.configuration)
            await self._pin(new.config_hash, new.configuration)
        state = new.state(self._services.now())
        token = new.token.dump() if new.token is not None else b""
        await self._services.hot.create(state.session_id, state=state.dump(), rev=state.rev, token=token)
        log.info("session.created", session=state.session_id, concept=state.concept_id)
        return state

    async def claim(self, session_id: str) -> SessionOwner:
        """Claim a session; its owner does not run yet.

        Raises:
            SessionProblem: `not_found`, or `internal` where its configuration is missing.
            Moved: a newer version of this program wrote its state.
            HotError, StoreError: storage can't be reached.
        """
        owner_id = self._services.new_id()
        try:
            hot, wait_s = self._services.hot, self._services.settings.journal_wait_s
            try:
                ledger = await Ledger.claim(hot, session_id, owner_id, journal_wait_s=wait_s)
            except SessionNotHot:
                await self._rebuild(session_id)
                ledger = await Ledger.claim(hot, session_id, owner_id, journal_wait_s=wait_s)
        except (SessionErased, SessionNotHot) as exc:
            raise SessionProblem("not_found") from exc
        except StateVersionError as exc:
            raise Moved("storage_unavailable", str(exc), close_code=CLOSE_SERVICE_RESTART) from exc
        return SessionOwner(self._services, ledger, await self._configuration(ledger.state.config_hash))

    async def _rebuild(self, session_id: str) -> None:
        stored = await self._services.store.stored_session(session_id)
        if stored is None:
            raise SessionProblem("not_found")
        try:
            epoch = await self._services.hot.restore(
                session_id,
                state=stored.state,
                rev=stored.rev,
                pending=stored.pending,
                receipts=stored.receipts,
                token=stored.token,
            )
        except SessionExists:
            return
        log.warning("session.rebuilt", session=session_id, rev=stored.rev, epoch=epoch)

    async def _configuration(self, config_hash: str) -> SessionConfiguration:
        known = self._pinned.get(config_hash)
        if known is None:
            known = await self._services.store.load_configuration(config_hash)
            if known is None:
                log.error("configuration.missing", config_hash=config_hash)
                raise SessionProblem("internal", "The configuration of this interview is missing.")
            await self._pin(config_hash, known)
        return self._pinned[config_hash]

    async def _pin(self, config_hash: str, configuration: SessionConfiguration) -> None:
        """Keep a configuration here, and in hot storage, from where a lost store gets it again."""
        await self._services.hot.keep_configuration(config_hash, configuration.model_dump_json().encode())
        if configuration.conduct is None:
            language = configuration.concept.languages[0]
            configuration = configuration.model_copy(update={"conduct": self._services.conduct_of(language)})
        self._pinned[config_hash] = configuration

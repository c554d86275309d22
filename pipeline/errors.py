"""What can go wrong inside the interview.

    PipelineError
    ├── ContractNotReady        a stage read a contract that no earlier stage has provided
    ├── PipelineMisbuilt        requires/provides of the stages do not fit together
    ├── StateVersionError       the state was written by a newer askwell
    ├── WordListInvalid         a file of words and patterns of this package breaks a rule
    ├── InvalidAnswer           the answer itself can't be taken (blank, too long, not text)
    └── ProviderError           a language provider did not deliver
        ├── ProviderOutputInvalid   it answered, but not in the agreed form
        ├── LLMTimeout              no answer within the deadline
        ├── LLMRateLimited          the provider asked us to slow down
        ├── LLMRejected             the provider refused the request
        └── LLMUnavailable          the provider can't be reached

Every error carries `code` (a wire code of the protocol), `stage` (where it happened, if known) and `retryable`.
"""

from __future__ import annotations

from typing import ClassVar


class PipelineError(Exception):
    """Base of everything this package raises on purpose."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, stage: str | None = None) -> None:
        super().__init__(message)
        self.stage = stage


class ContractNotReady(PipelineError):
    """A contract was read before the stage that provides it has run."""


class PipelineMisbuilt(PipelineError):
    """The stages given to the pipeline do not fit together."""


class StateVersionError(PipelineError):
    """The state was written by a newer version than this process understands."""

    retryable = True


class WordListInvalid(PipelineError):
    """A file of words and patterns of this package breaks a rule; the message names the file and the key."""


class InvalidAnswer(PipelineError):
    """The answer is blank, too long or not text; nothing was written and no turn was used."""

    code = "invalid_input"

    def __init__(self, message: str, *, code: str = "invalid_input") -> None:
        super().__init__(message, stage="utterance")
        self.wire_code = code


class ProviderError(PipelineError):
    """A language provider did not deliver what it was asked for."""

    code = "llm_unavailable"
    retryable = True


class ProviderOutputInvalid(ProviderError):
    """The provider's output breaks the schema, also after the one repair it is given."""


class LLMTimeout(ProviderError):
    """No answer came within the deadline."""


class LLMRateLimited(ProviderError):
    """The provider asked to slow down."""


class LLMRejected(ProviderError):
    """The provider refused the request as it stands; sending it again can't help."""

    retryable = False


class LLMUnavailable(ProviderError):
    """The provider can't be reached."""

"""When an interview needs a person, and who is told."""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator

from config.group import Group, check_url


class AlertSettings(Group):
    """When an interview needs a person, and who is told besides the moderators who are looking."""

    alert_webhook_url: SecretStr | None = Field(
        default=None,
        description="URL that alerts are posted to as JSON, such as `https://chat.example.org/hooks/askwell`; never "
        "what respondents say.",
    )
    alert_webhook_secret: SecretStr | None = Field(
        default=None,
        description="Signs each post: `X-Askwell-Signature: sha256=` and the HMAC-SHA256 of the body with this key.",
    )
    alert_stuck_s: int = Field(
        default=300, ge=10, description="A respondent who gives no sign for this long is stuck, in seconds."
    )
    alert_disconnected_s: int = Field(
        default=45, ge=5, description="A respondent who is away for this long is disconnected, in seconds."
    )
    claim_timeout_s: int = Field(
        default=300,
        ge=10,
        description="An answer that waits for a moderator this long is given back to the engine, in seconds.",
    )

    @field_validator("alert_webhook_url")
    @classmethod
    def _webhook_usable(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None:
            check_url(url.get_secret_value(), ["https", "http"], "https://chat.example.org/hooks/askwell")
        return url

"""Settings of kiosks: who may use the operator's corner, and where finished interviews are sent."""

from __future__ import annotations

from pydantic import Field, SecretStr, field_validator

from config.group import Group, check_url

SHORTEST_PIN, LONGEST_PIN = 4, 12


class KioskSettings(Group):
    """What a kiosk needs, and the server that its interviews are sent to."""

    kiosk_pin: SecretStr | None = Field(
        default=None,
        description="PIN of the operator's corner, 4 to 12 digits; if not set, the corner stays shut.",
    )
    sync_to: str | None = Field(
        default=None,
        description="Server that finished interviews are sent to by themselves, such as `https://ask.example.org`; if "
        "not set, only `askwell sync` sends them.",
    )
    sync_token: SecretStr | None = Field(
        default=None, description="Device token made on that server, with which they are sent."
    )
    sync_every_s: float = Field(
        default=60.0,
        ge=1,
        le=86_400,
        description="How often finished interviews are looked for, in seconds; less often while the server is away.",
    )
    sync_chunk_bytes: int = Field(
        default=524_288,
        ge=1024,
        le=8_388_608,
        description="What is sent at once, in bytes; less for lines that break often.",
    )
    delete_after_sync: bool = Field(
        default=False,
        description="Whether an interview is erased on this machine once the server has confirmed that it has it all.",
    )
    sync_max_bytes: int = Field(
        default=1_073_741_824,
        ge=1_048_576,
        description="Largest interview that is received from a kiosk, with its recordings, in bytes.",
    )

    @field_validator("kiosk_pin")
    @classmethod
    def _digits(cls, pin: SecretStr | None) -> SecretStr | None:
        if pin is None:
            return None
        shown = pin.get_secret_value()
        if not (shown.isascii() and shown.isdecimal() and SHORTEST_PIN <= len(shown) <= LONGEST_PIN):
            raise ValueError(f"should be {SHORTEST_PIN} to {LONGEST_PIN} digits: it is typed on a screen")
        return pin

    @field_validator("sync_to")
    @classmethod
    def _is_url(cls, url: str | None) -> str | None:
        if url is not None:
            check_url(url, ["http", "https"], "https://ask.example.org")
            url = url.rstrip("/")
        return url

    @field_validator("sync_token")
    @classmethod
    def _one_word(cls, token: SecretStr | None) -> SecretStr | None:
        if token is not None and (not token.get_secret_value().isascii() or " " in token.get_secret_value().strip()):
            raise ValueError("not a token: a token is one word of letters and digits")
        return token

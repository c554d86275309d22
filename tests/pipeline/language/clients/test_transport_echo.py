"""What a provider says of a refused request may repeat the request: a respondent's words reach no message."""

from __future__ import annotations

import json

import pytest

from pipeline.language.clients.base import RoleModel
from pipeline.language.clients.faults import from_status, without_echo

SAID = "I was diagnosed with something last spring and have drunk tea ever since."
SPEC = RoleModel("extraction", "openai_compatible", "m", "http://127.0.0.1:1/v1")


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"detail": [{"loc": ["body", "messages"], "msg": "too many", "input": SAID}]}),
        json.dumps({"error": {"message": f"cannot parse: {SAID}"}}),
        json.dumps({"error": {"message": f"cannot parse: {json.dumps(SAID)}"}}),
        f"<html><pre>{SAID}</pre></html>",
    ],
)
@pytest.mark.parametrize("status", [400, 422, 429, 500])
def test_body_that_repeats_the_question_is_not_quoted(body: str, status: int) -> None:
    fault = without_echo(from_status(SPEC, status, body), [f"Code this answer.\n\n{SAID}\n"])
    assert "diagnosed" not in fault.message and "last spring" not in fault.message
    assert str(status) in fault.message


def test_body_of_the_provider_s_own_words_is_quoted() -> None:
    fault = without_echo(
        from_status(SPEC, 400, json.dumps({"error": {"message": "temperature is not supported"}})), [SAID]
    )
    assert "temperature is not supported" in fault.message and "ASKWELL_EXTRACTION_TEMPERATURE" in fault.message

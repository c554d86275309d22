"""Language models: what the settings say, what a concept says over them, where a key may go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config.roles import BASE_URLS, ModelMisconfigured, Models, describe, host_of, unencrypted
from config.settings import ROLES, SettingsError, load
from pipeline.calls import Role
from pipeline.concept import ModelOverrides
from pipeline.language.clients.base import RoleModel

CLAUDE = {
    "ASKWELL_SCORING_PROVIDER": "anthropic",
    "ASKWELL_SCORING_MODEL": "claude-x",
    "ANTHROPIC_API_KEY": "sk-shared",
}


def _models(**environment: str) -> Models:
    return Models(load(environment).settings)


def _overrides(role: Role = "scoring", **fields: Any) -> ModelOverrides:
    return ModelOverrides.model_validate({role: fields})


def _key(model: RoleModel | None) -> str | None:
    assert model is not None
    return model.api_key.get_secret_value() if model.api_key is not None else None


def test_role_without_settings_is_offline() -> None:
    models = _models()
    assert [models.role_model(role) for role in ROLES] == [None, None, None]
    assert not models.remote(ModelOverrides())


@pytest.mark.parametrize(
    ("role", "temperature", "max_tokens"),
    [("extraction", 0.3, 2048), ("scoring", 0.3, 1024), ("generation", 0.7, 1024)],
)
@pytest.mark.parametrize("provider", ["anthropic", "openai", "kimi", "deepseek"])
def test_role_of_a_provider_takes_its_usual_values(
    role: Role, provider: str, temperature: float, max_tokens: int
) -> None:
    name = f"ASKWELL_{role.upper()}"
    model = _models(
        **{f"{name}_PROVIDER": provider, f"{name}_MODEL": "m", f"{provider.upper()}_API_KEY": "sk-1"}
    ).role_model(role)
    assert model is not None
    assert (model.temperature, model.max_tokens, model.deadline_s) == (temperature, max_tokens, 30.0)
    assert (model.base_url, model.effort, model.structured) == (BASE_URLS[provider], None, "auto")  # type: ignore[index]
    assert (_key(model), model.key_setting) == ("sk-1", f"{provider.upper()}_API_KEY")
    assert "sk-1" not in repr(model)


def test_role_takes_every_setting_of_its_own() -> None:
    model = _models(
        ASKWELL_GENERATION_PROVIDER="openai_compatible",
        ASKWELL_GENERATION_MODEL="qwen",
        ASKWELL_GENERATION_BASE_URL="http://127.0.0.1:8000/v1/",
        ASKWELL_GENERATION_API_KEY=" sk-own\n",
        ASKWELL_GENERATION_TEMPERATURE="unset",
        ASKWELL_GENERATION_MAX_TOKENS="77",
        ASKWELL_GENERATION_DEADLINE_S="5",
        ASKWELL_GENERATION_EFFORT="low",
        ASKWELL_GENERATION_STRUCTURED_OUTPUT="json_object",
    ).role_model("generation")
    assert model is not None
    assert (model.base_url, model.temperature, model.max_tokens) == ("http://127.0.0.1:8000/v1", None, 77)
    assert (model.deadline_s, model.effort, model.structured) == (5.0, "low", "json_object")
    assert (_key(model), model.key_setting) == ("sk-own", "ASKWELL_GENERATION_API_KEY")


def test_key_of_the_role_beats_key_of_the_provider() -> None:
    assert _key(_models(**CLAUDE, ASKWELL_SCORING_API_KEY="sk-own").role_model("scoring")) == "sk-own"


def test_key_of_the_provider_may_come_from_a_file_or_from_the_toml(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("sk-file\n")
    environment = {**CLAUDE, "ANTHROPIC_API_KEY": "", "ANTHROPIC_API_KEY_FILE": str(tmp_path / "key")}
    assert _key(_models(**environment).role_model("scoring")) == "sk-file"
    (tmp_path / "askwell.toml").write_text('anthropic_api_key = "sk-toml"\n')
    environment = {**CLAUDE, "ANTHROPIC_API_KEY": "", "ASKWELL_DATA": str(tmp_path)}
    assert _key(_models(**environment).role_model("scoring")) == "sk-toml"


def test_key_file_of_a_provider_that_is_gone_is_a_warning_only() -> None:
    loaded = load({"OPENAI_API_KEY_FILE": "/nowhere/key"})
    assert loaded.warnings[0].startswith("OPENAI_API_KEY_FILE: /nowhere/key can't be read")
    with pytest.raises(SettingsError, match="ASKWELL_SCORING_API_KEY_FILE: /nowhere/key can't be read"):
        load({"ASKWELL_SCORING_API_KEY_FILE": "/nowhere/key"})


@pytest.mark.parametrize("provider", ["anthropic", "openai", "kimi", "deepseek", "openai_compatible"])
def test_check_without_model_names_the_variable(provider: str) -> None:
    models = _models(ASKWELL_EXTRACTION_PROVIDER=provider, ASKWELL_EXTRACTION_API_KEY="sk-1")
    with pytest.raises(SettingsError, match=f"ASKWELL_EXTRACTION_MODEL is not set: `{provider}` needs the name"):
        models.check()


@pytest.mark.parametrize("provider", ["anthropic", "openai", "kimi", "deepseek"])
def test_check_without_key_names_both_variables(provider: str) -> None:
    models = _models(ASKWELL_EXTRACTION_PROVIDER=provider, ASKWELL_EXTRACTION_MODEL="m")
    with pytest.raises(SettingsError, match=f"ASKWELL_EXTRACTION_API_KEY or {provider.upper()}_API_KEY is not set"):
        models.check()


def test_check_compatible_server_needs_an_address_and_no_key() -> None:
    environment = {"ASKWELL_SCORING_PROVIDER": "openai_compatible", "ASKWELL_SCORING_MODEL": "m"}
    with pytest.raises(SettingsError, match="ASKWELL_SCORING_BASE_URL is not set"):
        _models(**environment).check()
    models = _models(**environment, ASKWELL_SCORING_BASE_URL="http://gpu:8000/v1", OPENAI_API_KEY="sk-openai")
    models.check()
    assert _key(models.role_model("scoring")) is None


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("ASKWELL_SCORING_BASE_URL", "api.example.org/v1", "not a URL such as https://api.example.org/v1"),
        ("ASKWELL_SCORING_BASE_URL", "ftp://api.example.org", "not a URL such as"),
        ("ASKWELL_SCORING_BASE_URL", "https://", "not a URL such as"),
        ("ASKWELL_SCORING_BASE_URL", "https://me:pa55@api.example.org", "holds a user name or password"),
        ("ASKWELL_SCORING_BASE_URL", "https://api.example.org:x/v1", "its host or port can't be read"),
        ("ASKWELL_SCORING_BASE_URL", "https://api.example.org/v1?key=pa55", "should end with the path"),
        ("ASKWELL_SCORING_BASE_URL", "https://api.example.org/v1/chat/completions", "should end before"),
        ("ASKWELL_SCORING_BASE_URL", "https://api.exa mple.org", "has characters"),
        ("ASKWELL_SCORING_TEMPERATURE", "warm", "should be a number from 0 to 2, or `unset`"),
        ("ASKWELL_SCORING_TEMPERATURE", "2.1", "should be a number from 0 to 2, or `unset`"),
        ("ASKWELL_SCORING_TEMPERATURE", "nan", "should be a number from 0 to 2, or `unset`"),
        ("ASKWELL_OPENING_TEMPERATURE", "-1", "should be a number from 0 to 2, or `unset`"),
        ("ASKWELL_SCORING_API_KEY", "pa55 pa55", "has characters that no key has"),
        ("ASKWELL_SCORING_API_KEY", "pa55\u00e9", "has characters that no key has"),
        ("ASKWELL_SCORING_PROVIDER", "acme", "Input should be 'offline'"),
        ("ASKWELL_ON_LLM_FAILURE", "ignore", "Input should be 'fail' or 'offline'"),
    ],
)
def test_load_value_that_can_not_work_names_its_variable(variable: str, value: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({variable: value})
    assert str(caught.value).startswith(f"{variable}: {reason}")
    assert "pa55" not in str(caught.value)


def test_load_key_of_another_program_that_is_no_key_is_a_warning_only(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("your pa55 here")
    (warning,) = load({"KIMI_API_KEY_FILE": str(tmp_path / "key")}).warnings
    assert warning == "KIMI_API_KEY_FILE: has characters that no key has; it is ignored"
    loaded = load({"OPENAI_API_KEY": "your pa55 here"})
    assert loaded.warnings == ("OPENAI_API_KEY: has characters that no key has; it is ignored",)
    assert loaded.settings.models.openai_api_key is None


def test_load_model_of_an_offline_role_is_said_to_have_no_effect() -> None:
    loaded = load({"ASKWELL_SCORING_MODEL": "m", "ASKWELL_SCORING_API_KEY": "sk-1"})
    assert loaded.warnings == (
        "ASKWELL_SCORING_MODEL has no effect: ASKWELL_SCORING_PROVIDER is `offline`",
        "ASKWELL_SCORING_API_KEY has no effect: ASKWELL_SCORING_PROVIDER is `offline`",
    )


def test_load_key_under_our_prefix_is_reported_with_its_right_name() -> None:
    (warning,) = load({"ASKWELL_ANTHROPIC_API_KEY": "sk-1"}).warnings
    assert "did you mean ANTHROPIC_API_KEY?" in warning
    assert "sk-1" not in warning


def test_concept_changes_what_it_names_and_keeps_the_rest() -> None:
    models = _models(**CLAUDE, ASKWELL_SCORING_EFFORT="high", ASKWELL_SCORING_TEMPERATURE="unset")
    model = models.role_model("scoring", _overrides(max_tokens=9, deadline_s=3))
    assert model is not None
    assert (model.model, model.max_tokens, model.deadline_s) == ("claude-x", 9, 3.0)
    assert (model.effort, model.temperature) == ("high", None)


def test_concept_of_another_provider_starts_from_usual_values() -> None:
    models = _models(
        **CLAUDE,
        KIMI_API_KEY="sk-kimi",
        ASKWELL_SCORING_API_KEY="sk-own",
        ASKWELL_SCORING_BASE_URL="https://proxy.example.org",
        ASKWELL_SCORING_EFFORT="high",
        ASKWELL_SCORING_TEMPERATURE="unset",
    )
    model = models.role_model("scoring", _overrides(provider="kimi", model="k2"))
    assert model is not None
    assert (model.base_url, model.effort, model.temperature) == (BASE_URLS["kimi"], None, 0.3)
    assert _key(model) == "sk-kimi"


def test_concept_may_be_offline_where_the_settings_are_not() -> None:
    assert _models(**CLAUDE).role_model("scoring", _overrides(provider="offline")) is None


@pytest.mark.parametrize("fields", [{}, {"provider": "anthropic", "model": "other"}])
def test_key_is_never_sent_to_an_address_of_a_concept(fields: dict[str, Any]) -> None:
    models = _models(**CLAUDE, ASKWELL_SCORING_API_KEY="sk-own")
    overrides = _overrides(base_url="https://elsewhere.example.org/v1", **fields)
    with pytest.raises(
        ModelMisconfigured, match="sent only to an address that ASKWELL_SCORING_BASE_URL names"
    ) as caught:
        models.role_model("scoring", overrides)
    assert "sk-" not in str(caught.value)


def test_key_of_a_compatible_server_is_not_sent_to_that_of_a_concept() -> None:
    models = _models(
        ASKWELL_SCORING_PROVIDER="openai_compatible",
        ASKWELL_SCORING_MODEL="m",
        ASKWELL_SCORING_BASE_URL="https://one.example.org/v1",
        ASKWELL_SCORING_API_KEY="sk-own",
    )
    assert _key(models.role_model("scoring")) == "sk-own"
    assert _key(models.role_model("scoring", _overrides(base_url="https://two.example.org/v1"))) is None


def test_concept_without_its_key_has_a_problem_and_no_secret_in_it() -> None:
    (problem,) = _models(**CLAUDE).problems(_overrides("generation", provider="deepseek", model="chat"))
    assert (problem.role, problem.field) == ("generation", "api_key")
    assert problem.reason == "ASKWELL_GENERATION_API_KEY or DEEPSEEK_API_KEY is not set: `deepseek` needs a key"


def test_concept_with_a_model_for_nobody_has_a_problem() -> None:
    (problem,) = _models().problems(_overrides(model="m"))
    assert (problem.field, problem.reason) == (
        "model",
        "without effect: no provider is given, and ASKWELL_SCORING_PROVIDER is `offline`",
    )


def test_pinned_models_survive_other_settings() -> None:
    pinned = _models(**CLAUDE, ASKWELL_SCORING_TEMPERATURE="unset").pinned(ModelOverrides())
    later = _models(ASKWELL_EXTRACTION_PROVIDER="kimi", ASKWELL_EXTRACTION_MODEL="k2", ANTHROPIC_API_KEY="sk-new")
    model = later.role_model("scoring", pinned)
    assert model is not None
    assert (model.provider, model.model, model.temperature, _key(model)) == ("anthropic", "claude-x", None, "sk-new")
    assert later.role_model("extraction", pinned) is None


def test_pinned_models_follow_a_server_that_moves() -> None:
    environment = {"ASKWELL_SCORING_PROVIDER": "openai_compatible", "ASKWELL_SCORING_MODEL": "m"}
    pinned = _models(**environment, ASKWELL_SCORING_BASE_URL="http://one/v1").pinned(ModelOverrides())
    model = _models(**environment, ASKWELL_SCORING_BASE_URL="http://two/v1").role_model("scoring", pinned)
    assert model is not None
    assert model.base_url == "http://two/v1"


def test_description_names_host_and_nothing_secret() -> None:
    text = describe(_models(**CLAUDE).role_model("scoring"))
    assert text == "anthropic, claude-x, at api.anthropic.com"
    assert describe(None) == "offline"


@pytest.mark.parametrize(
    ("url", "host", "is_open"),
    [
        ("https://api.example.org/v1", "api.example.org", False),
        ("http://gpu:8000/v1", "gpu:8000", True),
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000", False),
        ("http://[::1]:8000/v1", "[::1]:8000", False),
        ("http://localhost/v1", "localhost", False),
    ],
)
def test_address_tells_host_and_whether_it_is_unencrypted(url: str, host: str, is_open: bool) -> None:
    model = RoleModel(role="scoring", provider="openai_compatible", model="m", base_url=url)
    assert (host_of(url), unencrypted(model)) == (host, is_open)

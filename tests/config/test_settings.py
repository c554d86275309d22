"""Settings: where they come from, what is refused, and that the page tells of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.reference import pages
from config.settings import SettingsError, catalogue, load

SECRET = "s3cret-s3cret-s3cret-s3cret-s3cret"


def test_load_without_anything_gives_defaults(tmp_path: Path) -> None:
    settings = load({"ASKWELL_DATA": str(tmp_path)}).settings
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8080)
    assert settings.storage.redis_url is None
    assert settings.pipeline.enable_srl
    assert settings.server.enrolment_open


def test_load_command_line_beats_environment_beats_file(tmp_path: Path) -> None:
    (tmp_path / "askwell.toml").write_text('port = 1\nhost = "h"\nlog_level = "error"\n')
    env = {"ASKWELL_DATA": str(tmp_path), "ASKWELL_PORT": "2", "ASKWELL_HOST": "g"}
    settings = load(env, {"port": 3, "host": None}).settings
    assert (settings.server.port, settings.server.host, settings.logs.log_level) == (3, "g", "error")


def test_load_data_option_decides_which_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "askwell.toml").write_text("enable_srl = false\n")
    assert not load({"ASKWELL_DATA": "/nowhere"}, {"data": str(tmp_path)}).settings.pipeline.enable_srl


@pytest.mark.parametrize(("raw", "expected"), [("true", True), ("0", False), ("no", False)])
def test_load_boolean_accepts_usual_words(raw: str, expected: bool) -> None:
    assert load({"ASKWELL_ENABLE_SRL": raw}).settings.pipeline.enable_srl is expected


def test_load_list_is_split_at_commas() -> None:
    found = load({"ASKWELL_ALLOWED_ORIGINS": "https://a.example, https://b.example,"}).settings
    assert found.server.allowed_origins == ("https://a.example", "https://b.example")


@pytest.mark.parametrize("name", ["MODERATOR_TOKEN", "METRICS_TOKEN"])
def test_load_token_that_can_be_guessed_is_refused_without_repeating_it(name: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({f"ASKWELL_{name}": "x" * 31})
    assert f"ASKWELL_{name}: too short: a token has 32 characters or more" in str(caught.value)
    assert "xxx" not in str(caught.value)
    assert load({f"ASKWELL_{name}": "x" * 32}).warnings == ()


@pytest.mark.parametrize(
    ("environment", "doors"),
    [
        ({}, (True, True, True)),
        ({"ASKWELL_HOST": "0.0.0.0"}, (False, False, False)),
        ({"ASKWELL_OPEN_ENROLMENT": "false"}, (False, False, False)),
        ({"ASKWELL_HOST": "0.0.0.0", "ASKWELL_OPEN_ENROLMENT": "true"}, (True, True, True)),
        ({"ASKWELL_OPEN_METRICS": "false", "ASKWELL_OPEN_READINESS": "false"}, (True, False, False)),
        ({"ASKWELL_HOST": "0.0.0.0", "ASKWELL_OPEN_CONCEPTS": "true"}, (True, False, False)),
    ],
)
def test_doors_are_open_where_enrolment_is_unless_they_are_set(
    environment: dict[str, str], doors: tuple[bool, bool, bool]
) -> None:
    server = load(environment).settings.server
    assert (server.concepts_open, server.metrics_open, server.readiness_open) == doors


def test_load_empty_variable_counts_as_not_set() -> None:
    assert load({"ASKWELL_REDIS_URL": ""}).settings.storage.redis_url is None


def test_load_secret_file_is_read_and_stripped(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n")
    settings = load({"ASKWELL_MODERATOR_TOKEN_FILE": str(tmp_path / "secret")}).settings
    assert settings.server.moderator_token is not None
    assert settings.server.moderator_token.get_secret_value() == SECRET
    assert SECRET not in repr(settings)


def test_load_secret_file_missing_is_named() -> None:
    with pytest.raises(SettingsError, match="ASKWELL_REDIS_URL_FILE: /nowhere/x can't be read"):
        load({"ASKWELL_REDIS_URL_FILE": "/nowhere/x"})


def test_load_file_variable_of_something_not_secret_is_unknown() -> None:
    assert "ASKWELL_PORT_FILE" in load({"ASKWELL_PORT_FILE": "/x"}).warnings[0]


def test_load_unknown_variable_is_reported_with_nearest() -> None:
    loaded = load({"ASKWELL_ENABEL_SRL": "1", "OTHER": "1"})
    assert loaded.warnings == (
        "ASKWELL_ENABEL_SRL is not a setting of askwell and is ignored; did you mean ASKWELL_ENABLE_SRL?",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1\n", r"askwell\.toml: prot: unknown setting; did you mean `port`\?"),
        ('port = "x"\n', r"askwell\.toml: port: .*integer"),
        ('data = "/x"\n', r"askwell\.toml: data: .*--data"),
        ("port = \n", r"askwell\.toml: .*line 1"),
    ],
)
def test_load_wrong_file_names_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "askwell.toml").write_text(text)
    with pytest.raises(SettingsError, match=message):
        load({"ASKWELL_DATA": str(tmp_path)})


def test_load_wrong_variable_names_it() -> None:
    with pytest.raises(SettingsError, match=r"^ASKWELL_PORT: .*got '99999'"):
        load({"ASKWELL_PORT": "99999"})


def test_load_wrong_option_names_it() -> None:
    with pytest.raises(SettingsError, match=r"^--port: "):
        load({}, {"port": "many"})


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("ASKWELL_REDIS_URL", "localhost:6379", "not a URL such as redis://host:6379/0"),
        ("ASKWELL_REDIS_URL", "http://localhost:6379", "not a URL such as redis://host:6379/0"),
        ("ASKWELL_REDIS_URL", "redis://:pa55@localhost:port/0", "its host or port can't be read"),
        ("ASKWELL_REDIS_URL", "redis://:pa55@localhost:99999/0", "its host or port can't be read"),
        ("ASKWELL_REDIS_URL", "redis://[::1/0", "its host or port can't be read"),
        ("ASKWELL_DATABASE_URL", "localhost/askwell", "not a URL such as postgresql"),
        ("ASKWELL_DATABASE_URL", "postgresql://me:pa55@localhost:port/askwell", "its host or port can't be read"),
        ("ASKWELL_DATA", "~nosuchuser/x", "~nosuchuser/x: there is no user of that name"),
        ("ASKWELL_CONFIG_DIR", "~nosuchuser/x", "~nosuchuser/x: there is no user of that name"),
        ("ASKWELL_CONFIG_DIR", "/nowhere/at/all", "/nowhere/at/all is not a directory"),
        ("ASKWELL_HOST", "a" * 64, "not a host name"),
        ("ASKWELL_HOST", "a..b", "not a host name"),
    ],
)
def test_load_value_that_can_not_work_names_its_variable(variable: str, value: str, reason: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({variable: value})
    assert str(caught.value).startswith(f"{variable}: {reason}")
    assert "pa55" not in str(caught.value)


@pytest.mark.parametrize("url", ["redis://h", "rediss://u:p@h:1/2", "unix:///run/redis.sock", "redis://[::1]:6379/0"])
def test_load_redis_url_of_each_kind_is_taken(url: str) -> None:
    found = load({"ASKWELL_REDIS_URL": url}).settings.storage.redis_url
    assert found is not None
    assert found.get_secret_value() == url


@pytest.mark.parametrize("host", ["::", "::1", "0.0.0.0", "localhost", "bücher.example", "example.org."])
def test_load_host_of_each_kind_is_taken(host: str) -> None:
    assert load({"ASKWELL_HOST": host}).settings.server.host == host


def test_load_home_in_config_dir_is_expanded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "own").mkdir()
    assert load({"ASKWELL_CONFIG_DIR": "~/own"}).settings.storage.config_dir == tmp_path / "own"


@pytest.mark.parametrize(
    ("host", "is_open"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False)]
)
def test_enrolment_default_follows_the_address(host: str, is_open: bool) -> None:
    assert load({"ASKWELL_HOST": host}).settings.server.enrolment_open is is_open


def test_catalogue_names_are_unique_and_described() -> None:
    settings = list(catalogue())
    assert len({setting.name for setting in settings}) == len(settings) > 60
    assert [setting.name for setting in settings if not setting.info.description] == []


def test_reference_pages_are_as_published(root: Path) -> None:
    for name, text in pages().items():
        published = (root / "docs" / "configuration" / name).read_text(encoding="utf-8")
        assert published == text, f"docs/configuration/{name} is out of date: run `askwell export-schema`"


def test_reference_page_names_every_setting() -> None:
    page = pages()["settings.md"]
    assert [setting.env for setting in catalogue() if f"`{setting.env}`" not in page] == []

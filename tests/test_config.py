"""Settings: the file documents every key, and a mistake is answered with the right key."""

import itertools
import os
import re
from pathlib import Path

import pytest
import yaml

from noodlings.config import ImportanceSettings, ImportanceWeights, MemorySettings, Settings, load_settings
from noodlings.errors import UserError

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch, tmp_path):
    for name in list(os.environ):
        if name.startswith("NOODLINGS_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_config_yaml_holds_every_key_with_its_default():
    written = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    defaults = Settings().model_dump(mode="json")
    assert written == defaults


def test_config_yaml_explains_every_key():
    lines = (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines()
    for before, line in itertools.pairwise(lines):
        if re.match(r" +\w+:", line):
            assert before.lstrip().startswith("#"), f"no comment above: {line}"


def test_file_overrides_defaults_and_environment_overrides_file(tmp_path, monkeypatch):
    file = tmp_path / "mine.yaml"
    file.write_text("memory_windows: {working: 7}\nmemory: {use_hierarchical: true}\n")
    monkeypatch.setenv("NOODLINGS_MEMORY__USE_HIERARCHICAL", "false")
    settings = load_settings(file)
    assert settings.memory_windows.working == 7
    assert settings.memory_windows.episodic == 200
    assert settings.memory.use_hierarchical is False


def test_weights_of_importance_are_set_in_a_file_or_as_a_value(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("memory: {importance: {surprise: 1}}\n")
    weights = ImportanceWeights(surprise=1.0)
    assert load_settings(file).memory.importance.weights == weights
    assert MemorySettings(importance=weights).importance.weights == weights
    assert set(vars(weights)) == set(ImportanceSettings.model_fields)
    with pytest.raises(UserError, match="the weight of surprise is 7"):
        ImportanceWeights(surprise=7)


def test_config_in_the_current_folder_is_read(tmp_path):
    (tmp_path / "config.yaml").write_text("world: {player: caity}\n")
    assert load_settings().world.player == "caity"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "memory: {use_hierachical: false}",
            "unknown key memory.use_hierachical; did you mean use_hierarchical?",
        ),
        ("memry: {}", "unknown key memry; did you mean memory?"),
        ("memory: {importance: {suprise: 1}}", "did you mean surprise?"),
        ("memory: {importance: {surprise: 2}}", "memory.importance.surprise: "),
        (
            "memory: {importance: 2}",
            "memory.importance: should be a section with keys of its own, not 2; use one of: addressed",
        ),
        (
            "llm: {max_tokens: 200}",
            "llm.max_tokens: should be a section with keys of its own, not 200; use one of: action, appraise",
        ),
        ("api: {tokens: 7}", "api.tokens: should be a list"),
        ("memory_windows: {working: 0}", "memory_windows.working"),
        ("memory_windows: {working: many}", "memory_windows.working"),
        ("memory: {surprise_threshold: .nan}", "memory.surprise_threshold"),
        ("- a list", "mine.yaml"),
        ("memory: [", "mine.yaml"),
        ("\x00", "mine.yaml"),
        (
            "a: " + "[" * 150,
            "mine.yaml cannot be read as YAML: its lists and sections are nested more",
        ),
        (
            "a: " + "[" * 3_000,
            "mine.yaml cannot be read as YAML: its lists and sections are nested more",
        ),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path, text, words):
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=re.escape(words)):
        load_settings(file)


def test_a_mistake_in_the_environment_is_named(monkeypatch):
    monkeypatch.setenv("NOODLINGS_MEMRY__USE_HIERARCHICAL", "false")
    with pytest.raises(UserError, match="did you mean NOODLINGS_MEMORY"):
        load_settings()


def test_a_variable_that_is_no_json_is_named(monkeypatch):
    monkeypatch.setenv("NOODLINGS_API__TOKENS", '[{"role": secret-thing')
    with pytest.raises(UserError, match=r"NOODLINGS_API__TOKENS: .* as JSON") as refused:
        load_settings()
    assert "secret-thing" not in str(refused.value)


@pytest.mark.parametrize(
    "tokens",
    [
        '[{"role": "admin", "token": "my-secret"}]',
        '{"role": "admin", "token": "my-secret"}',
        '["my-secret"]',
        '"my-secret"',
        '[{"role": "player", "token": "my-secret-that-is-long-enough"}]',
        '[{"role": "admin", "token": {"is": "my-secret"}}]',
        '[{"role": "admin", "tokem": "my-secret"}]',
    ],
)
def test_a_token_is_never_repeated_where_it_is_refused(monkeypatch, tokens):
    monkeypatch.setenv("NOODLINGS_API__TOKENS", tokens)
    with pytest.raises(UserError, match=r"api\.tokens") as refused:
        load_settings()
    assert "my-secret" not in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="no settings file at"):
        load_settings(tmp_path / "nowhere.yaml")


def test_the_key_of_the_model_is_never_shown():
    settings = load_settings(llm={"api_key": "sk-secret"})
    assert "sk-secret" not in repr(settings)
    assert "sk-secret" not in settings.model_dump_json()


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://me:p%40ss@db.example.org:5432/noodlings?sslmode=verify-full",
        "postgresql+psycopg://me@[::1]/noodlings",
        "postgresql+psycopg:///noodlings",
    ],
)
def test_a_database_is_where_its_url_says(url: str) -> None:
    settings = load_settings(store={"url": url, "path": "/srv/data"})
    assert (settings.database, settings.data_dir) == (url, Path("/srv/data"))
    assert "p%40ss" not in repr(settings) + settings.model_dump_json()
    assert load_settings(store={"path": "/srv/data"}).database == Path("/srv/data")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@db/noodlings",
        "postgresql+psycopg://me:hunter2@db",
        "postgresql+psycopg://me:hunter2@db:port/noodlings",
        "postgresql+psycopg://me:hunter@2@db/noodlings",
        "hunter2",
    ],
)
def test_what_is_no_url_of_a_database_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UserError, match=r"store\.url: the URL of a database") as refused:
        load_settings(store={"url": url})
    assert "hunter" not in str(refused.value)


def test_backups_of_a_folder_are_not_for_a_database_on_a_server() -> None:
    with pytest.raises(UserError, match="pg_basebackup"):
        load_settings(store={"url": "postgresql+psycopg:///noodlings"}, backup={"folder": "/srv/copies"})

"""Settings: defaults here, overridden by `config.yaml`, overridden by `NOODLINGS_…` in the environment.

An unknown key is an error that names the nearest right one. `config.yaml` at the top of the project lists
every key with its default; a test keeps the two equal.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import platformdirs
from pydantic import ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from noodlings.errors import UserError
from noodlings.files import path_of
from noodlings.validation import Section, explain, nearest, read_table, yaml_of
from noodlings.values.audience import Tier
from noodlings.values.memory import ImportanceWeights as ImportanceWeights  # hosts import it from here, too
from noodlings.values.percept import SPOKEN, Kind

ENV_PREFIX = "NOODLINGS_"
CONFIG_NAME = "config.yaml"


class ImportanceSettings(Section):
    """`ImportanceWeights` as a section of the settings; such a value is accepted too."""

    model_config = ConfigDict(from_attributes=True)

    surprise: float = Field(ImportanceWeights.surprise, ge=0, le=1)
    intensity: float = Field(ImportanceWeights.intensity, ge=0, le=1)
    salience: float = Field(ImportanceWeights.salience, ge=0, le=1)
    addressed: float = Field(ImportanceWeights.addressed, ge=0, le=1)
    answered: float = Field(ImportanceWeights.answered, ge=0, le=1)
    remember: float = Field(ImportanceWeights.remember, ge=0, le=1)
    significance: float = Field(ImportanceWeights.significance, ge=0, le=1)

    @property
    def weights(self) -> ImportanceWeights:
        return ImportanceWeights(**self.model_dump())


class MemorySettings(Section):
    use_hierarchical: bool = True
    surprise_threshold: float = Field(0.3, ge=0, le=1)
    affect_metric: Literal["centred", "cosine", "euclidean"] = "centred"
    affect_threshold: float = Field(0.7, ge=0, le=1)
    importance: ImportanceSettings = ImportanceSettings()


class MemoryWindows(Section):
    working: int = Field(20, ge=1, le=100_000)
    episodic: int = Field(200, ge=1, le=1_000_000)
    subconscious: int = Field(100, ge=1, le=100_000)


class ContextSettings(Section):
    working: int = Field(5, ge=0, le=1_000)
    episodic: int = Field(3, ge=0, le=1_000)
    affect_similar: int = Field(2, ge=0, le=1_000)
    relevant: int = Field(8, ge=0, le=1_000)
    max_tokens: int = Field(1_000, ge=50, le=1_000_000)


class RetrievalSettings(Section):
    """How much mood counts in a search that does not say so."""

    emotion_weight: float = Field(0.3, ge=0, le=1)
    candidate_multiplier: int = Field(2, ge=1, le=5)


class EmbeddingSettings(Section):
    model: Literal["minilm", "none", "openai"] = "minilm"
    base_url: str = ""
    name: str = ""
    api_key: SecretStr = SecretStr("")


class TaskModels(Section):
    reply: str = ""
    modulate: str = ""
    appraise: str = ""
    symbol: str = ""
    action: str = ""
    facts: str = ""
    journal: str = ""


class TaskTokens(Section):
    reply: int = Field(200, ge=1, le=100_000)
    modulate: int = Field(200, ge=1, le=100_000)
    appraise: int = Field(300, ge=1, le=100_000)
    symbol: int = Field(80, ge=1, le=100_000)
    action: int = Field(150, ge=1, le=100_000)
    facts: int = Field(600, ge=1, le=100_000)
    journal: int = Field(800, ge=1, le=100_000)


class BudgetSettings(Section):
    calls_per_hour: int = Field(0, ge=0)
    calls_per_day: int = Field(0, ge=0)
    calls_per_player_hour: int = Field(0, ge=0)
    tokens_per_hour: int = Field(0, ge=0)
    tokens_per_day: int = Field(0, ge=0)
    tokens_per_player_hour: int = Field(0, ge=0)


class LLMSettings(Section):
    base_url: str = ""
    model: str = ""
    api_key: SecretStr = SecretStr("")
    models: TaskModels = TaskModels()
    max_tokens: TaskTokens = TaskTokens()
    prompt_tokens: int = Field(3_000, ge=500, le=1_000_000)
    timeout_seconds: float = Field(20.0, gt=0, le=600)
    first_token_seconds: float = Field(2.0, gt=0, le=600)
    stall_seconds: float = Field(5.0, gt=0, le=600)
    answer_seconds: float = Field(30.0, gt=0, le=600)
    concurrency: int = Field(4, ge=1, le=1_000)
    budget: BudgetSettings = BudgetSettings()
    stop: tuple[Annotated[str, Field(min_length=1, max_length=60)], ...] | None = Field(None, max_length=3)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    min_p: float | None = Field(None, ge=0, le=1)
    appraise: bool = False
    read_facts: bool = True
    write_journal: bool = True
    record: str = ""
    replay: str = ""


class ThoughtSettings(Section):
    chain: Literal["fused", "serial"] = "fused"
    ruminate: bool = True


class ReflectionSettings(Section):
    relationships: bool = True
    hindsight: bool = True
    window: Annotated[str, Field(pattern=r"^(([01]\d|2[0-3]):[0-5]\d-([01]\d|2[0-3]):[0-5]\d)?$")] = ""


_URL = r"postgresql\+psycopg://([^/?#@]*@)?(\[[\da-f:]+\]|[^/?#@:\[\]]*)(:\d+)?/[^/?#\s]+(\?[^#\s]*)?"


def require_url(url: str) -> str:
    """The URL of a database as it is. Raises `ValueError` where it cannot be one, without repeating it."""
    if not re.fullmatch(_URL, url):
        raise ValueError("the URL of a database is postgresql+psycopg://USER:PASSWORD@HOST/DATABASE")
    return url


class StoreSettings(Section):
    path: str = ""
    url: SecretStr = SecretStr("")
    durability: Literal["normal", "full"] = "normal"
    encrypt: Literal["none", "private", "all"] = "none"
    key_file: str = ""
    key: SecretStr = SecretStr("")

    @field_validator("url")
    @classmethod
    def _of_postgresql(cls, url: SecretStr) -> SecretStr:
        if url.get_secret_value():
            require_url(url.get_secret_value())
        return url

    @property
    def encrypted_from(self) -> Tier:
        """The lowest tier whose words are encrypted everywhere on the disk."""
        return {"none": Tier.SECRET, "private": Tier.CONFINED, "all": Tier.OPEN}[self.encrypt]

    @property
    def has_key(self) -> bool:
        return bool(self.key_file or self.key.get_secret_value())

    @property
    def logged_below(self) -> Tier:
        """The log quotes entries of a tier below this one; none beside a key, for any may become secret."""
        return Tier.OPEN if self.has_key else Tier.SECRET


class PrivacySettings(Section):
    """What happens to personal data, and the lowest tier of each kind of percept."""

    personal: Literal["none", "raise", "mask"] = "none"
    tiers: dict[Kind, Annotated[int, Field(ge=0, le=3)]] = Field(default_factory=dict)

    @property
    def of_speech(self) -> int:
        """The highest of the lowest tiers of speech."""
        return max(self.tiers.get(kind, Tier.OPEN) for kind in SPOKEN)


class BackupSettings(Section):
    folder: str = ""
    every_hours: float = Field(24.0, ge=0.1, le=8_760)
    keep: int = Field(7, ge=1, le=10_000)


class NotesSettings(Section):
    enabled: bool = True


class WorldSettings(Section):
    idle_seconds: float = Field(45.0, ge=0, le=86_400)
    clock_speed: float = Field(1.0, gt=0, le=100_000)
    awake: int = Field(1_000, ge=1, le=1_000_000)
    player: str = "traveller"
    speech: Literal["whole", "sentences"] = "whole"
    seed: int = 0


class ApiToken(Section):
    """Who may ask: a role, and a secret, or `sha256:` and its hash in hexadecimal.

    It is refused after `expires`; a time without a zone is UTC.
    """

    role: Literal["admin", "world", "viewer", "player"]
    token: SecretStr = Field(min_length=16)
    user: str = ""
    expires: datetime | None = None

    @field_validator("expires")
    @classmethod
    def _utc(cls, expires: datetime | None) -> datetime | None:
        return expires.replace(tzinfo=UTC) if expires is not None and expires.tzinfo is None else expires

    @model_validator(mode="after")
    def _a_player_is_somebody(self) -> ApiToken:
        if (self.role == "player") != bool(self.user):
            raise ValueError("a player token needs a user, such as user_caity; others must not have one")
        secret = self.token.get_secret_value()
        if secret.startswith("sha256:") and not re.fullmatch("sha256:[0-9a-f]{64}", secret):
            raise ValueError("a hashed token is sha256: followed by 64 hexadecimal digits (0-9, a-f)")
        return self

    @property
    def digest(self) -> str:
        """The hash of the secret, which may already be one, in hexadecimal."""
        secret = self.token.get_secret_value()
        if secret.startswith("sha256:"):
            return secret.removeprefix("sha256:")
        return sha256(secret.encode("utf-8", "replace")).hexdigest()


class ApiTokens(Section):
    """The content of `api.tokens_file`."""

    tokens: tuple[ApiToken, ...] = ()

    @field_validator("tokens")
    @classmethod
    def _each_once(cls, tokens: tuple[ApiToken, ...]) -> tuple[ApiToken, ...]:
        seen = dict[str, int]()
        for number, token in enumerate(tokens, 1):
            if (first := seen.setdefault(token.digest, number)) != number:
                raise ValueError(f"tokens {first} and {number} are the same; each needs a secret of its own")
        return tokens


def tokens_in(file: Path) -> tuple[ApiToken, ...]:
    """The tokens of a file. Raises `UserError`."""
    return read_table(file, ApiTokens).tokens


class ApiSettings(ApiTokens):
    tokens_file: str = ""

    @property
    def token_file(self) -> Path | None:
        return path_of(self.tokens_file) if self.tokens_file else None

    def all_tokens(self) -> tuple[ApiToken, ...]:
        """The tokens of the settings and of the file. Raises `UserError` when the file is wrong."""
        more = () if self.token_file is None else tokens_in(self.token_file)
        return (*self.tokens, *more)

    origins: tuple[str, ...] = ()
    requests_per_second: float = Field(200.0, gt=0, le=1_000_000)
    max_body_bytes: int = Field(100_000, ge=1_000, le=100_000_000)


class LiveSettings(Section):
    queue: int = Field(256, ge=1, le=100_000)
    heartbeat_seconds: float = Field(15.0, gt=0, le=3_600)


class MushSettings(Section):
    host: str = "127.0.0.1"
    port: int = Field(0, ge=0, le=65_535)
    websocket_port: int = Field(0, ge=0, le=65_535)
    tls: bool = False
    idle_seconds: float = Field(3_600.0, gt=0, le=604_800)
    lines_per_second: float = Field(5.0, gt=0, le=10_000)


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"


class Settings(BaseSettings):
    """All settings. Build with `load_settings`, which explains mistakes."""

    from_file: ClassVar[dict[str, Any]] = {}
    """What a file sets, weaker than all else."""
    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    memory: MemorySettings = MemorySettings()
    memory_windows: MemoryWindows = MemoryWindows()
    context: ContextSettings = ContextSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LLMSettings = LLMSettings()
    thought: ThoughtSettings = ThoughtSettings()
    reflection: ReflectionSettings = ReflectionSettings()
    store: StoreSettings = StoreSettings()
    backup: BackupSettings = BackupSettings()
    notes: NotesSettings = NotesSettings()
    privacy: PrivacySettings = PrivacySettings()
    world: WorldSettings = WorldSettings()
    api: ApiSettings = ApiSettings()
    live: LiveSettings = LiveSettings()
    mush: MushSettings = MushSettings()
    log: LogSettings = LogSettings()

    @property
    def data_dir(self) -> Path:
        """`store.path`, else the user's data folder."""
        path = self.store.path
        return path_of(path) if path else Path(platformdirs.user_data_dir("noodlings"))

    @property
    def database(self) -> Path | str:
        """Where all records are: `store.url`, else the data folder."""
        return self.store.url.get_secret_value() or self.data_dir

    @model_validator(mode="after")
    def _backups_are_of_a_folder(self) -> Settings:
        if self.backup.folder and self.store.url.get_secret_value():
            raise ValueError(
                "backup.folder is for a database in the data folder; that of store.url is backed up with"
                " pg_dump or pg_basebackup, see docs/scale.md"
            )
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments before environment before file."""
        return init_settings, env_settings, InitSettingsSource(settings_cls, cls.from_file)


def config_file(explicit: Path | None = None) -> Path | None:
    """The given file, else `NOODLINGS_CONFIG`, else `./config.yaml` if it exists, else None."""
    from_environment = os.environ.get(f"{ENV_PREFIX}CONFIG")
    named = explicit or (Path(from_environment) if from_environment else None)
    if named is not None:
        if not named.is_file():
            raise UserError(f"there is no settings file at {named}; check --config and ${ENV_PREFIX}CONFIG")
        return named
    here = Path(CONFIG_NAME)
    return here if here.is_file() else None


def load_settings(file: Path | None = None, **overrides: Any) -> Settings:
    """Read the settings.

    Args:
        file: see `config_file`.
        overrides: sections set from code, as nested dicts, stronger than everything else.

    Raises `UserError`: an unknown key, a value out of range, unreadable YAML; the message names file and key.
    """
    path = config_file(file)
    _refuse_unknown_environment()

    reading = _reading(path) if path else Settings
    try:
        return reading(**overrides)
    except ValidationError as error:
        source = f"in {path} or the environment" if path else "in the environment"
        raise UserError(f"settings {source}: {explain(error, Settings)}") from None
    except SettingsError as error:
        raise UserError(_no_json(error)) from None


def _reading(path: Path) -> type[Settings]:
    """The settings class with what a file sets. Raises `UserError` if it cannot be read."""
    found = yaml_of(path)
    if not isinstance(found, dict | None) or not all(isinstance(name, str) for name in found or ()):
        raise UserError(f"{path} should have names with values, such as `store: {{path: data}}`")

    class FromFile(Settings):
        from_file = found or {}

    return FromFile


def _no_json(error: SettingsError) -> str:
    """Name the variables that may be wrong, and the mistake; without their values."""
    section = re.search(r'field "(\w+)"', str(error))
    start = f"{ENV_PREFIX}{section[1] if section else ''}".upper()
    names = ", ".join(sorted(name for name in os.environ if name.upper().startswith(start)))
    return f"environment variable {names}: write a list or a section as JSON ({error.__cause__})"


def _refuse_unknown_environment() -> None:
    """Refuse a misspelt section in a variable, which pydantic would ignore."""
    known = {f"{ENV_PREFIX}{name}".upper() for name in Settings.model_fields}
    known |= {f"{ENV_PREFIX}{name}" for name in ("CONFIG", "DATA", "TEST_DATA", "TOKEN")}
    for name in os.environ:
        upper = name.upper()
        if upper.startswith(ENV_PREFIX) and upper.split("__")[0] not in known:
            raise UserError(f"unknown environment variable {name}{nearest(upper.split('__')[0], known)}")

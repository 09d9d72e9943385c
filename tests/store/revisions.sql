-- How each revision of the tables before 0012 came from the one before it. Revisions 0009 and 0010 only changed rows.

-- 0001
CREATE TABLE alembic_version (
    version_num VARCHAR(32) NOT NULL,
    CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE agents (
    agent_id TEXT NOT NULL,
    state TEXT,
    forgotten_id INTEGER NOT NULL,
    CONSTRAINT pk_agents PRIMARY KEY (agent_id)
);
CREATE TABLE entries (
    row_id INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    timestamp FLOAT NOT NULL,
    step INTEGER NOT NULL,
    user_id TEXT NOT NULL,
    user_text TEXT NOT NULL,
    affect BLOB,
    surprise FLOAT NOT NULL,
    encoded_importance FLOAT NOT NULL,
    parts TEXT NOT NULL,
    override FLOAT,
    override_by TEXT NOT NULL,
    response TEXT,
    identity_salience FLOAT NOT NULL,
    phenomenal_state BLOB,
    kind TEXT NOT NULL,
    audience TEXT,
    place TEXT NOT NULL,
    pinned BOOLEAN NOT NULL,
    recall_count INTEGER NOT NULL,
    last_recalled FLOAT,
    stability FLOAT NOT NULL,
    extra TEXT,
    episodic BOOLEAN NOT NULL,
    consolidated BOOLEAN NOT NULL,
    CONSTRAINT pk_entries PRIMARY KEY (row_id),
    CONSTRAINT fk_entries_agent_id FOREIGN KEY(agent_id) REFERENCES agents (agent_id),
    CONSTRAINT uq_entries_agent_id UNIQUE (agent_id, id)
);
CREATE INDEX ix_entries_episodic ON entries (agent_id, id) WHERE episodic = 1;
CREATE INDEX ix_entries_consolidated ON entries (agent_id) WHERE consolidated = 1;
CREATE TABLE traces (
    agent_id TEXT NOT NULL,
    entry_id INTEGER NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT pk_traces PRIMARY KEY (agent_id, entry_id),
    CONSTRAINT fk_traces_agent_id FOREIGN KEY(agent_id, entry_id) REFERENCES entries (agent_id, id) ON DELETE CASCADE
);
CREATE TABLE events (
    event_id INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    timestamp FLOAT NOT NULL,
    kind TEXT NOT NULL,
    by_user TEXT NOT NULL,
    count INTEGER NOT NULL,
    CONSTRAINT pk_events PRIMARY KEY (event_id),
    CONSTRAINT fk_events_agent_id FOREIGN KEY(agent_id) REFERENCES agents (agent_id)
);
CREATE TABLE world (
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_world PRIMARY KEY ("key")
);

-- 0002
CREATE TABLE links (
    agent_id TEXT NOT NULL,
    source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    strength FLOAT NOT NULL,
    created FLOAT NOT NULL,
    CONSTRAINT pk_links PRIMARY KEY (source_id, agent_id, target_id, type),
    CONSTRAINT fk_links_source_id FOREIGN KEY(agent_id, source_id) REFERENCES entries (agent_id, id) ON DELETE CASCADE,
    CONSTRAINT fk_links_target_id FOREIGN KEY(agent_id, target_id) REFERENCES entries (agent_id, id) ON DELETE CASCADE
)
 WITHOUT ROWID
;
CREATE INDEX ix_links_target ON links (target_id, agent_id, strength, created);

-- 0003
CREATE TABLE vectors (
    agent_id TEXT NOT NULL,
    entry_id INTEGER NOT NULL,
    model TEXT NOT NULL,
    vector BLOB,
    attempts INTEGER NOT NULL,
    reason TEXT NOT NULL,
    CONSTRAINT pk_vectors PRIMARY KEY (agent_id, entry_id),
    CONSTRAINT fk_vectors_agent_id FOREIGN KEY(agent_id, entry_id) REFERENCES entries (agent_id, id) ON DELETE CASCADE
);

-- 0004
ALTER TABLE agents ADD COLUMN forgotten_symbol_id INTEGER DEFAULT 0 NOT NULL;
CREATE TABLE symbols (
    agent_id TEXT NOT NULL,
    id INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    timestamp FLOAT NOT NULL,
    literal_event TEXT NOT NULL,
    symbolic_encoding TEXT NOT NULL,
    affect BLOB NOT NULL,
    salience FLOAT NOT NULL,
    surprise FLOAT NOT NULL,
    made_by TEXT NOT NULL,
    circle TEXT,
    faded BOOLEAN NOT NULL,
    CONSTRAINT pk_symbols PRIMARY KEY (agent_id, id),
    CONSTRAINT fk_symbols_agent_id FOREIGN KEY(agent_id, entry_id) REFERENCES entries (agent_id, id) ON DELETE CASCADE
);
CREATE INDEX ix_symbols_entry ON symbols (agent_id, entry_id);
CREATE INDEX ix_symbols_in_mind ON symbols (agent_id, id) WHERE faded = 0;

-- 0005
ALTER TABLE entries ADD COLUMN confined BOOLEAN;

-- 0006
ALTER TABLE traces ADD COLUMN packed BLOB;

-- 0007
ALTER TABLE entries ADD COLUMN source TEXT;
CREATE INDEX ix_entries_lived ON entries (agent_id, id) WHERE source IS NULL;
CREATE TABLE source_records (
    agent_id TEXT NOT NULL,
    source TEXT NOT NULL,
    record_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    entry_id INTEGER,
    user_id TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    reason TEXT NOT NULL,
    record TEXT,
    CONSTRAINT pk_source_records PRIMARY KEY (agent_id, source, record_id),
    CONSTRAINT fk_source_records_agent_id FOREIGN KEY(agent_id) REFERENCES agents (agent_id)
)
 WITHOUT ROWID
;
CREATE INDEX ix_source_records_entry ON source_records (agent_id, entry_id);
CREATE INDEX ix_source_records_parked ON source_records (agent_id, source, record_id) WHERE record IS NOT NULL;

-- 0008
ALTER TABLE entries ADD COLUMN tier INTEGER DEFAULT 0 NOT NULL;
ALTER TABLE symbols ADD COLUMN tier INTEGER DEFAULT 0 NOT NULL;
CREATE TABLE keys (
    number INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    wrapped BLOB NOT NULL,
    sealed_from INTEGER,
    CONSTRAINT pk_keys PRIMARY KEY (number)
);

-- 0009

-- 0010

-- 0011
ALTER TABLE entries ADD COLUMN hindsight TEXT;
ALTER TABLE links ADD COLUMN quoted TEXT;
DROP INDEX ix_links_target;
CREATE INDEX ix_links_target ON links (target_id, agent_id, strength, created, quoted);

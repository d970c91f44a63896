-- One text for SQLite and PostgreSQL: TEXT and BIGINT only. Times are milliseconds since 1970 (UTC); ids of
-- GitHub are kept as the same 64 bits; 0 and 1 are the booleans; JSON is TEXT.

CREATE TABLE delivery (
    id          TEXT   NOT NULL PRIMARY KEY,
    event       TEXT   NOT NULL,
    action      TEXT,
    body_sha256 TEXT   NOT NULL,
    received_at BIGINT NOT NULL
);
CREATE INDEX delivery_received ON delivery (received_at);

-- The row that is the lock. wanted > done: there is work. deep_at: the newest generation that asked for a full reading.
CREATE TABLE subject (
    key          TEXT   NOT NULL PRIMARY KEY,
    body         TEXT   NOT NULL,
    installation BIGINT NOT NULL,
    wanted       BIGINT NOT NULL,
    done         BIGINT NOT NULL,
    deep_at      BIGINT NOT NULL,
    queued_at    BIGINT NOT NULL,
    again_at     BIGINT NOT NULL,
    claimed      BIGINT NOT NULL,
    claims       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL,
    next_attempt BIGINT NOT NULL,
    error        TEXT,
    lease        TEXT,
    lease_until  BIGINT NOT NULL
);
CREATE INDEX subject_waiting ON subject (queued_at, key) WHERE wanted > done;

CREATE TABLE delivery_subject (
    delivery_id TEXT   NOT NULL REFERENCES delivery (id) ON DELETE CASCADE,
    subject_key TEXT   NOT NULL,
    generation  BIGINT NOT NULL,
    status      TEXT   NOT NULL,
    PRIMARY KEY (delivery_id, subject_key)
);
CREATE INDEX delivery_subject_open ON delivery_subject (subject_key, generation) WHERE status <> 'done';

CREATE TABLE announcement (
    subject_key TEXT   NOT NULL,
    generation  BIGINT NOT NULL,
    head        TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (subject_key, generation, head)
);

CREATE TABLE dead_letter (
    subject_key TEXT   NOT NULL PRIMARY KEY,
    body        TEXT   NOT NULL,
    reason      TEXT   NOT NULL,
    attempts    BIGINT NOT NULL,
    at          BIGINT NOT NULL
);

CREATE TABLE plan (
    subject_key  TEXT   NOT NULL PRIMARY KEY,
    generation   BIGINT NOT NULL,
    decision_id  TEXT   NOT NULL,
    entries      TEXT   NOT NULL,
    state_after  TEXT   NOT NULL,
    witness_seq  BIGINT,
    witness_hash TEXT
);
CREATE TABLE plan_effect (
    subject_key TEXT   NOT NULL,
    idx         BIGINT NOT NULL,
    effect      TEXT   NOT NULL,
    status      TEXT   NOT NULL,
    outcome     TEXT,
    PRIMARY KEY (subject_key, idx)
);

CREATE TABLE pull_state (
    repo_id    BIGINT NOT NULL,
    number     BIGINT NOT NULL,
    head_sha   TEXT   NOT NULL,
    issue_open BIGINT NOT NULL,
    state      TEXT   NOT NULL,
    PRIMARY KEY (repo_id, number)
);
CREATE INDEX pull_state_head ON pull_state (repo_id, head_sha);
CREATE INDEX pull_state_issue ON pull_state (repo_id, number) WHERE issue_open = 1;

-- Only ever added to: a reopened Issue still finds its pull request.
CREATE TABLE issue_pull (
    issue_repo_id BIGINT NOT NULL,
    issue_number  BIGINT NOT NULL,
    pull_repo_id  BIGINT NOT NULL,
    pull_number   BIGINT NOT NULL,
    PRIMARY KEY (issue_repo_id, issue_number)
);

CREATE TABLE audit_tail (
    one  BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  BIGINT NOT NULL,
    hash TEXT   NOT NULL
);
CREATE TABLE installation (id BIGINT NOT NULL PRIMARY KEY, status TEXT NOT NULL);
CREATE TABLE repo (id BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL, installation BIGINT NOT NULL);
CREATE TABLE owner (login TEXT NOT NULL PRIMARY KEY, account_id BIGINT NOT NULL);
CREATE TABLE counter (name TEXT NOT NULL PRIMARY KEY, value BIGINT NOT NULL);
CREATE TABLE label_ensured (repo_id BIGINT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (repo_id, name));
CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);

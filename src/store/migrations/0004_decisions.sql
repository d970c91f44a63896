-- What was decided and from which facts, for a while. The key is the `decision` of the audit entry. The documents are
-- compressed (zlib), null where one was too large; they stand last, so that reading the rest of a row does not read them.

CREATE TABLE decision (
    id          TEXT   NOT NULL PRIMARY KEY,
    repo_id     BIGINT NOT NULL,
    repo        TEXT   NOT NULL,
    number      BIGINT NOT NULL,
    head_sha    TEXT   NOT NULL,
    at          BIGINT NOT NULL,
    quadrant    TEXT   NOT NULL,
    policy      TEXT   NOT NULL,
    version     TEXT   NOT NULL,
    entry_seq   BIGINT,
    entry_hash  TEXT,
    facts       BYTEA,
    explanation BYTEA
);
CREATE INDEX decision_of_pull ON decision (repo_id, number, at);
CREATE INDEX decision_at ON decision (at);

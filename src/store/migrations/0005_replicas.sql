-- Several replicas. An older program goes on beside this schema if it knows at least the version `compatible_from`.
-- Entries of the audit log that are committed here in the order of their chain, and how far they are written out as
-- files; `audit_tail` is their end and the row that is locked to append. SQLite has only the files.

ALTER TABLE schema_version ADD COLUMN compatible_from BIGINT;

CREATE TABLE audit_entry (
    seq      BIGINT NOT NULL PRIMARY KEY,
    hash     TEXT   NOT NULL,
    decision TEXT   NOT NULL,
    line     TEXT   NOT NULL
);
CREATE INDEX audit_entry_decision ON audit_entry (decision);
CREATE TABLE audit_written (
    one BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    seq BIGINT NOT NULL
);

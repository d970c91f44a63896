-- What only a webhook tells: who pressed a button, who edited a comment on an Issue of ours. Accounts are JSON.

CREATE TABLE press (
    delivery_id TEXT   NOT NULL PRIMARY KEY,
    external_id TEXT   NOT NULL,
    identifier  TEXT   NOT NULL,
    account     TEXT   NOT NULL,
    at          BIGINT NOT NULL
);
CREATE INDEX press_of_check_run ON press (external_id);

CREATE TABLE comment_edit (
    repo_id    BIGINT NOT NULL,
    issue      BIGINT NOT NULL,
    comment_id BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    account_id BIGINT NOT NULL,
    account    TEXT   NOT NULL,
    PRIMARY KEY (repo_id, issue, comment_id, updated_at, account_id)
);

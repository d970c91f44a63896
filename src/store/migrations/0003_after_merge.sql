-- Commits that merges made, watched for a while: `open` is 1 while the sweep has to look.

CREATE TABLE merged_commit (
    repo_id BIGINT NOT NULL,
    sha     TEXT   NOT NULL,
    number  BIGINT NOT NULL,
    until   BIGINT NOT NULL,
    open    BIGINT NOT NULL,
    PRIMARY KEY (repo_id, sha)
);
CREATE INDEX merged_commit_open ON merged_commit (until) WHERE open = 1;

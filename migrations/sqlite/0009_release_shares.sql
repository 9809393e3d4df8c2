-- With whom a release was shared, besides who paid for it.
CREATE TABLE release_shares (
  release_id TEXT NOT NULL REFERENCES releases (id),
  grantee TEXT NOT NULL,
  shared_by TEXT NOT NULL,
  shared_at_us INTEGER NOT NULL,
  PRIMARY KEY (release_id, grantee)
) STRICT;

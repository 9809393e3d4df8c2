-- With whom a release was shared, besides who paid for it.
CREATE TABLE release_shares (
  release_id TEXT NOT NULL REFERENCES releases (id),
  grantee TEXT NOT NULL,
  shared_by TEXT NOT NULL,
  shared_at_us BIGINT NOT NULL,
  PRIMARY KEY (release_id, grantee)
);

DO $body$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT, INSERT ON release_shares TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON release_shares TO curator_auditor;
  END IF;
END
$body$;

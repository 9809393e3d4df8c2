-- The history of the server itself: principals, their credentials and roles, as a hash chain like a dataset's. The key makes
-- writers take turns: of two entries with one number the second is refused.
CREATE TABLE server_entries (
  seq BIGINT PRIMARY KEY CHECK (seq >= 1),
  kind TEXT COLLATE "C" NOT NULL,
  -- Of the change: after a lost connection it finds what its first attempt wrote.
  change_id TEXT COLLATE "C" NOT NULL,
  payload BYTEA NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  created_at_us BIGINT NOT NULL,
  prev_hash BYTEA NOT NULL,
  hash BYTEA NOT NULL
);
CREATE TRIGGER server_entries_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON server_entries
FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting_history();

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT, INSERT ON server_entries TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON server_entries TO curator_auditor;
  END IF;
END
$roles$;

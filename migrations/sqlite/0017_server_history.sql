-- The history of the server itself: principals, their credentials and roles, as a hash chain like a dataset's. The key makes
-- writers take turns: of two entries with one number the second is refused.
CREATE TABLE server_entries (
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  kind TEXT NOT NULL,
  -- Of the change: after a lost connection it finds what its first attempt wrote.
  change_id TEXT NOT NULL,
  payload BLOB NOT NULL,
  actor TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL
) STRICT;
CREATE TRIGGER server_entries_are_never_updated BEFORE UPDATE ON server_entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER server_entries_are_never_deleted BEFORE DELETE ON server_entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

-- A large payload is written before the transaction that ends its charge, in pieces, so that no other change waits for its bytes.

-- The payloads that are being written, of one attempt each. The transaction that stores the release deletes the row, which makes
-- the pieces those of the release; every other end of the attempt deletes both. So many at a time as a principal has places.
CREATE TABLE staged_releases (
  principal TEXT NOT NULL,
  place INTEGER NOT NULL,
  charge_id TEXT NOT NULL,
  attempt_token TEXT NOT NULL,
  payload_hash BLOB NOT NULL,
  touched_at_us INTEGER NOT NULL,
  PRIMARY KEY (principal, place),
  UNIQUE (charge_id, attempt_token)
) STRICT, WITHOUT ROWID;
CREATE TABLE release_pieces (
  charge_id TEXT NOT NULL,
  attempt_token TEXT NOT NULL,
  position INTEGER NOT NULL,
  piece BLOB NOT NULL,
  UNIQUE (charge_id, attempt_token, position)
) STRICT;
-- The attempt whose pieces are the payload; empty where the payload is in the row.
ALTER TABLE releases ADD COLUMN staged_by TEXT NOT NULL DEFAULT '';

CREATE TRIGGER pieces_of_releases_are_never_deleted BEFORE DELETE ON release_pieces
WHEN EXISTS (SELECT 1 FROM releases r WHERE r.charge_id = OLD.charge_id AND r.staged_by = OLD.attempt_token)
BEGIN SELECT RAISE(ABORT, 'a piece of a stored release is never deleted'); END;
CREATE TRIGGER pieces_are_never_changed BEFORE UPDATE ON release_pieces
BEGIN SELECT RAISE(ABORT, 'pieces of releases are never changed'); END;

-- The owner finds releases by their measures as every reader does, by the name ''.
INSERT INTO release_measures (dataset_id, reader, measure, number)
  SELECT DISTINCT dataset_id, '', measure, number FROM release_measures;
DROP INDEX release_measures_all;

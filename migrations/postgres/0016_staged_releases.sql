-- A large payload is written before the transaction that ends its charge, in pieces, so that no other change waits for its bytes.

-- The payloads that are being written, of one attempt each. The transaction that stores the release deletes the row, which makes
-- the pieces those of the release; every other end of the attempt deletes both. So many at a time as a principal has places.
CREATE TABLE staged_releases (
  principal TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL,
  charge_id TEXT COLLATE "C" NOT NULL,
  attempt_token TEXT COLLATE "C" NOT NULL,
  payload_hash BYTEA NOT NULL,
  touched_at_us BIGINT NOT NULL,
  PRIMARY KEY (principal, place),
  UNIQUE (charge_id, attempt_token)
);
CREATE TABLE release_pieces (
  charge_id TEXT COLLATE "C" NOT NULL,
  attempt_token TEXT COLLATE "C" NOT NULL,
  position BIGINT NOT NULL,
  piece BYTEA NOT NULL,
  PRIMARY KEY (charge_id, attempt_token, position)
);
-- The attempt whose pieces are the payload; empty where the payload is in the row.
ALTER TABLE releases ADD COLUMN staged_by TEXT COLLATE "C" NOT NULL DEFAULT '';

CREATE FUNCTION refuse_losing_a_release() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF EXISTS (SELECT 1 FROM releases r WHERE r.charge_id = OLD.charge_id AND r.staged_by = OLD.attempt_token) THEN
    RAISE EXCEPTION 'a piece of a stored release is never deleted';
  END IF;
  RETURN OLD;
END
$body$;
CREATE TRIGGER pieces_of_releases_are_never_deleted BEFORE DELETE ON release_pieces
FOR EACH ROW EXECUTE FUNCTION refuse_losing_a_release();
CREATE TRIGGER pieces_are_never_changed BEFORE UPDATE OR TRUNCATE ON release_pieces
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();

-- The owner finds releases by their measures as every reader does, by the name ''. An index over all readers could be taken for
-- one reader, too, and then all releases were read that have the measure.
INSERT INTO release_measures (dataset_id, reader, measure, number)
  SELECT DISTINCT dataset_id, '', measure, number FROM release_measures;
DROP INDEX release_measures_all;

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT, INSERT, DELETE ON staged_releases, release_pieces TO curator_application;
    GRANT UPDATE (payload_hash, touched_at_us) ON staged_releases TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON staged_releases, release_pieces TO curator_auditor;
  END IF;
END
$roles$;

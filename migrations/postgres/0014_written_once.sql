-- A charge is written once. What may still change about it stands in open_charges while it is RESERVED or STARTED; its end is
-- written once, too, into endings. So the end of a charge writes no wide row, and the sealed key of its draw goes with a row that
-- is deleted.

DROP VIEW postings;

CREATE TABLE open_charges (
  charge_id TEXT COLLATE "C" PRIMARY KEY,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('RESERVED', 'STARTED')),
  attempt_token TEXT COLLATE "C" NOT NULL,
  -- Empty where there is no draw.
  sealed_key BYTEA NOT NULL,
  -- Of a RESERVED charge; else 0.
  deadline_us BIGINT NOT NULL,
  -- Where they differ from those of the charge; else empty.
  postings TEXT COLLATE "C" NOT NULL
);
INSERT INTO open_charges (charge_id, state, attempt_token, sealed_key, deadline_us, postings)
  SELECT id, state, attempt_token, COALESCE(sealed_key, ''), CASE WHEN state = 'RESERVED' THEN deadline_us ELSE 0 END, ''
  FROM charges WHERE state IN ('RESERVED', 'STARTED');
CREATE INDEX open_charges_deadline ON open_charges (deadline_us, charge_id) WHERE deadline_us > 0;

CREATE TABLE endings (
  charge_id TEXT COLLATE "C" PRIMARY KEY,
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('COMMITTED', 'CANCELLED', 'FORFEITED')),
  reason TEXT COLLATE "C" NOT NULL,
  -- As in open_charges.
  postings TEXT COLLATE "C" NOT NULL,
  ended_at_us BIGINT NOT NULL
);
INSERT INTO endings (charge_id, state, reason, postings, ended_at_us)
  SELECT id, state, reason, '', COALESCE(ended_at_us, created_at_us)
  FROM charges WHERE state IN ('COMMITTED', 'CANCELLED', 'FORFEITED');

-- Every charge knows its entry. Its number orders the charges of a dataset, and their releases with them.
UPDATE charges c SET entry_seq = e.seq FROM entries e
WHERE c.entry_seq IS NULL AND e.dataset_id = c.dataset_id AND e.charge_id = c.id AND e.kind IN ('CHARGED', 'RESERVED');

CREATE TEMPORARY TABLE renumbered ON COMMIT DROP AS
  SELECT r.dataset_id, r.number, c.entry_seq FROM releases r JOIN charges c ON c.id = r.charge_id;
CREATE UNIQUE INDEX ON renumbered (dataset_id, number);
ANALYZE renumbered;
UPDATE releases r SET number = n.entry_seq FROM renumbered n WHERE n.dataset_id = r.dataset_id AND n.number = r.number;
-- Their keys have the number: they are written again.
CREATE TEMPORARY TABLE readers ON COMMIT DROP AS
  SELECT x.dataset_id, x.reader, n.entry_seq FROM release_readers x JOIN renumbered n USING (dataset_id, number);
CREATE TEMPORARY TABLE measures ON COMMIT DROP AS
  SELECT x.dataset_id, x.reader, x.measure, n.entry_seq FROM release_measures x JOIN renumbered n USING (dataset_id, number);
TRUNCATE release_readers, release_measures;
INSERT INTO release_readers (dataset_id, reader, number) SELECT dataset_id, reader, entry_seq FROM readers;
INSERT INTO release_measures (dataset_id, reader, measure, number) SELECT dataset_id, reader, measure, entry_seq FROM measures;

-- No key may stay behind in a column that is dropped.
UPDATE charges SET sealed_key = NULL WHERE sealed_key IS NOT NULL;
DROP INDEX charges_deadline;
ALTER TABLE charges DROP COLUMN open_until_us;
ALTER TABLE charges DROP COLUMN state, DROP COLUMN reason, DROP COLUMN attempt_token, DROP COLUMN sealed_key,
  DROP COLUMN ended_at_us, DROP COLUMN part;
ALTER TABLE charges RESET (fillfactor);
DROP TRIGGER charges_keep_their_ids ON charges;
CREATE TRIGGER charges_are_never_changed BEFORE UPDATE ON charges
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();

CREATE VIEW postings AS
  SELECT c.id AS charge_id, (p.value ->> 0)::BIGINT AS account_id, p.value ->> 1 AS counter, (p.value ->> 2)::BIGINT AS cost
  FROM charges c LEFT JOIN open_charges o ON o.charge_id = c.id LEFT JOIN endings e ON e.charge_id = c.id
  CROSS JOIN LATERAL json_array_elements(COALESCE(NULLIF(e.postings, ''), NULLIF(o.postings, ''), c.postings)::json) AS p (value);

-- To be read, not written.
CREATE VIEW charge_states AS
  SELECT c.id AS charge_id, COALESCE(e.state, o.state) AS state, COALESCE(e.reason, '') AS reason
  FROM charges c LEFT JOIN open_charges o ON o.charge_id = c.id LEFT JOIN endings e ON e.charge_id = c.id;

DO $body$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    REVOKE UPDATE (deadline_us, postings) ON charges FROM curator_application;
    GRANT SELECT, INSERT, DELETE ON open_charges TO curator_application;
    GRANT UPDATE (state, attempt_token, sealed_key, deadline_us, postings) ON open_charges TO curator_application;
    GRANT SELECT, INSERT ON endings TO curator_application;
    GRANT SELECT ON postings, charge_states TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON open_charges, endings, postings, charge_states TO curator_auditor;
  END IF;
END
$body$;

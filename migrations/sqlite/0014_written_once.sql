-- A charge is written once. What may still change about it stands in open_charges while it is RESERVED or STARTED; its end is
-- written once, too, into endings. So the end of a charge writes no wide row, and the sealed key of its draw goes with a row that
-- is deleted.

DROP VIEW postings;

CREATE TABLE open_charges (
  charge_id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('RESERVED', 'STARTED')),
  attempt_token TEXT NOT NULL,
  -- Empty where there is no draw.
  sealed_key BLOB NOT NULL,
  -- Of a RESERVED charge; else 0.
  deadline_us INTEGER NOT NULL,
  -- Where they differ from those of the charge; else empty.
  postings TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO open_charges (charge_id, state, attempt_token, sealed_key, deadline_us, postings)
  SELECT id, state, attempt_token, COALESCE(sealed_key, X''), CASE WHEN state = 'RESERVED' THEN deadline_us ELSE 0 END, ''
  FROM charges WHERE state IN ('RESERVED', 'STARTED');
CREATE INDEX open_charges_deadline ON open_charges (deadline_us, charge_id) WHERE deadline_us > 0;

CREATE TABLE endings (
  charge_id TEXT PRIMARY KEY,
  state TEXT NOT NULL CHECK (state IN ('COMMITTED', 'CANCELLED', 'FORFEITED')),
  reason TEXT NOT NULL,
  -- As in open_charges.
  postings TEXT NOT NULL,
  ended_at_us INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO endings (charge_id, state, reason, postings, ended_at_us)
  SELECT id, state, reason, '', COALESCE(ended_at_us, created_at_us)
  FROM charges WHERE state IN ('COMMITTED', 'CANCELLED', 'FORFEITED');

-- Every charge knows its entry. Its number orders the charges of a dataset, and their releases with them.
CREATE TEMPORARY TABLE made (charge_id TEXT PRIMARY KEY, seq INTEGER NOT NULL) WITHOUT ROWID;
INSERT OR IGNORE INTO made (charge_id, seq) SELECT charge_id, seq FROM entries WHERE kind IN ('CHARGED', 'RESERVED');

-- SQLite drops no column that a CHECK names: the table is written again.
CREATE TABLE charges_written_once (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  dataset_version INTEGER NOT NULL,
  principal TEXT NOT NULL,
  request_id TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  kind TEXT NOT NULL,
  event BLOB NOT NULL,
  label TEXT NOT NULL,
  deadline_us INTEGER,
  created_at_us INTEGER NOT NULL,
  entry_seq INTEGER,
  postings TEXT NOT NULL CHECK (postings LIKE '[%]'),
  draw_identity BLOB,
  UNIQUE (principal, request_id)
) STRICT;
INSERT INTO charges_written_once (number, id, dataset_id, dataset_version, principal, request_id, fingerprint, kind, event, label, deadline_us,
    created_at_us, entry_seq, postings, draw_identity)
  SELECT c.number, c.id, c.dataset_id, c.dataset_version, c.principal, c.request_id, c.fingerprint, c.kind, c.event, c.label,
    c.deadline_us, c.created_at_us, COALESCE(c.entry_seq, m.seq), c.postings, c.draw_identity
  FROM charges c LEFT JOIN made m ON m.charge_id = c.id ORDER BY c.number;
DROP TABLE charges;
ALTER TABLE charges_written_once RENAME TO charges;
DROP TABLE made;
CREATE INDEX charges_dataset_principal ON charges (dataset_id, principal);
CREATE INDEX charges_operations ON charges (principal, number) WHERE kind <> 'reservation';
CREATE TRIGGER charges_are_never_deleted BEFORE DELETE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are never deleted'); END;
CREATE TRIGGER charges_are_never_changed BEFORE UPDATE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are never changed'); END;

CREATE TEMPORARY TABLE renumbered (
  dataset_id TEXT NOT NULL, number INTEGER NOT NULL, entry_seq INTEGER NOT NULL, PRIMARY KEY (dataset_id, number)
) WITHOUT ROWID;
INSERT INTO renumbered (dataset_id, number, entry_seq)
  SELECT r.dataset_id, r.number, c.entry_seq FROM releases r JOIN charges c ON c.id = r.charge_id;
CREATE TEMPORARY TABLE readers AS
  SELECT x.dataset_id, x.reader, n.entry_seq FROM release_readers x JOIN renumbered n USING (dataset_id, number);
CREATE TEMPORARY TABLE measures AS
  SELECT x.dataset_id, x.reader, x.measure, n.entry_seq FROM release_measures x JOIN renumbered n USING (dataset_id, number);
UPDATE releases SET number = (
  SELECT n.entry_seq FROM renumbered n WHERE n.dataset_id = releases.dataset_id AND n.number = releases.number);
DELETE FROM release_readers;
DELETE FROM release_measures;
INSERT INTO release_readers (dataset_id, reader, number) SELECT dataset_id, reader, entry_seq FROM readers;
INSERT INTO release_measures (dataset_id, reader, measure, number) SELECT dataset_id, reader, measure, entry_seq FROM measures;
DROP TABLE readers;
DROP TABLE measures;
DROP TABLE renumbered;

CREATE VIEW postings AS
  SELECT c.id AS charge_id, account.value AS account_id, counter.value AS counter, cost.value AS cost
  FROM charges c LEFT JOIN open_charges o ON o.charge_id = c.id LEFT JOIN endings e ON e.charge_id = c.id,
       json_each(COALESCE(NULLIF(e.postings, ''), NULLIF(o.postings, ''), c.postings)) AS p,
       json_each(p.value) AS account, json_each(p.value) AS counter, json_each(p.value) AS cost
  WHERE account.key = 0 AND counter.key = 1 AND cost.key = 2;

-- To be read, not written.
CREATE VIEW charge_states AS
  SELECT c.id AS charge_id, COALESCE(e.state, o.state) AS state, COALESCE(e.reason, '') AS reason
  FROM charges c LEFT JOIN open_charges o ON o.charge_id = c.id LEFT JOIN endings e ON e.charge_id = c.id;

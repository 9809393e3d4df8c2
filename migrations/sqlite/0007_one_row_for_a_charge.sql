-- A charge is one row: its postings, which come and go with it, stand in it as [[account, counter, cost], ...], ascending.
-- Each index entry that a charge needs is a page to be found and written.

ALTER TABLE charges ADD COLUMN postings TEXT NOT NULL DEFAULT '[]' CHECK (postings LIKE '[%]');
UPDATE charges SET postings = (
  SELECT '[' || group_concat('[' || account_id || ',"' || counter || '",' || cost || ']', ',') || ']'
  FROM (SELECT p.account_id, p.counter, p.cost FROM postings p WHERE p.charge_id = charges.id ORDER BY p.account_id, p.counter))
WHERE EXISTS (SELECT 1 FROM postings p WHERE p.charge_id = charges.id);
DROP TABLE postings;

-- To be read, not written. (Functions are not trusted in a schema, tables are.)
CREATE VIEW postings AS
  SELECT c.id AS charge_id, account.value AS account_id, counter.value AS counter, cost.value AS cost
  FROM charges c, json_each(c.postings) AS p, json_each(p.value) AS account, json_each(p.value) AS counter,
       json_each(p.value) AS cost
  WHERE account.key = 0 AND counter.key = 1 AND cost.key = 2;

-- By dataset for verification, by dataset and principal for people: both in the order of admission, since an index of
-- SQLite ends with the row's number.
DROP INDEX charges_dataset;
DROP INDEX charges_principal;
CREATE INDEX charges_dataset_principal ON charges (dataset_id, principal);

-- What was referred to by postings is still never deleted, as on PostgreSQL.
CREATE TRIGGER charges_are_never_deleted BEFORE DELETE ON charges
BEGIN SELECT RAISE(ABORT, 'charges are never deleted'); END;
CREATE TRIGGER counters_are_never_deleted BEFORE DELETE ON account_counters
BEGIN SELECT RAISE(ABORT, 'counters are never deleted'); END;
CREATE TRIGGER counters_keep_their_keys BEFORE UPDATE OF account_id, counter ON account_counters
BEGIN SELECT RAISE(ABORT, 'counters keep their keys'); END;

-- A charge is one row: its postings, which come and go with it, stand in it as [[account, counter, cost], ...], ascending.
-- Half of what a charge cost was the posting's own row, its index, the check of its references, and two indexes of charges
-- that one can replace.

ALTER TABLE charges ADD COLUMN postings TEXT NOT NULL DEFAULT '[]' CHECK (postings LIKE '[%]');
UPDATE charges c SET postings = (
  SELECT '[' || string_agg('[' || p.account_id || ',"' || p.counter || '",' || p.cost || ']', ',' ORDER BY p.account_id, p.counter COLLATE "C")
         || ']'
  FROM postings p WHERE p.charge_id = c.id)
WHERE EXISTS (SELECT 1 FROM postings p WHERE p.charge_id = c.id);
DROP TABLE postings;
DROP FUNCTION refuse_postings_to_nothing();

-- To be read, not written.
CREATE VIEW postings AS
  SELECT c.id AS charge_id, (p.value ->> 0)::BIGINT AS account_id, p.value ->> 1 AS counter, (p.value ->> 2)::BIGINT AS cost
  FROM charges c CROSS JOIN LATERAL json_array_elements(c.postings::json) AS p (value);

-- By dataset for verification, by dataset and principal for people: both in the order of admission. Nobody asks by number
-- alone. The key by which every charge is looked up has to be the newest index (step 4).
DROP INDEX charges_dataset;
DROP INDEX charges_principal;
ALTER TABLE charges DROP CONSTRAINT charges_pkey;
CREATE INDEX charges_dataset_principal ON charges (dataset_id, principal, number);
ALTER TABLE charges DROP CONSTRAINT charges_principal_request_id_key;
ALTER TABLE charges ADD CONSTRAINT charges_principal_request_id_key UNIQUE (principal, request_id);

DO $body$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT UPDATE (postings) ON charges TO curator_application;
    GRANT SELECT ON postings TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON postings TO curator_auditor;
  END IF;
END
$body$;

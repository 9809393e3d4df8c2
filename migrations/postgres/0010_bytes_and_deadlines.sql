-- Every text of the ledger is compared byte by byte. Under the database's own collation an update of the operating system, or a
-- standby on another one, re-orders what an index already holds: a request id that was charged is then not found, and charged
-- twice. All indexes on text are built again here, so a key that stands twice already stops this step.
--
-- Neither a view nor a trigger may name a column whose type changes: both are made again below.
DROP VIEW postings;
DROP TRIGGER datasets_keep_their_ids ON datasets;
DROP TRIGGER charges_keep_their_ids ON charges;
DROP TRIGGER counters_keep_their_keys ON account_counters;

DO $body$
DECLARE
  of_table REGCLASS;
  changes TEXT;
BEGIN
  FOREACH of_table IN ARRAY ARRAY[
    'ledger_identity', 'datasets', 'dataset_requests', 'dataset_versions', 'dataset_parts', 'part_bins', 'grants', 'accounts',
    'account_counters', 'account_members', 'charges', 'entries', 'chain_heads', 'releases', 'release_shares', 'limit_proposals',
    'schema_migrations']::REGCLASS[] LOOP
    SELECT string_agg(format('ALTER COLUMN %I TYPE TEXT COLLATE "C"', a.attname), ', ') INTO changes
    FROM pg_attribute a
    WHERE a.attrelid = of_table AND a.attnum > 0 AND NOT a.attisdropped AND a.atttypid = 'text'::REGTYPE;
    EXECUTE 'ALTER TABLE ' || of_table || ' ' || changes;
  END LOOP;
END
$body$;

CREATE TRIGGER datasets_keep_their_ids BEFORE UPDATE OF id ON datasets
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER charges_keep_their_ids BEFORE UPDATE OF id, dataset_id ON charges
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE TRIGGER counters_keep_their_keys BEFORE UPDATE OF account_id, counter ON account_counters
FOR EACH STATEMENT EXECUTE FUNCTION refuse_losing_what_is_referred_to();
CREATE VIEW postings AS
  SELECT c.id AS charge_id, (p.value ->> 0)::BIGINT AS account_id, p.value ->> 1 AS counter, (p.value ->> 2)::BIGINT AS cost
  FROM charges c CROSS JOIN LATERAL json_array_elements(c.postings::json) AS p (value);

-- The deadline of a reservation that is still open. An index that named `state` made every end of a charge write all its index
-- entries again; this column is null before and after, so the new row stays beside the old one and no index changes (HOT).
ALTER TABLE charges SET (fillfactor = 80);
DROP INDEX charges_deadline;
ALTER TABLE charges ADD COLUMN open_until_us BIGINT
  GENERATED ALWAYS AS (CASE WHEN state = 'RESERVED' THEN deadline_us END) STORED;
CREATE INDEX charges_deadline ON charges (open_until_us, id) WHERE open_until_us IS NOT NULL;

-- The key by which every charge is looked up has to be the newest index (step 4).
ALTER TABLE charges DROP CONSTRAINT charges_principal_request_id_key;
ALTER TABLE charges ADD CONSTRAINT charges_principal_request_id_key UNIQUE (principal, request_id);

-- Step 5 granted in the schema `public`, wherever the tables were.
DO $body$
DECLARE
  role_name TEXT;
BEGIN
  FOR role_name IN SELECT rolname FROM pg_roles WHERE rolname IN ('curator_application', 'curator_auditor') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %I', current_schema(), role_name);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %I', current_schema(), role_name);
  END LOOP;
END
$body$;

-- Where a charge's own entry lies, so that its receipt finds it at once. Null for charges made before this migration, whose entry
-- is found by their id.
ALTER TABLE charges ADD COLUMN entry_seq BIGINT;

-- A repair leaves out the numbers of accounts that were lost.
DO $body$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT USAGE ON SEQUENCE accounts_id_seq TO curator_application;
  END IF;
END
$body$;

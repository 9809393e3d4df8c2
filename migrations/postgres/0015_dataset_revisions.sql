-- Rises with each change of what a request has to know about the dataset: its state, parts, grants, and the accounts of its lineage.
-- Charges leave it as it is, so that what is cached about the dataset can be compared with it.
ALTER TABLE chain_heads ADD COLUMN revision BIGINT NOT NULL DEFAULT 1;

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT UPDATE (revision) ON chain_heads TO curator_application;
  END IF;
END
$roles$;

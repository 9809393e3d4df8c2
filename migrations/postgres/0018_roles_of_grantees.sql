-- What a grantee may do, and until when. Before, all of them could ask questions (1) and charge the dataset for what runs outside
-- of the server (2), for ever. A grant is never deleted: one that was taken away keeps its row, with what remains.
ALTER TABLE grants ADD COLUMN roles BIGINT NOT NULL DEFAULT 3;
ALTER TABLE grants ADD COLUMN expires_at_us BIGINT NOT NULL DEFAULT 0;

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT UPDATE (granted_by, granted_at_us, roles, expires_at_us) ON grants TO curator_application;
  END IF;
END
$roles$;

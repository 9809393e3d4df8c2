-- Who may do what. The role that migrates owns the tables. A server needs no more than curator_application, and whoever
-- checks the books no more than curator_auditor: grant them to login roles. Nobody but the owner can delete anything, and
-- of an entry nobody can change anything.
--
-- Roles belong to the whole cluster. Where the owner may not create them they are made by hand, before this step, or
-- granted their rights later by its text.
DO $body$
DECLARE
  wanted TEXT;
BEGIN
  FOREACH wanted IN ARRAY ARRAY['curator_application', 'curator_auditor'] LOOP
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = wanted)
       AND EXISTS (SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolcreaterole)) THEN
      BEGIN
        EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;  -- another ledger of the cluster was migrated at the same time
      END;
    END IF;
  END LOOP;

  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO curator_application;
    GRANT INSERT ON ledger_identity, datasets, dataset_requests, dataset_versions, dataset_parts, part_bins, grants, accounts,
      account_counters, account_members, charges, postings, entries, chain_heads, releases, limit_proposals
      TO curator_application;
    GRANT UPDATE (state, created_at_us) ON datasets TO curator_application;
    GRANT UPDATE (sealed_version, content_hash, sealed_at_us) ON dataset_parts TO curator_application;
    GRANT UPDATE (version) ON accounts TO curator_application;
    GRANT UPDATE (spent, held, limit_value) ON account_counters TO curator_application;
    GRANT UPDATE (state, reason, attempt_token, sealed_key, deadline_us, ended_at_us) ON charges TO curator_application;
    GRANT UPDATE (cost) ON postings TO curator_application;
    GRANT UPDATE (seq, hash) ON chain_heads TO curator_application;
    GRANT UPDATE (approved_by, approved_at_us) ON limit_proposals TO curator_application;
  END IF;

  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON ALL TABLES IN SCHEMA public TO curator_auditor;
  END IF;
END
$body$;

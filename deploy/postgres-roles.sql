-- The rights of curator_application (a server) and curator_auditor, all in one place. The migrations grant the same where the
-- roles exist, or where the owner may create them. This script is for roles that were made by hand after a migration:
--
--     psql 'postgresql://owner@db.example/curator' --single-transaction --file deploy/postgres-roles.sql
--
-- Run it as the owner of the tables, after `curatord migrate`, with the search_path of the server: it grants in the schema
-- that comes first there. It may be repeated. Nothing here can change or delete a charge, its end or an entry of the history.
DO $body$
DECLARE
  ours TEXT := current_schema();
BEGIN
  IF to_regclass('schema_migrations') IS NULL THEN
    RAISE EXCEPTION 'there is no ledger in schema %: run curatord migrate first, or set the search_path', ours;
  END IF;

  EXECUTE format('GRANT USAGE ON SCHEMA %I TO curator_application, curator_auditor', ours);
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO curator_application, curator_auditor', ours);

  GRANT INSERT ON ledger_identity, datasets, dataset_requests, dataset_versions, dataset_parts, part_bins, grants, accounts,
    account_counters, account_members, charges, open_charges, endings, entries, chain_heads, releases, release_shares,
    release_readers, release_measures, limit_proposals, event_counts, event_counts_upto, staged_releases, release_pieces,
    server_entries, audit, pseudonyms, quota_use, counter_points, seen_files
    TO curator_application;
  GRANT UPDATE (charges) ON event_counts TO curator_application;
  GRANT UPDATE (counted_seq) ON event_counts_upto TO curator_application;
  GRANT UPDATE (state, created_at_us, awaits_publication, refusal_rules, name, deleted_name, domain_from_records, rows_from_query)
    ON datasets TO curator_application;
  GRANT UPDATE (sealed_version, content_hash, sealed_at_us, facts) ON dataset_parts TO curator_application;
  GRANT UPDATE (granted_by, granted_at_us, roles, expires_at_us, dataset_name) ON grants TO curator_application;
  GRANT UPDATE (version) ON accounts TO curator_application;
  GRANT UPDATE (spent, held, limit_value) ON account_counters TO curator_application;
  GRANT UPDATE (state, attempt_token, sealed_key, deadline_us, postings) ON open_charges TO curator_application;
  GRANT UPDATE (payload_hash, touched_at_us) ON staged_releases TO curator_application;
  GRANT UPDATE (used) ON quota_use TO curator_application;
  GRANT UPDATE (spent, held, limit_value) ON counter_points TO curator_application;
  GRANT DELETE ON open_charges, staged_releases, release_pieces, pseudonyms, quota_use TO curator_application;
  GRANT UPDATE (seq, hash, revision) ON chain_heads TO curator_application;
  GRANT UPDATE (approved_by, approved_at_us, ended_as, ended_by, end_reason) ON limit_proposals TO curator_application;
  -- Only to remove names, and only from old rows: a trigger sees to that.
  GRANT UPDATE (principal, credential_id, request_id) ON audit TO curator_application;
  GRANT USAGE ON SEQUENCE accounts_id_seq TO curator_application;
END
$body$;

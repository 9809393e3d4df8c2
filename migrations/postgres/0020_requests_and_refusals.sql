-- Proposals of limits can be rejected and withdrawn, and those who spend can ask for one: a request is a proposal that cannot be
-- approved, and ends when its owner takes it up. What is open of a dataset is found by an index of its own.
ALTER TABLE limit_proposals ADD COLUMN is_request BIGINT NOT NULL DEFAULT 0 CHECK (is_request IN (0, 1));
ALTER TABLE limit_proposals ADD COLUMN ended_as TEXT NOT NULL DEFAULT '' CHECK (ended_as IN ('', 'REJECTED', 'WITHDRAWN', 'TAKEN_UP'));
ALTER TABLE limit_proposals ADD COLUMN ended_by TEXT NOT NULL DEFAULT '';
ALTER TABLE limit_proposals ADD COLUMN end_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX limit_proposals_open ON limit_proposals (dataset_id, proposed_at_us, id) WHERE approved_by = '' AND ended_as = '';

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT UPDATE (approved_by, approved_at_us, ended_as, ended_by, end_reason) ON limit_proposals TO curator_application;
  END IF;
END
$roles$;

-- Of a charge that did not fit: which accounts were full, what was asked and what was left, in the form of
-- server/audit/audit_record.h. Listed by dataset, for those who see all of it, and for each principal.
ALTER TABLE audit ADD COLUMN full_accounts TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX audit_refusals ON audit (dataset, time_us, id) WHERE full_accounts <> '';
CREATE INDEX audit_refusals_of ON audit (dataset, principal, time_us, id) WHERE full_accounts <> '';

DROP TRIGGER audit_loses_only_names ON audit;
CREATE TRIGGER audit_loses_only_names BEFORE UPDATE ON audit FOR EACH ROW
WHEN (NEW.principal <> '' OR NEW.credential_id <> '' OR NEW.request_id <> ''
  OR OLD.time_us > (EXTRACT(EPOCH FROM clock_timestamp()) - 30 * 86400) * 1000000
  OR (OLD.id, OLD.kind, OLD.time_us, OLD.server, OLD.identity, OLD.peer, OLD.method, OLD.dataset, OLD.decision, OLD.status,
      OLD.reason, OLD.count, OLD.since_us, OLD.full_accounts) IS DISTINCT FROM
     (NEW.id, NEW.kind, NEW.time_us, NEW.server, NEW.identity, NEW.peer, NEW.method, NEW.dataset, NEW.decision, NEW.status,
      NEW.reason, NEW.count, NEW.since_us, NEW.full_accounts))
EXECUTE FUNCTION refuse_rewriting_the_audit();

-- Of a charge that did not fit: which accounts were full, what was asked and what was left, in the form of
-- server/audit/audit_record.h. Listed by dataset, for those who see all of it, and for each principal.
ALTER TABLE audit ADD COLUMN full_accounts TEXT NOT NULL DEFAULT '';
CREATE INDEX audit_refusals ON audit (dataset, time_us, id) WHERE full_accounts <> '';
CREATE INDEX audit_refusals_of ON audit (dataset, principal, time_us, id) WHERE full_accounts <> '';

DROP TRIGGER audit_loses_only_names;
CREATE TRIGGER audit_loses_only_names BEFORE UPDATE ON audit
WHEN NEW.principal <> '' OR NEW.credential_id <> '' OR NEW.request_id <> ''
  OR OLD.time_us > (julianday('now') - 2440587.5 - 30) * 86400000000.0
  OR (OLD.id, OLD.kind, OLD.time_us, OLD.server, OLD.identity, OLD.peer, OLD.method, OLD.dataset, OLD.decision, OLD.status,
      OLD.reason, OLD.count, OLD.since_us, OLD.full_accounts) IS NOT
     (NEW.id, NEW.kind, NEW.time_us, NEW.server, NEW.identity, NEW.peer, NEW.method, NEW.dataset, NEW.decision, NEW.status,
      NEW.reason, NEW.count, NEW.since_us, NEW.full_accounts)
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

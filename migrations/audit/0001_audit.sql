-- What was asked, read or refused: the same table as in PostgreSQL (migrations/postgres), in a file of its own, so that neither a
-- full disk nor its writers stop a charge. The words are those of server/audit/audit_record.cc.
CREATE TABLE audit (
  id INTEGER PRIMARY KEY CHECK (id >= 1),
  kind TEXT NOT NULL CHECK (kind IN ('CALL', 'GAP', 'REFUSALS', 'STARTED', 'STOPPED')),
  time_us INTEGER NOT NULL,
  server TEXT NOT NULL,
  principal TEXT NOT NULL,
  identity TEXT NOT NULL CHECK (identity IN ('', 'OIDC', 'CERTIFICATE', 'API_TOKEN')),
  credential_id TEXT NOT NULL,
  peer TEXT NOT NULL CHECK (peer IN ('', 'local', 'edge', 'mutual_tls', 'loopback')),
  method TEXT NOT NULL,
  dataset TEXT NOT NULL,
  decision TEXT NOT NULL CHECK (decision IN ('', 'ALLOWED', 'REFUSED')),
  status INTEGER NOT NULL,
  reason TEXT NOT NULL,
  request_id TEXT NOT NULL,
  count INTEGER NOT NULL,
  since_us INTEGER NOT NULL
) STRICT;
CREATE INDEX audit_time ON audit (time_us, id);
CREATE INDEX audit_principal ON audit (principal, time_us, id) WHERE principal <> '';
CREATE INDEX audit_dataset ON audit (dataset, time_us, id) WHERE dataset <> '';
CREATE INDEX audit_named ON audit (time_us) WHERE principal <> '' OR credential_id <> '' OR request_id <> '';

CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
-- The only change: after 30 days at the earliest, all that says who it was may be removed from a row.
CREATE TRIGGER audit_loses_only_names BEFORE UPDATE ON audit
WHEN NEW.principal <> '' OR NEW.credential_id <> '' OR NEW.request_id <> ''
  OR OLD.time_us > (julianday('now') - 2440587.5 - 30) * 86400000000.0
  OR (OLD.id, OLD.kind, OLD.time_us, OLD.server, OLD.identity, OLD.peer, OLD.method, OLD.dataset, OLD.decision, OLD.status,
      OLD.reason, OLD.count, OLD.since_us) IS NOT
     (NEW.id, NEW.kind, NEW.time_us, NEW.server, NEW.identity, NEW.peer, NEW.method, NEW.dataset, NEW.decision, NEW.status,
      NEW.reason, NEW.count, NEW.since_us)
BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

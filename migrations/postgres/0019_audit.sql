-- What was asked, read or refused, by all servers of this database. The words are those of server/audit/audit_record.cc. Ids grow
-- in the order of commits, without gaps: a writer takes a lock of its own first (server/audit/audit_store.cc).
CREATE TABLE audit (
  id BIGINT PRIMARY KEY CHECK (id >= 1),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('CALL', 'GAP', 'REFUSALS', 'STARTED', 'STOPPED')),
  time_us BIGINT NOT NULL,
  server TEXT COLLATE "C" NOT NULL,
  principal TEXT COLLATE "C" NOT NULL,
  identity TEXT COLLATE "C" NOT NULL CHECK (identity IN ('', 'OIDC', 'CERTIFICATE', 'API_TOKEN')),
  credential_id TEXT COLLATE "C" NOT NULL,
  peer TEXT COLLATE "C" NOT NULL CHECK (peer IN ('', 'local', 'edge', 'mutual_tls', 'loopback')),
  method TEXT COLLATE "C" NOT NULL,
  dataset TEXT COLLATE "C" NOT NULL,
  decision TEXT COLLATE "C" NOT NULL CHECK (decision IN ('', 'ALLOWED', 'REFUSED')),
  status BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  request_id TEXT COLLATE "C" NOT NULL,
  count BIGINT NOT NULL,
  since_us BIGINT NOT NULL
);
CREATE INDEX audit_time ON audit (time_us, id);
CREATE INDEX audit_principal ON audit (principal, time_us, id) WHERE principal <> '';
CREATE INDEX audit_dataset ON audit (dataset, time_us, id) WHERE dataset <> '';
CREATE INDEX audit_named ON audit (time_us) WHERE principal <> '' OR credential_id <> '' OR request_id <> '';

CREATE FUNCTION refuse_rewriting_the_audit() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  RAISE EXCEPTION 'the audit is append-only';
END
$body$;
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting_the_audit();
-- The only change: after 30 days at the earliest, all that says who it was may be removed from a row.
CREATE TRIGGER audit_loses_only_names BEFORE UPDATE ON audit FOR EACH ROW
WHEN (NEW.principal <> '' OR NEW.credential_id <> '' OR NEW.request_id <> ''
  OR OLD.time_us > (EXTRACT(EPOCH FROM clock_timestamp()) - 30 * 86400) * 1000000
  OR (OLD.id, OLD.kind, OLD.time_us, OLD.server, OLD.identity, OLD.peer, OLD.method, OLD.dataset, OLD.decision, OLD.status,
      OLD.reason, OLD.count, OLD.since_us) IS DISTINCT FROM
     (NEW.id, NEW.kind, NEW.time_us, NEW.server, NEW.identity, NEW.peer, NEW.method, NEW.dataset, NEW.decision, NEW.status,
      NEW.reason, NEW.count, NEW.since_us))
EXECUTE FUNCTION refuse_rewriting_the_audit();

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT, INSERT ON audit TO curator_application;
    GRANT UPDATE (principal, credential_id, request_id) ON audit TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON audit TO curator_auditor;
  END IF;
END
$roles$;

-- The ledger's whole data model (docs: the contract in server/ledger/ledger.h). Times are microseconds since 1970 by
-- the database's clock. Amounts are 64-bit integers; a remainder is always limit_value - held - spent, never a sum,
-- which could overflow.

CREATE TABLE ledger_identity (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  ledger_uuid TEXT NOT NULL,
  created_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE datasets (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  owner TEXT NOT NULL,
  lineage_id TEXT NOT NULL,
  successor_of TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK (state IN ('CREATED', 'SEALED', 'ARCHIVED')),
  schema_bytes BLOB NOT NULL,
  schema_hash BLOB NOT NULL,
  neighbour_relation TEXT NOT NULL,
  privacy_unit TEXT NOT NULL,
  max_records_per_unit INTEGER NOT NULL CHECK (max_records_per_unit >= 1),
  is_public INTEGER NOT NULL CHECK (is_public IN (0, 1)),
  partition_attribute TEXT NOT NULL DEFAULT '',
  created_at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX datasets_lineage ON datasets (lineage_id);

-- One row for each mutation of a dataset that a client may repeat: the key finds what the first one did.
CREATE TABLE dataset_requests (
  principal TEXT NOT NULL,
  request_id TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  PRIMARY KEY (principal, request_id)
) STRICT;

CREATE TABLE dataset_versions (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  version INTEGER NOT NULL CHECK (version >= 1),
  content_hash BLOB NOT NULL,
  sealed_at_us INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, version)
) STRICT;
CREATE INDEX dataset_versions_content ON dataset_versions (content_hash);

CREATE TABLE grants (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  grantee TEXT NOT NULL,
  granted_by TEXT NOT NULL,
  granted_at_us INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, grantee)
) STRICT;

-- All datasets of a lineage share its accounts. Ids are never used twice.
CREATE TABLE accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  lineage_id TEXT NOT NULL,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  scope_type TEXT NOT NULL CHECK (scope_type IN ('DATASET', 'ANALYST', 'ANALYST_GROUP', 'PART')),
  scope_key TEXT NOT NULL,
  rule BLOB NOT NULL,
  rule_name TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  UNIQUE (lineage_id, scope_type, scope_key)
) STRICT;

CREATE TABLE account_counters (
  account_id INTEGER NOT NULL REFERENCES accounts (id),
  counter TEXT NOT NULL,
  position INTEGER NOT NULL,
  spent INTEGER NOT NULL DEFAULT 0,
  held INTEGER NOT NULL DEFAULT 0,
  limit_value INTEGER NOT NULL,
  PRIMARY KEY (account_id, counter),
  CONSTRAINT within_limit CHECK (spent >= 0 AND held >= 0 AND limit_value >= 0 AND spent <= limit_value - held)
) STRICT;

-- The order of `number` is the order of admission.
CREATE TABLE charges (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  dataset_version INTEGER NOT NULL,
  principal TEXT NOT NULL,
  request_id TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  kind TEXT NOT NULL,
  event BLOB NOT NULL,
  label TEXT NOT NULL,
  part TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK (state IN ('RESERVED', 'STARTED', 'COMMITTED', 'CANCELLED', 'FORFEITED')),
  reason TEXT NOT NULL DEFAULT '',
  attempt_token TEXT NOT NULL,
  sealed_key BLOB,
  deadline_us INTEGER,
  created_at_us INTEGER NOT NULL,
  ended_at_us INTEGER,
  UNIQUE (principal, request_id),
  -- The draw's key lives exactly as long as a draw may still happen.
  CHECK (sealed_key IS NULL OR state IN ('RESERVED', 'STARTED'))
) STRICT;
CREATE INDEX charges_dataset ON charges (dataset_id, number);
CREATE INDEX charges_principal ON charges (principal, number);
CREATE INDEX charges_deadline ON charges (deadline_us) WHERE state = 'RESERVED';

CREATE TABLE postings (
  charge_id TEXT NOT NULL REFERENCES charges (id),
  account_id INTEGER NOT NULL,
  counter TEXT NOT NULL,
  cost INTEGER NOT NULL CHECK (cost >= 0),
  PRIMARY KEY (charge_id, account_id, counter),
  FOREIGN KEY (account_id, counter) REFERENCES account_counters (account_id, counter)
) STRICT;

CREATE TABLE entries (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  seq INTEGER NOT NULL CHECK (seq >= 1),
  kind TEXT NOT NULL,
  charge_id TEXT NOT NULL DEFAULT '',
  payload BLOB NOT NULL,
  actor TEXT NOT NULL,
  created_at_us INTEGER NOT NULL,
  prev_hash BLOB NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (dataset_id, seq)
) STRICT;

-- The last link of each dataset's chain. Its row is also the lock that puts a dataset's writers in order.
CREATE TABLE chain_heads (
  dataset_id TEXT PRIMARY KEY REFERENCES datasets (id),
  seq INTEGER NOT NULL,
  hash BLOB NOT NULL
) STRICT;

CREATE TABLE releases (
  id TEXT PRIMARY KEY,
  charge_id TEXT NOT NULL UNIQUE REFERENCES charges (id),
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  payload BLOB NOT NULL,
  payload_hash BLOB NOT NULL,
  payload_size INTEGER NOT NULL,
  created_at_us INTEGER NOT NULL
) STRICT;
CREATE INDEX releases_dataset ON releases (dataset_id);

-- A limit changes only when a second principal approves.
CREATE TABLE limit_proposals (
  id TEXT PRIMARY KEY,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  account_id INTEGER NOT NULL,
  counter TEXT NOT NULL,
  old_limit INTEGER NOT NULL CHECK (old_limit >= 0),
  new_limit INTEGER NOT NULL CHECK (new_limit >= 0),
  reason TEXT NOT NULL CHECK (reason <> ''),
  proposed_by TEXT NOT NULL,
  proposed_at_us INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  approved_by TEXT NOT NULL DEFAULT '' CHECK (approved_by <> proposed_by),
  approved_at_us INTEGER,
  UNIQUE (proposed_by, request_id),
  FOREIGN KEY (account_id, counter) REFERENCES account_counters (account_id, counter)
) STRICT;
CREATE INDEX limit_proposals_dataset ON limit_proposals (dataset_id);

-- Entries are append-only.
CREATE TRIGGER entries_are_never_updated BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;

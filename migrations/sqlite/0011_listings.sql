-- A page of a listing is read by index, whatever the ledger holds.

-- Datasets by name, of one owner and of one grantee.
CREATE INDEX datasets_owner ON datasets (owner, name);
ALTER TABLE grants ADD COLUMN dataset_name TEXT NOT NULL DEFAULT '';
UPDATE grants SET dataset_name = (SELECT d.name FROM datasets d WHERE d.id = grants.dataset_id);
CREATE INDEX grants_grantee ON grants (grantee, dataset_name);

-- Content is compared among one owner's datasets: no query finds rows by it.
DROP INDEX dataset_versions_content;

-- Accounts by id, and those of one analyst.
CREATE INDEX accounts_lineage ON accounts (lineage_id, id);
CREATE INDEX account_members_member ON account_members (member, account_id);

-- One principal's operations, newest first: charges other than reservations.
CREATE INDEX charges_operations ON charges (principal, number) WHERE kind <> 'reservation';

-- Releases of a dataset, newest first: by the number of their charge. The index has all columns of a listing, because what
-- lies behind a large payload in its row is slow to reach.
ALTER TABLE releases ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE releases SET number = (SELECT c.number FROM charges c WHERE c.id = releases.charge_id);
DROP INDEX releases_dataset;
CREATE INDEX releases_dataset ON releases (dataset_id, number, id, charge_id, payload_hash, payload_size, created_at_us);

-- The releases that each principal besides the owner may read: of its own charges, and shared with it.
CREATE TABLE release_readers (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  reader TEXT NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, reader, number)
) STRICT, WITHOUT ROWID;
INSERT INTO release_readers (dataset_id, reader, number)
  SELECT r.dataset_id, c.principal, r.number FROM releases r JOIN charges c ON c.id = r.charge_id
  UNION
  SELECT r.dataset_id, s.grantee, r.number FROM release_shares s JOIN releases r ON r.id = s.release_id;

-- What each release measured, by reader: a measure is a short hash that the service makes. Releases that were stored before
-- this table existed have the measure X'00'.
CREATE TABLE release_measures (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  reader TEXT NOT NULL,
  measure BLOB NOT NULL,
  number INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, reader, measure, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_measures_all ON release_measures (dataset_id, measure, number);
INSERT INTO release_measures (dataset_id, reader, measure, number)
  SELECT dataset_id, reader, X'00', number FROM release_readers;

-- Proposals of a dataset, and of one account, newest first.
DROP INDEX limit_proposals_dataset;
CREATE INDEX limit_proposals_dataset ON limit_proposals (dataset_id, proposed_at_us, id);
CREATE INDEX limit_proposals_account ON limit_proposals (account_id, proposed_at_us, id);

-- How many charges of each principal (and of all: '') had each event, up to one entry of each history. Kept up in the
-- background; entries after `counted_seq` are counted when they are asked for.
CREATE TABLE event_counts (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  principal TEXT NOT NULL,
  event_hash BLOB NOT NULL,
  event BLOB NOT NULL,
  charges INTEGER NOT NULL CHECK (charges >= 0),
  PRIMARY KEY (dataset_id, principal, event_hash)
) STRICT;
CREATE TABLE event_counts_upto (
  dataset_id TEXT PRIMARY KEY REFERENCES datasets (id),
  counted_seq INTEGER NOT NULL
) STRICT;

-- A page of a listing is read by index, whatever the ledger holds.

-- Datasets by name, of one owner and of one grantee.
CREATE INDEX datasets_owner ON datasets (owner, name);
ALTER TABLE grants ADD COLUMN dataset_name TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE grants SET dataset_name = (SELECT d.name FROM datasets d WHERE d.id = grants.dataset_id);
CREATE INDEX grants_grantee ON grants (grantee, dataset_name);

-- Content is compared among one owner's datasets: no query finds rows by it.
DROP INDEX dataset_versions_content;

-- Accounts by id, and those of one analyst.
CREATE INDEX accounts_lineage ON accounts (lineage_id, id);
-- Whether there is any account of analysts: each batch of charges asks that.
CREATE INDEX accounts_of_analysts ON accounts (lineage_id) WHERE scope_type IN ('ANALYST', 'ANALYST_GROUP');
CREATE INDEX account_members_member ON account_members (member, account_id);

-- One principal's operations, newest first: charges other than reservations.
CREATE INDEX charges_operations ON charges (principal, number) WHERE kind <> 'reservation';

-- Releases of a dataset, newest first: by the number of their charge.
ALTER TABLE releases ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
UPDATE releases SET number = (SELECT c.number FROM charges c WHERE c.id = releases.charge_id);
DROP INDEX releases_dataset;
CREATE INDEX releases_dataset ON releases (dataset_id, number);

-- The releases that each principal besides the owner may read: of its own charges, and shared with it.
CREATE TABLE release_readers (
  dataset_id TEXT COLLATE "C" NOT NULL REFERENCES datasets (id),
  reader TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (dataset_id, reader, number)
);
INSERT INTO release_readers (dataset_id, reader, number)
  SELECT r.dataset_id, c.principal, r.number FROM releases r JOIN charges c ON c.id = r.charge_id
  UNION
  SELECT r.dataset_id, s.grantee, r.number FROM release_shares s JOIN releases r ON r.id = s.release_id;

-- What each release measured, by reader: a measure is a short hash that the service makes. Releases that were stored before
-- this table existed have the measure \x00.
CREATE TABLE release_measures (
  dataset_id TEXT COLLATE "C" NOT NULL REFERENCES datasets (id),
  reader TEXT COLLATE "C" NOT NULL,
  measure BYTEA NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (dataset_id, reader, measure, number)
);
CREATE INDEX release_measures_all ON release_measures (dataset_id, measure, number);
INSERT INTO release_measures (dataset_id, reader, measure, number)
  SELECT dataset_id, reader, '\x00'::bytea, number FROM release_readers;

-- Proposals of a dataset, and of one account, newest first.
DROP INDEX limit_proposals_dataset;
CREATE INDEX limit_proposals_dataset ON limit_proposals (dataset_id, proposed_at_us, id);
CREATE INDEX limit_proposals_account ON limit_proposals (account_id, proposed_at_us, id);

-- How many charges of each principal (and of all: '') had each event, up to one entry of each history. Kept up in the
-- background; entries after `counted_seq` are counted when they are asked for.
CREATE TABLE event_counts (
  dataset_id TEXT COLLATE "C" NOT NULL REFERENCES datasets (id),
  principal TEXT COLLATE "C" NOT NULL,
  event_hash BYTEA NOT NULL,
  event BYTEA NOT NULL,
  charges BIGINT NOT NULL CHECK (charges >= 0),
  PRIMARY KEY (dataset_id, principal, event_hash)
);
CREATE TABLE event_counts_upto (
  dataset_id TEXT COLLATE "C" PRIMARY KEY REFERENCES datasets (id),
  counted_seq BIGINT NOT NULL
);

DO $body$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT SELECT, INSERT ON release_readers, release_measures TO curator_application;
    GRANT SELECT, INSERT ON event_counts, event_counts_upto TO curator_application;
    GRANT UPDATE (charges) ON event_counts TO curator_application;
    GRANT UPDATE (counted_seq) ON event_counts_upto TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON release_readers, release_measures, event_counts, event_counts_upto TO curator_auditor;
  END IF;
END
$body$;

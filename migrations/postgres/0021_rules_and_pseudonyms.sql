-- A second person publishes a dataset, owners refuse requests by rules of their own, names in new entries of histories are pseudonyms,
-- and what a principal used of its daily quotas is known to all servers.

-- 1 while a public dataset waits for an approver: until then it is no prior.
ALTER TABLE datasets ADD COLUMN awaits_publication BIGINT NOT NULL DEFAULT 0 CHECK (awaits_publication IN (0, 1));
-- The canonical bytes of the rules by which the owner refuses requests; empty where there are none.
ALTER TABLE datasets ADD COLUMN refusal_rules BYTEA NOT NULL DEFAULT '';

-- The pseudonym of a principal, which histories hold in the place of its name, is a keyed hash of the name. Without its row nobody
-- knows whose it is. A principal that an earlier version knew keeps its name, with an empty key.
CREATE TABLE pseudonyms (
  name TEXT COLLATE "C" PRIMARY KEY,
  pseudonym TEXT COLLATE "C" NOT NULL UNIQUE,
  key BYTEA NOT NULL
);

-- Whom an earlier version knew by name keeps it: histories have it, and their hashes cover it.
INSERT INTO pseudonyms (name, pseudonym, key)
  SELECT name, name, '' FROM (
    SELECT owner AS name FROM datasets
    UNION SELECT grantee FROM grants
    UNION SELECT scope_key FROM accounts WHERE scope_type = 'ANALYST'
    UNION SELECT member FROM account_members
    UNION SELECT principal FROM charges
    UNION SELECT grantee FROM release_shares
    UNION SELECT proposed_by FROM limit_proposals
    UNION SELECT approved_by FROM limit_proposals
    UNION SELECT ended_by FROM limit_proposals
    UNION SELECT actor FROM server_entries
  ) AS known
  WHERE name <> '' AND name NOT LIKE '@%';

-- How much of a daily quota a principal has used on one day, a number of days since 1970.
CREATE TABLE quota_use (
  principal TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  quota TEXT COLLATE "C" NOT NULL,
  used BIGINT NOT NULL CHECK (used >= 0),
  PRIMARY KEY (principal, day, quota)
);
CREATE INDEX quota_use_day ON quota_use (day);

-- Where the server's configuration says that one person has custody, owners approve what they proposed.
ALTER TABLE limit_proposals DROP CONSTRAINT limit_proposals_check;

DO $roles$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_application') THEN
    GRANT UPDATE (awaits_publication, refusal_rules) ON datasets TO curator_application;
    GRANT SELECT, INSERT, DELETE ON pseudonyms TO curator_application;
    GRANT SELECT, INSERT, DELETE ON quota_use TO curator_application;
    GRANT UPDATE (used) ON quota_use TO curator_application;
  END IF;
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'curator_auditor') THEN
    GRANT SELECT ON pseudonyms, quota_use TO curator_auditor;
  END IF;
END
$roles$;

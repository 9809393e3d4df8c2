-- A second person publishes a dataset, owners refuse requests by rules of their own, names in new entries of histories are pseudonyms,
-- and what a principal used of its daily quotas is known to all servers.

-- 1 while a public dataset waits for an approver: until then it is no prior.
ALTER TABLE datasets ADD COLUMN awaits_publication INTEGER NOT NULL DEFAULT 0 CHECK (awaits_publication IN (0, 1));
-- The canonical bytes of the rules by which the owner refuses requests; empty where there are none.
ALTER TABLE datasets ADD COLUMN refusal_rules BLOB NOT NULL DEFAULT X'';

-- The pseudonym of a principal, which histories hold in the place of its name, is a keyed hash of the name. Without its row nobody
-- knows whose it is. A principal that an earlier version knew keeps its name, with an empty key.
CREATE TABLE pseudonyms (
  name TEXT PRIMARY KEY,
  pseudonym TEXT NOT NULL UNIQUE,
  key BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Whom an earlier version knew by name keeps it: histories have it, and their hashes cover it.
INSERT INTO pseudonyms (name, pseudonym, key)
  SELECT name, name, X'' FROM (
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
  principal TEXT NOT NULL,
  day INTEGER NOT NULL,
  quota TEXT NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  PRIMARY KEY (principal, day, quota)
) STRICT, WITHOUT ROWID;
CREATE INDEX quota_use_day ON quota_use (day);

-- Where the server's configuration says that one person has custody, owners approve what they proposed. SQLite drops no CHECK: the
-- table is written again.
CREATE TABLE limit_proposals_of_any_approver (
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
  approved_by TEXT NOT NULL DEFAULT '',
  approved_at_us INTEGER,
  entry_seq INTEGER,
  is_request INTEGER NOT NULL DEFAULT 0 CHECK (is_request IN (0, 1)),
  ended_as TEXT NOT NULL DEFAULT '' CHECK (ended_as IN ('', 'REJECTED', 'WITHDRAWN', 'TAKEN_UP')),
  ended_by TEXT NOT NULL DEFAULT '',
  end_reason TEXT NOT NULL DEFAULT '',
  UNIQUE (proposed_by, request_id),
  FOREIGN KEY (account_id, counter) REFERENCES account_counters (account_id, counter)
) STRICT;
INSERT INTO limit_proposals_of_any_approver (id, dataset_id, account_id, counter, old_limit, new_limit, reason, proposed_by,
    proposed_at_us, request_id, approved_by, approved_at_us, entry_seq, is_request, ended_as, ended_by, end_reason)
  SELECT id, dataset_id, account_id, counter, old_limit, new_limit, reason, proposed_by, proposed_at_us, request_id, approved_by,
    approved_at_us, entry_seq, is_request, ended_as, ended_by, end_reason
  FROM limit_proposals;
DROP TABLE limit_proposals;
ALTER TABLE limit_proposals_of_any_approver RENAME TO limit_proposals;
CREATE INDEX limit_proposals_dataset ON limit_proposals (dataset_id, proposed_at_us, id);
CREATE INDEX limit_proposals_account ON limit_proposals (account_id, proposed_at_us, id);
CREATE INDEX limit_proposals_open ON limit_proposals (dataset_id, proposed_at_us, id) WHERE approved_by = '' AND ended_as = '';

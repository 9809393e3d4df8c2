-- Proposals of limits can be rejected and withdrawn, and those who spend can ask for one: a request is a proposal that cannot be
-- approved, and ends when its owner takes it up. What is open of a dataset is found by an index of its own.
ALTER TABLE limit_proposals ADD COLUMN is_request INTEGER NOT NULL DEFAULT 0 CHECK (is_request IN (0, 1));
ALTER TABLE limit_proposals ADD COLUMN ended_as TEXT NOT NULL DEFAULT '' CHECK (ended_as IN ('', 'REJECTED', 'WITHDRAWN', 'TAKEN_UP'));
ALTER TABLE limit_proposals ADD COLUMN ended_by TEXT NOT NULL DEFAULT '';
ALTER TABLE limit_proposals ADD COLUMN end_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX limit_proposals_open ON limit_proposals (dataset_id, proposed_at_us, id) WHERE approved_by = '' AND ended_as = '';

-- Refusals are kept in the audit: a table of this schema in PostgreSQL alone, and beside a ledger in SQLite the file of
-- migrations/audit.

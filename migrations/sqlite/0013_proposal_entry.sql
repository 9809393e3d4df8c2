-- Where the entry lies that records a proposal of a limit: its approval is compared with that entry. Null for proposals made before
-- this migration, whose entries are searched for.
ALTER TABLE limit_proposals ADD COLUMN entry_seq INTEGER;

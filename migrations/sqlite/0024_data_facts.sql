-- Facts about the records of a dataset that its seal fixes, deleted datasets, and what an owner has seen of files.

-- 1 where ranges, categories or bins were chosen by somebody who had seen records.
ALTER TABLE datasets ADD COLUMN domain_from_records INTEGER NOT NULL DEFAULT 0 CHECK (domain_from_records IN (0, 1));
-- 1 where records came from a query.
ALTER TABLE datasets ADD COLUMN rows_from_query INTEGER NOT NULL DEFAULT 0 CHECK (rows_from_query IN (0, 1));
-- The same two, as 1 and 2, of what the seal of a part added: each version of the dataset has those of its parts.
ALTER TABLE dataset_parts ADD COLUMN facts INTEGER NOT NULL DEFAULT 0 CHECK (facts BETWEEN 0 AND 3);
-- The name that a deleted dataset had; empty for all others. Its `name` is then "~" and its id, which is after all names that a dataset
-- can have, so that the old name is free and listings by name end before it. A CHECK of `state` cannot be changed here: a deleted
-- dataset keeps the state that it had.
ALTER TABLE datasets ADD COLUMN deleted_name TEXT NOT NULL DEFAULT '';
CREATE INDEX datasets_deleted ON datasets (id) WHERE deleted_name <> '';
-- Asked for at each import, listing and seal, also of a long history.
CREATE INDEX entries_of_undone_imports ON entries (dataset_id, seq) WHERE kind = 'IMPORT_UNDONE';

-- On which files an owner was given a report, each as a keyed hash, with a hash of what the schema said about values: empty where the
-- owner looked at the file itself. No row is changed or deleted. Rows with an empty hash of the file are about files that found no
-- place of their own.
CREATE TABLE seen_files (
  owner TEXT NOT NULL,
  file_hash BLOB NOT NULL,
  values_hash BLOB NOT NULL,
  PRIMARY KEY (owner, file_hash, values_hash)
) STRICT, WITHOUT ROWID;

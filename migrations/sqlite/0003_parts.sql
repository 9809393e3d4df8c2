-- The parts of partitioned datasets: added at creation or later, each with an account of its own, each sealed on its own.
CREATE TABLE dataset_parts (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  number INTEGER NOT NULL CHECK (number >= 1),
  name TEXT NOT NULL,
  account_id INTEGER NOT NULL UNIQUE REFERENCES accounts (id),
  -- Null until the part is sealed: the version of the dataset that this made.
  sealed_version INTEGER CHECK (sealed_version >= 1),
  content_hash BLOB,
  sealed_at_us INTEGER,
  PRIMARY KEY (dataset_id, number),
  UNIQUE (dataset_id, name),
  UNIQUE (dataset_id, sealed_version),
  CHECK ((sealed_version IS NULL) = (content_hash IS NULL))
) STRICT;

-- Which bins of the partition attribute a part holds: each bin lies in one part at most.
CREATE TABLE part_bins (
  dataset_id TEXT NOT NULL,
  bin INTEGER NOT NULL CHECK (bin >= 0),
  part_number INTEGER NOT NULL,
  PRIMARY KEY (dataset_id, bin),
  FOREIGN KEY (dataset_id, part_number) REFERENCES dataset_parts (dataset_id, number)
) STRICT;

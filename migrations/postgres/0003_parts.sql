-- The parts of partitioned datasets: added at creation or later, each with an account of its own, each sealed on its own.
CREATE TABLE dataset_parts (
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  number BIGINT NOT NULL CHECK (number >= 1),
  name TEXT NOT NULL,
  account_id BIGINT NOT NULL UNIQUE REFERENCES accounts (id),
  -- Null until the part is sealed: the version of the dataset that this made.
  sealed_version BIGINT CHECK (sealed_version >= 1),
  content_hash BYTEA,
  sealed_at_us BIGINT,
  PRIMARY KEY (dataset_id, number),
  UNIQUE (dataset_id, name),
  UNIQUE (dataset_id, sealed_version),
  CHECK ((sealed_version IS NULL) = (content_hash IS NULL))
);

-- Which bins of the partition attribute a part holds: each bin lies in one part at most.
CREATE TABLE part_bins (
  dataset_id TEXT NOT NULL,
  bin BIGINT NOT NULL CHECK (bin >= 0),
  part_number BIGINT NOT NULL,
  PRIMARY KEY (dataset_id, bin),
  FOREIGN KEY (dataset_id, part_number) REFERENCES dataset_parts (dataset_id, number)
);
